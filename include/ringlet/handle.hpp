#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "ringlet/error.hpp"
#include "ringlet/export.hpp"
#include "ringlet/tensor.hpp"

namespace ringlet {

namespace runtime {
class HandleState;
}

/// A tensor with its own memory: what a gather returns whose size only the ranks together know.
struct OwnedTensor {
  std::vector<std::byte> memory;
  DType dtype = DType::float32;
  Shape shape = {0};
  std::vector<std::size_t> splits;  ///< rows that came from each rank, in rank order

  template <class T>
  std::span<const T> as() const {
    if (dtype_of<T>() != dtype) throw Error(ErrorCode::invalid_argument, "OwnedTensor::as: another dtype");
    return {reinterpret_cast<const T*>(memory.data()), memory.size() / sizeof(T)};
  }
};

/// One collective in flight. Copies share the same state; an empty Handle counts as complete.
///
/// Threads  any, at the same time. Errors of the collective come out of wait(), never out of poll().
class RINGLET_EXPORT Handle {
 public:
  Handle() = default;
  explicit Handle(std::shared_ptr<runtime::HandleState> state) noexcept : state_(std::move(state)) {}

  /// Blocks until the collective is complete; throws its Error. Waiting twice is harmless.
  void wait() const;
  /// As wait(), at most for `limit`: false when it is not complete by then.
  bool wait_for(std::chrono::nanoseconds limit) const;
  /// True when wait() would not block. Never throws the collective's error.
  bool poll() const;
  /// Calls `done(error)` once when complete, with null for success: on the worker thread with no lock held, or at once,
  /// here, if it is complete already. The callback may enqueue but must not wait on a handle. If it throws, this handle
  /// fails with that text.
  void on_complete(std::function<void(const Error*)> done) const;
  /// Waits, then moves out the result of an allgather or alltoall that was given no output.
  OwnedTensor take() const;

 private:
  std::shared_ptr<runtime::HandleState> state_;
};

}  // namespace ringlet
