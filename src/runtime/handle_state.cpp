#include "runtime/handle_state.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/detach.hpp"

namespace ringlet::runtime {

void HandleState::run(const Callback& callback) {
  std::optional<Error> seen;
  {
    const std::lock_guard lock(mutex_);
    if (error_) seen = detach(*error_);
  }
  std::string text;
  try {
    callback(seen ? &*seen : nullptr);
    return;
  } catch (const std::exception& e) {
    text = e.what();
  } catch (...) {
    text = "an exception of unknown type";
  }
  const std::lock_guard lock(mutex_);
  if (!error_)
    error_ = Error(ErrorCode::callback, fmt::format("the completion callback of \"{}\" threw: {}", name_, text));
}

void HandleState::complete(const std::optional<Error>& error) {
  std::unique_lock lock(mutex_);
  if (error) error_ = detach(*error);
  while (!callbacks_.empty()) {
    const auto callbacks = std::exchange(callbacks_, {});
    lock.unlock();
    for (const Callback& callback : callbacks) run(callback);
    lock.lock();
  }
  done_.store(true, std::memory_order_release);
  lock.unlock();
  changed_.notify_all();
}

void HandleState::drive_once() {
  const auto driver = driver_.lock();
  if (driver && driver->needs_driving()) driver->drive();
}

bool HandleState::wait(std::optional<std::chrono::nanoseconds> limit) {
  if (done()) return true;
  const auto deadline = std::chrono::steady_clock::now() + limit.value_or(std::chrono::nanoseconds{0});
  if (const auto driver = driver_.lock(); driver && driver->needs_driving()) {
    while (!done()) {
      if (limit && std::chrono::steady_clock::now() >= deadline) return false;
      driver->drive();
    }
    return true;
  }
  std::unique_lock lock(mutex_);
  const auto is_done = [this] { return done(); };
  if (limit) return changed_.wait_until(lock, deadline, is_done);
  changed_.wait(lock, is_done);
  return true;
}

void HandleState::throw_error() const {
  const std::lock_guard lock(mutex_);
  if (error_) throw detach(*error_);
}

void HandleState::on_complete(Callback callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!done()) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  run(callback);
}

}  // namespace ringlet::runtime

namespace ringlet {

void Handle::wait() const {
  if (!state_) return;
  state_->wait(std::nullopt);
  state_->throw_error();
}

bool Handle::wait_for(std::chrono::nanoseconds limit) const {
  if (!state_) return true;
  if (!state_->wait(limit)) return false;
  state_->throw_error();
  return true;
}

bool Handle::poll() const {
  if (!state_ || state_->done()) return true;
  state_->drive_once();
  return state_->done();
}

void Handle::on_complete(std::function<void(const Error*)> done) const {
  if (state_) {
    state_->on_complete(std::move(done));
  } else {
    done(nullptr);
  }
}

OwnedTensor Handle::take() const {
  wait();
  return state_ ? std::move(state_->result) : OwnedTensor{};
}

}  // namespace ringlet
