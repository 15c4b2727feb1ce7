#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "base/task.hpp"
#include "coordinator/request.hpp"
#include "ringlet/error.hpp"
#include "transport/transport.hpp"

namespace ringlet::coordinator {

/// The caller's number for one pending tensor: an index into the runtime's table, meaningless to other ranks.
using TensorId = std::uint32_t;

/// What a coordinator tells its runtime, always on the driving thread, from inside Transport::progress() or a call
/// below.
class Listener {
 public:
  virtual ~Listener() = default;
  /// Exchange these tensors together, in this order. Every rank gets the same buckets in the same sequence, numbered
  /// from 0.
  virtual void run_bucket(std::uint64_t sequence, std::span<const TensorId> tensors) = 0;
  /// The ranks disagree about this tensor: it alone fails, with this text, on every rank that had it.
  virtual void fail_tensor(TensorId tensor, const Error& why) = 0;
  /// Another rank, `rank`, has left and takes no part any more: what is still pending can never complete, nor can
  /// anything new. Comes after every plan that the rank is part of, and before none.
  virtual void peer_left(int rank) = 0;
  /// Some rank gave up or fell silent. Nothing works any more; every tensor fails with this text. Called at most once.
  virtual void lost(const Error& why) = 0;
  /// Every rank has left: nothing follows but join(). Called at most once.
  virtual void closed() = 0;
};

/// Finds out which tensors are ready on every rank and in which buckets they go: readiness is combined up a tree of
/// ranks and plans go down it, each step one message to a neighbour. The first time a tensor is negotiated by its full
/// request, afterwards by the number that the plan gave it.
///
/// Driven by events: it acts when ready() is called, when a message arrives (through its receives on the transport) and
/// on tick(). One thread, the one that drives the transport.
class Coordinator {
 public:
  Coordinator(transport::Transport& net, const Settings& settings, Listener& listener);
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// This rank has `request.name` ready. The name is not pending here already.
  void ready(TensorId tensor, const Request& request);
  /// Sends what ready() has collected since. The runtime calls it once it has drained its queue.
  void flush();
  /// The bucket with this sequence number is finished here. The root holds back further plans while enough are
  /// unfinished, so that what becomes ready meanwhile shares a bucket.
  void bucket_done(std::uint64_t sequence);
  /// This rank will call ready() no more. It goes on relaying until closed().
  void leave();
  /// Tells every rank that this one failed and why; calls lost() here too, with the same text.
  void abort(const Error& why);
  /// Checks for stalls, timeouts and the end of a cycle; to be called at least every tenth of the stall warning, every
  /// thirtieth of the timeout and, at the root, every cycle. Cheap when nothing is due. Returns warnings to be logged
  /// (the root's only): one text, tensors and missing ranks sorted and bounded.
  std::vector<std::string> tick();
  /// Waits until the coordinator's own coroutines have ended, which they do after closed(), once the neighbours have
  /// heard of it, or when the transport has failed; after lost() only then. Until it returns the transport is driven
  /// and the coordinator stays.
  Task<> join();

  std::uint64_t cache_hits() const noexcept;
  std::uint64_t cache_misses() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringlet::coordinator
