#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ringlet/handle.hpp"

namespace ringlet::runtime {

/// Makes progress on the caller's thread where no background thread may; a runtime that has one needs no driving.
class Driver {
 public:
  virtual ~Driver() = default;
  virtual bool needs_driving() const noexcept = 0;
  /// One step; blocks for a moment at most when nothing moves. Throws when this thread may not.
  virtual void drive() = 0;
};

/// What a Handle and the worker share. The worker fills `result` and calls complete() once; any thread waits.
class HandleState {
 public:
  HandleState(std::string name, std::weak_ptr<Driver> driver) : name_(std::move(name)), driver_(std::move(driver)) {}

  const std::string& name() const noexcept { return name_; }
  /// Runs the callbacks, then releases the waiters. A callback that throws turns success into Error{callback}.
  void complete(const std::optional<Error>& error);

  bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  /// True when done within `limit`. Does not throw the collective's error.
  bool wait(std::optional<std::chrono::nanoseconds> limit);
  void throw_error() const;
  void on_complete(std::function<void(const Error*)> callback);
  void drive_once();

  OwnedTensor result;

 private:
  using Callback = std::function<void(const Error*)>;
  void run(const Callback& callback);

  const std::string name_;
  std::weak_ptr<Driver> driver_;
  std::atomic<bool> done_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Callback> callbacks_;
  std::optional<Error> error_;
};

}  // namespace ringlet::runtime
