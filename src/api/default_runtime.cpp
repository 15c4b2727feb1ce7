#include "api/default_runtime.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "ringlet/error.hpp"

namespace ringlet::api {
namespace {

std::string text_of_current_exception() {
  try {
    if (const auto current = std::current_exception()) std::rethrow_exception(current);
  } catch (const std::exception& e) {
    return fmt::format("terminated by an uncaught exception: {}", e.what());
  } catch (...) {
    return "terminated by an uncaught exception that is no std::exception";
  }
  return "terminated by std::terminate without an exception";
}

}  // namespace

DefaultRuntime& DefaultRuntime::instance() {
  static auto* const holder = new DefaultRuntime;  // never destroyed: static destructors may still call us
  return *holder;
}

std::shared_ptr<runtime::Runtime> DefaultRuntime::get() const {
  const std::lock_guard lock(mutex_);
  if (runtime_) return runtime_;
  throw Error(ErrorCode::not_initialized, was_running_
                                              ? "ringlet has been shut down: no collective works after shutdown()"
                                              : "ringlet is not initialised: call init() first");
}

bool DefaultRuntime::is_running() const noexcept {
  const std::lock_guard lock(mutex_);
  return runtime_ != nullptr;
}

void DefaultRuntime::start(const MakeTransport& make) {
  const std::lock_guard alone(starting_);
  if (is_running()) return;
  std::vector<std::string> warnings;
  const Settings settings = settings_from_environment(warnings);
  runtime::check_settings(settings);
  auto net = make(settings);
  const int rank = net->rank();
  if (rank == 0) {  // the others were given the same environment
    const Logger log(settings.log_level, rank);
    for (const std::string& text : warnings) log.warn(text);
  }
  auto started = std::make_shared<runtime::Runtime>(std::move(net), settings);
  const std::lock_guard lock(mutex_);
  runtime_ = std::move(started);
  was_running_ = true;
  owner_ = ::getpid();
  if (!std::exchange(watches_exit_, true)) std::atexit([] { at_exit(); });
  watch_terminate();
}

void DefaultRuntime::stop() {
  const std::lock_guard alone(starting_);
  if (const auto last = release()) last->shutdown();
}

std::shared_ptr<runtime::Runtime> DefaultRuntime::release() noexcept {
  const std::lock_guard lock(mutex_);
  unwatch_terminate();
  return std::exchange(runtime_, nullptr);
}

void DefaultRuntime::at_exit() noexcept {
  DefaultRuntime& self = instance();
  auto last = self.release();
  if (!last) return;
  if (self.owner_ != ::getpid()) {
    self.parents_ = std::move(last);
    return;
  }
  try {
    last->shutdown();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the program has ended; there is nobody left to tell
  }
}

void DefaultRuntime::watch_terminate() {
  if (std::exchange(watches_terminate_, true)) return;
  previous_ = std::set_terminate(&DefaultRuntime::at_terminate);
}

void DefaultRuntime::unwatch_terminate() noexcept {
  // Where the program has put its own handler before ours, ours stays in that chain and finds no runtime.
  if (!watches_terminate_ || std::get_terminate() != &DefaultRuntime::at_terminate) return;
  std::set_terminate(previous_);
  watches_terminate_ = false;
}

void DefaultRuntime::at_terminate() noexcept {
  DefaultRuntime& self = instance();
  std::terminate_handler previous = nullptr;
  std::shared_ptr<runtime::Runtime> running;
  if (std::unique_lock lock(self.mutex_, std::try_to_lock);
      lock) {  // the thread that ends may be the one that holds it
    previous = self.previous_;
    running = self.runtime_;
  }
  try {
    if (running && self.owner_ == ::getpid()) running->abort(text_of_current_exception());
  } catch (...) {  // NOLINT(bugprone-empty-catch): the previous handler reports the exception that brought us here
  }
  if (previous != nullptr) previous();
  std::abort();
}

}  // namespace ringlet::api
