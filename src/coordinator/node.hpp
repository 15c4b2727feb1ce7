#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "base/task.hpp"
#include "coordinator/bucket_plan.hpp"
#include "coordinator/coordinator.hpp"
#include "coordinator/link.hpp"
#include "coordinator/messages.hpp"
#include "coordinator/readiness.hpp"
#include "coordinator/response_cache.hpp"
#include "coordinator/stall.hpp"
#include "coordinator/tree.hpp"

namespace ringlet::coordinator {

/// One rank's place in the tree: the Coordinator itself. Combines readiness and sends it up, at the root plans; relays
/// what comes down and tells it to the Listener.
///
/// The Listener may call back at any time. So every entry point goes through act(): the outermost one does the work, an
/// inner one only notes what there is to do.
class Node {
 public:
  Node(transport::Transport& net, const Settings& settings, Listener& listener);

  void ready(TensorId tensor, const Request& request);
  void flush();
  void bucket_done(std::uint64_t sequence);
  void leave();
  void abort(const Error& why);
  std::vector<std::string> tick();
  Task<> join();

  std::uint64_t cache_hits() const noexcept { return hits_; }
  std::uint64_t cache_misses() const noexcept { return misses_; }

 private:
  /// A bucket that the listener has not finished.
  struct Running {
    std::uint64_t sequence = 0;
    std::size_t tensors = 0;
    std::string first;  ///< the name of one of them
  };

  // node.cpp: what happens
  template <class F>
  void act(F&& work);
  bool step();
  void tell_the_end();
  void pump();
  Task<> listen(Link& link);
  Task<> drain(Link& link);
  void give_up(ErrorCode code, const std::string& text, const Link* heard_from);
  void heard(Link& link, std::span<const std::byte> message);
  void broken(const Link& link, const Error& why);

  // node_up.cpp: from the children, to the parent; at the root to the plan
  void take_up(Link& link, std::span<const std::byte> message);
  void take_slots(std::size_t child, SlotRun run);
  void take_partial(std::size_t child, const Partial& partial);
  void take_answer(const Here& here);
  void completed(Entry& entry);
  void send_up();
  void send_leaves();
  void plan(bool everything);
  void write_bucket(std::span<const BucketPlan::Ready> bucket);

  // node_down.cpp: from the parent or the plan, to the children and the listener
  void relay_and_take(std::span<const std::byte> message);
  void take(SlotRun run);
  void take(const Uncached& tensor);
  void take(const Assign& tensor);
  void take(const Update& update);
  void take(BucketEnd);
  void take(const Failure& failure);
  void take(Alive);
  void take(Left left);
  void take(const Abort& abort);
  void take(Closed);
  void take(const Named&);
  void take(const Partial&);
  void take(Here);
  void add_to_bucket(Entry& entry);
  TensorId end_round(Entry& entry);

  // node_watch.cpp: what does not happen
  void watch(TimePoint now, std::vector<std::string>& warnings);
  void notice_traffic(TimePoint now);
  void watch_as_root(TimePoint now, std::vector<std::string>& warnings);
  void watch_as_other(TimePoint now);
  void watch_buckets(TimePoint now);
  void speak(TimePoint now);
  std::string who_is_silent(TimePoint now) const;

  void require_slots(Slot first, Slot count) const;
  TimePoint now() const { return net_.now(); }

  transport::Transport& net_;
  Settings settings_;
  Listener& listener_;
  Tree tree_;
  ResponseCache cache_;
  Readiness readiness_;
  TaskScope scope_;
  std::deque<Link> links_;  // the children's in their order, then the parent's
  Link* parent_ = nullptr;

  // Of act():
  bool busy_ = false;
  bool again_ = false;
  std::optional<Abort> abort_;  // to be told to everyone
  const Link* abort_from_ = nullptr;
  bool ended_ = false;  // lost: nothing counts any more
  bool closed_ = false;

  // Up:
  std::vector<Entry*> complete_;  // here, not told upwards
  std::vector<Slot> slots_;       // scratch
  std::vector<int> leaving_;      // not passed on yet
  bool left_ = false;             // this rank
  // Root:
  BucketPlan plan_;
  TimePoint plan_since_ = TimePoint::max();  // the oldest in it
  std::vector<std::byte> down_, going_down_;
  std::vector<bool> gone_;  // who has left
  int gone_count_ = 0;
  std::size_t slots_given_ = 0;  // the cache's size once everything planned has been told
  std::string first_uncached_;   // the first tensor that found the cache full, until the warning is given
  bool cache_was_full_ = false;

  // Down:
  std::vector<TensorId> bucket_;
  std::string bucket_name_;
  std::uint64_t sequence_ = 0;
  std::vector<Running> running_;
  std::vector<std::string> spare_names_;
  bool somebody_left_ = false;

  // Watch:
  StallClock clock_;
  TimePoint progress_;               // the last sign that something moves here
  TimePoint word_;                   // the last message from the parent
  TimePoint spoken_;                 // the root's last message
  std::vector<TimePoint> answered_;  // root: when each rank last answered
  std::uint64_t traffic_ = 0;

  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

template <class F>
void Node::act(F&& work) {
  if (ended_) return;
  again_ = true;
  if (busy_) return work();
  busy_ = true;
  try {
    work();
    while (step()) {
    }
  } catch (...) {
    busy_ = false;
    throw;
  }
  busy_ = false;
  pump();
}

}  // namespace ringlet::coordinator
