#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/frame_pool.hpp"

namespace ringlet {

template <class T>
class Task;

namespace task_detail {

/// Hands control back to whoever awaits the finished coroutine, without growing the stack.
struct FinalAwaiter {
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
    return self.promise().continuation;
  }
  void await_resume() const noexcept {}
};

struct PromiseBase {
  std::coroutine_handle<> continuation = std::noop_coroutine();
  std::exception_ptr error;

  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { error = std::current_exception(); }

  static void* operator new(std::size_t bytes) { return FramePool::take(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept { FramePool::give(frame, bytes); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object() noexcept;
  void return_value(T v) { value.emplace(std::move(v)); }
  T result() {
    if (error) std::rethrow_exception(error);
    return std::move(*value);
  }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void result() const {
    if (error) std::rethrow_exception(error);
  }
};

}  // namespace task_detail

/// A coroutine that starts when it is awaited and resumes its awaiter when it is done. Owns its frame.
///
/// A Task is awaited at once or owned by a TaskScope, so its references point only into the awaiting frame or into what
/// the scope's owner keeps alive. One thread. No capturing lambda is a coroutine.
template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = task_detail::Promise<T>;
  using HandleType = std::coroutine_handle<promise_type>;

  Task() = default;
  explicit Task(HandleType frame) noexcept : frame_(frame) {}
  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (frame_) frame_.destroy();
      frame_ = std::exchange(other.frame_, nullptr);
    }
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

  bool await_ready() const noexcept { return !frame_ || frame_.done(); }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
    frame_.promise().continuation = awaiting;
    return frame_;
  }
  T await_resume() {
    if constexpr (std::is_void_v<T>) {
      if (!frame_) return;  // an empty task is done
    }
    return frame_.promise().result();
  }

 private:
  HandleType frame_ = nullptr;
};

namespace task_detail {
template <class T>
Task<T> Promise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

/// A coroutine that runs by itself from the first moment and frees itself at the end.
struct Detached {
  struct promise_type {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }  // its body catches everything
    static void* operator new(std::size_t bytes) { return FramePool::take(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept { FramePool::give(frame, bytes); }
  };
};
}  // namespace task_detail

/// Told of a task's failure the moment it happens, while the tasks beside it may still be waiting for peers.
class Alarm {
 public:
  virtual ~Alarm() = default;
  virtual void raise(std::exception_ptr error) noexcept = 0;
};

/// Runs several tasks at once on one thread. `co_await scope.join()` waits for all of them and throws the first error.
///
/// Tasks refer to what outlives the scope. A scope is joined before it goes; the runtime makes sure of it by failing
/// every pending transfer, which unwinds every task.
class TaskScope {
 public:
  explicit TaskScope(Alarm* alarm = nullptr) noexcept : alarm_(alarm) {}
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

  /// Starts `task` now, up to its first suspension.
  void spawn(Task<void> task) {
    ++running_;
    run(*this, std::move(task));
  }

  std::size_t running() const noexcept { return running_; }

  auto join() noexcept {
    struct Join {
      TaskScope& scope;
      bool await_ready() const noexcept { return scope.running_ == 0; }
      void await_suspend(std::coroutine_handle<> awaiting) const noexcept { scope.joiner_ = awaiting; }
      void await_resume() const { scope.rethrow(); }
    };
    return Join{*this};
  }

  /// Throws the first error among the tasks that have ended, once.
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  static task_detail::Detached run(TaskScope& scope, Task<void> task) {
    try {
      co_await task;
    } catch (...) {
      if (!scope.error_) scope.error_ = std::current_exception();
      if (scope.alarm_ != nullptr) scope.alarm_->raise(std::current_exception());
    }
    task = {};  // the frame goes before the scope may
    if (--scope.running_ == 0 && scope.joiner_) std::exchange(scope.joiner_, nullptr).resume();
  }

  std::size_t running_ = 0;
  std::coroutine_handle<> joiner_;
  std::exception_ptr error_;
  Alarm* alarm_;
};

}  // namespace ringlet
