#pragma once

#include <sys/types.h>

#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include "base/settings.hpp"
#include "runtime/runtime.hpp"
#include "transport/transport.hpp"

namespace ringlet::api {

/// Holds the Runtime that the public calls mean. It is the library's only static, made at first use and never
/// destroyed, so that it is there whatever order a program tears itself down in; at exit() it shuts a forgotten runtime
/// down. Any thread.
class DefaultRuntime {
 public:
  using MakeTransport = std::function<std::unique_ptr<transport::Transport>(const Settings&)>;

  static DefaultRuntime& instance();

  /// The running one. Error{not_initialized} before start() and after stop().
  std::shared_ptr<runtime::Runtime> get() const;
  bool is_running() const noexcept;

  /// Reads the settings, then makes transport and runtime; does nothing while one is running. Throws what those throw.
  void start(const MakeTransport& make);
  /// Shuts down what is running, if anything is.
  void stop();

 private:
  DefaultRuntime() = default;

  static void at_exit() noexcept;
  [[noreturn]] static void at_terminate() noexcept;
  std::shared_ptr<runtime::Runtime> release() noexcept;
  void watch_terminate();
  void unwatch_terminate() noexcept;

  std::mutex starting_;       // held while start() or stop() is at work, so that they do not mix
  mutable std::mutex mutex_;  // of what follows, held for moments
  std::shared_ptr<runtime::Runtime> runtime_;
  bool was_running_ = false;  // for the text after shutdown
  bool watches_exit_ = false;
  bool watches_terminate_ = false;
  std::terminate_handler previous_ = nullptr;
  pid_t owner_ = 0;                            // who started it: a forked child has no worker thread
  std::shared_ptr<runtime::Runtime> parents_;  // a child leaves it alone: to destroy it would wait for ever
};

}  // namespace ringlet::api
