#include "coordinator/node.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::coordinator {
namespace {

constexpr transport::Tag kUp = 1;
constexpr transport::Tag kDown = 2;

}  // namespace

Node::Node(transport::Transport& net, const Settings& settings, Listener& listener)
    : net_(net),
      settings_(settings),
      listener_(listener),
      tree_(net.rank(), net.size()),
      cache_(settings.cache_capacity),
      readiness_(tree_, cache_),
      plan_(settings.fusion_threshold),
      gone_(static_cast<std::size_t>(tree_.is_root() ? net.size() : 0)),
      clock_(settings, tree_.depth(), tree_.deepest()),
      progress_(net.now()),
      word_(progress_),
      spoken_(progress_),
      answered_(gone_.size(), progress_) {
  for (const int child : tree_.children()) links_.emplace_back(net_, child, kDown, kUp);
  if (!tree_.is_root()) parent_ = &links_.emplace_back(net_, tree_.parent(), kUp, kDown);
  for (Link& link : links_) scope_.spawn(listen(link));
}

void Node::ready(TensorId tensor, const Request& request) {
  if (ended_) return;
  Entry& entry = readiness_.at(request.name);
  const bool complete = readiness_.add_own(entry, tensor, request, now());
  ++((entry.as_cached & 1) != 0 ? hits_ : misses_);
  if (complete) completed(entry);
}

void Node::flush() {
  act([] {});
}

void Node::bucket_done(std::uint64_t sequence) {
  const auto it =
      std::find_if(running_.begin(), running_.end(), [&](const Running& r) { return r.sequence == sequence; });
  if (it == running_.end()) return;
  spare_names_.push_back(std::move(it->first));
  running_.erase(it);
  progress_ = now();
  act([] {});
}

void Node::leave() {
  if (left_) return;
  left_ = true;
  act([&] { leaving_.push_back(tree_.rank()); });
}

void Node::abort(const Error& why) {
  act([&] { give_up(ErrorCode::peer_lost, fmt::format("rank {}: {}", tree_.rank(), why.what()), nullptr); });
}

std::vector<std::string> Node::tick() {
  std::vector<std::string> warnings;
  act([&] { watch(now(), warnings); });
  return warnings;
}

Task<> Node::join() { co_await scope_.join(); }

void Node::give_up(ErrorCode code, const std::string& text, const Link* heard_from) {
  if (abort_) return;  // the first cause is the one that everybody hears
  abort_ = Abort{code, text};
  abort_from_ = heard_from;
}

/// Does one round of what is to be done; returns whether there may be more.
bool Node::step() {
  if (abort_) tell_the_end();
  if (ended_) return false;
  again_ = false;
  if (!tree_.is_root()) {
    send_up();
    send_leaves();
    return again_;
  }
  plan(false);
  send_leaves();
  if (down_.empty()) return again_;
  going_down_.clear();
  std::swap(down_, going_down_);
  spoken_ = now();
  relay_and_take(going_down_);
  return true;
}

void Node::tell_the_end() {
  ended_ = true;
  // What the parent sent has been relayed to the children already, as it was.
  const bool relayed = abort_from_ != nullptr && abort_from_ == parent_;
  for (Link& link : links_) {
    if (!relayed && &link != abort_from_) write(link.outbox(), *abort_);
  }
  listener_.lost(Error(abort_->code, abort_->text));
}

/// Starts what is written on its way.
void Node::pump() {
  for (Link& link : links_) {
    if (link.wants_sending()) scope_.spawn(drain(link));
  }
}

Task<> Node::drain(Link& link) {
  try {
    co_await link.send_all();
  } catch (const Error& e) {
    broken(link, e);
  }
}

Task<> Node::listen(Link& link) {
  try {
    while (!link.is_closed()) heard(link, co_await link.receive());
  } catch (const Error& e) {
    broken(link, e);
  }
}

void Node::heard(Link& link, std::span<const std::byte> message) {
  act([&] {
    try {
      if (&link == parent_) {
        word_ = now();
        relay_and_take(message);
      } else {
        take_up(link, message);
      }
    } catch (const Error& e) {
      if (e.code() != ErrorCode::malformed) throw;
      broken(link, e);
    }
  });
}

void Node::broken(const Link& link, const Error& why) {
  if (closed_) return;
  act([&] {
    if (net_.failed()) return give_up(why.code(), why.what(), nullptr);
    give_up(why.code(),
            fmt::format("rank {}: cannot understand or reach rank {}: {}", tree_.rank(), link.peer(), why.what()),
            nullptr);
  });
}

void Node::require_slots(Slot first, Slot count) const {
  if (first < cache_.size() && count <= cache_.size() - first) return;
  throw Error(ErrorCode::malformed,
              fmt::format("slots {} to {}, but there are {}", first, std::uint64_t{first} + count, cache_.size()));
}

}  // namespace ringlet::coordinator
