#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/bucket.hpp"

namespace ringlet::runtime {

/// What the executor reports, on the worker thread.
class ExecutorListener {
 public:
  virtual ~ExecutorListener() = default;
  /// The bucket has ended and its tensors are complete or failed.
  virtual void bucket_ended(std::uint64_t sequence) = 0;
  /// A schedule failed here while the transport works: the other ranks must be told, or they wait for ever.
  virtual void exchange_failed(const Error& why) = 0;
};

/// Runs buckets in the order of the plan, several at once, and completes their tensors. Ranks start buckets in the same
/// order, so those in flight everywhere always include the oldest unfinished one, and nothing waits in a circle. The
/// worker thread only.
class Executor {
 public:
  Executor(const BucketServices& services, TensorTable& table, ExecutorListener& listener);
  ~Executor();

  void enqueue(std::uint64_t sequence, std::span<const TensorId> tensors);
  /// Starts what may start now. Returns whether anything did.
  bool start();
  std::size_t running() const noexcept { return tasks_.running(); }
  bool idle() const noexcept { return running() == 0 && waiting_.empty(); }

 private:
  struct Slot;
  Task<> run(Slot& slot);
  /// Why a planned tensor cannot be exchanged here. The ranks agreed on its shape and have the same history, so they
  /// all refuse alike and the rest of the bucket goes on.
  std::optional<Error> refusal(const TensorEntry& entry) const;
  void finish(Slot& slot, const std::optional<Error>& error);

  BucketServices services_;
  TensorTable& table_;
  ExecutorListener& listener_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;
  std::deque<Slot*> waiting_;
  TaskScope tasks_;
};

}  // namespace ringlet::runtime
