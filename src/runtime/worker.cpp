#include "runtime/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/detach.hpp"

namespace ringlet::runtime {
namespace {

using std::chrono::milliseconds;

/// How long a failure's message may take to reach the neighbours before this rank stops moving anything.
constexpr auto kRelayTime = milliseconds(200);

/// How often the coordinator must be asked about stalls, timeouts and the end of a cycle.
std::chrono::nanoseconds tick_interval(const Settings& settings) {
  constexpr std::chrono::nanoseconds kUsual = milliseconds(20);
  constexpr std::chrono::nanoseconds kShortest = std::chrono::microseconds(50);
  if (settings.cycle_time.count() == 0) return kUsual;
  return std::clamp<std::chrono::nanoseconds>(settings.cycle_time / 2, kShortest, kUsual);
}

bool may_use_thread(const transport::Transport& net, const Settings& settings) {
  if (settings.progress == "thread") return true;
  if (settings.progress == "call") return false;
  return net.allows_background_thread();
}

}  // namespace

Worker::Worker(std::unique_ptr<transport::Transport> net, const Settings& settings,
               const collective::Selector& selector, TensorTable& table, observe::CounterBook& book, Logger log)
    : net_(std::move(net)),
      settings_(settings),
      table_(table),
      book_(book),
      log_(std::move(log)),
      topology_(topology_of(*net_)),
      executor_({*net_, pool_, residuals_, book_, selector, settings_}, table, *this),
      coordinator_(*net_, settings_, *this),
      tick_(tick_interval(settings)),
      backoff_(*net_, topology_.local_size, tick_),
      threaded_(may_use_thread(*net_, settings)) {}

Worker::~Worker() { stop(); }

void Worker::start() {
  if (threaded_) {
    thread_ = std::thread([this] { loop(); });
    return;
  }
  const std::string why = net_->background_reason();
  if (why.empty() || net_->rank() != 0) return;  // it was asked for; the other ranks have the same reason
  log_.warn(why + "; until then collectives advance only inside wait() and poll()");
}

void Worker::loop() {
  while (!stop_.load(std::memory_order_acquire)) {
    if (step()) {
      backoff_.reset();
    } else {
      backoff_.pause(table_.in_flight() > 0 || !executor_.idle());
    }
  }
}

void Worker::drive() {
  const std::lock_guard lock(drive_mutex_);
  if (step()) {
    backoff_.reset();
  } else {
    backoff_.pause(true);
  }
}

bool Worker::step() {
  take_abort();
  take_leave();
  bool moved = submit_new();  // after them: what was enqueued just before need not begin, and is refused
  moved |= net_->progress();
  moved |= executor_.start();
  tick();
  return moved;
}

void Worker::take_abort() {
  std::optional<Error> request;
  {
    const std::lock_guard lock(mutex_);
    request.swap(abort_request_);
  }
  if (request && !broken_) coordinator_.abort(*request);
}

void Worker::take_leave() {
  {
    const std::lock_guard lock(mutex_);
    if (!leave_request_ || left_) return;
    left_ = true;
  }
  if (!broken_) coordinator_.leave();
}

bool Worker::submit_new() {
  added_.clear();
  table_.drain(added_);
  if (added_.empty()) return false;
  if (const auto why = refusal()) {
    fail_unplanned(*why);
    return true;
  }
  if (left_) {
    const Error late(ErrorCode::peer_lost, fmt::format("rank {}: shutdown() was called here already", net_->rank()));
    for (const TensorId id : added_) table_.remove(id).handle->complete(late);
    return true;
  }
  for (const TensorId id : added_) coordinator_.ready(id, table_.at(id).request);
  coordinator_.flush();
  return true;
}

void Worker::tick() {
  const auto now = net_->now();
  if (failing_ && now >= fail_at_) break_now(*std::exchange(failing_, std::nullopt));
  if (all_left_ && !closed_ && executor_.idle()) {
    closed_.store(true, std::memory_order_release);
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  if (now < next_tick_ || broken_) return;
  next_tick_ = now + tick_;
  for (const std::string& warning : coordinator_.tick()) log_.warn(warning);
  book_.cache(coordinator_.cache_hits(), coordinator_.cache_misses());
}

void Worker::fail_unplanned(const Error& why) {
  for (const TensorId id : table_.ids()) {
    if (table_.at(id).planned) continue;
    table_.remove(id).handle->complete(why);
  }
}

void Worker::break_now(const Error& why) {
  net_->fail(why);
  while (net_->progress()) {
  }
  table_.close(why);
  fail_unplanned(why);
  broken_.store(true, std::memory_order_release);
  const std::lock_guard lock(mutex_);  // so that no waiter misses it
  changed_.notify_all();
}

void Worker::run_bucket(std::uint64_t sequence, std::span<const TensorId> tensors) {
  executor_.enqueue(sequence, tensors);
}

void Worker::fail_tensor(TensorId tensor, const Error& why) { table_.remove(tensor).handle->complete(why); }

void Worker::peer_left(int rank) {
  const bool self = rank == net_->rank();
  const Error why(
      ErrorCode::peer_lost,
      self ? fmt::format(
                 "rank {}: shutdown() was called here while this collective was pending; wait for its handle first",
                 rank)
           : fmt::format("rank {} has shut down, or its program has ended, so this collective can never complete; "
                         "every rank must make "
                         "the same calls",
                         rank));
  {
    const std::lock_guard lock(mutex_);
    if (!refusal_) refusal_ = detach(why);
  }
  fail_unplanned(why);
}

void Worker::lost(const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    refusal_ = detach(why);
  }
  failing_ = why;
  fail_at_ = net_->now() + kRelayTime;
  fail_unplanned(why);
}

void Worker::closed() { all_left_ = true; }

void Worker::bucket_ended(std::uint64_t sequence) { coordinator_.bucket_done(sequence); }

void Worker::exchange_failed(const Error& why) { coordinator_.abort(why); }

std::optional<Error> Worker::refusal() const {
  const std::lock_guard lock(mutex_);
  if (!refusal_) return std::nullopt;
  return detach(*refusal_);
}

void Worker::await(const std::atomic<bool>& flag, std::chrono::nanoseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  if (threaded_) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] { return flag.load() || broken_.load(); });
    return;
  }
  while (!flag && !broken_ && std::chrono::steady_clock::now() < deadline) drive();
}

void Worker::leave() {
  {
    const std::lock_guard lock(mutex_);
    leave_request_ = true;
  }
  net_->wake();
  await(closed_, settings_.timeout);
  if (!closed_ && !broken_)
    log_.warn("shutdown: not every rank has called shutdown() within RINGLET_TIMEOUT; leaving without them");
  stop();
}

void Worker::abort(const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    abort_request_ = detach(why);
  }
  net_->wake();
  await(broken_, kRelayTime * 4);
}

void Worker::stop() {
  if (stopped_) return;
  stopped_ = true;
  stop_.store(true, std::memory_order_release);
  net_->wake();
  if (thread_.joinable()) thread_.join();
  // From here on this thread drives. What the coordinator still has to send goes out; then everything that waits is
  // ended.
  TaskScope ending;
  ending.spawn(coordinator_.join());
  const auto deadline = net_->now() + kRelayTime * 5;
  while (closed_ && ending.running() > 0 && net_->now() < deadline) {
    if (!net_->progress()) net_->wait(std::chrono::microseconds(100));
  }
  if (!broken_) break_now(Error(ErrorCode::peer_lost, fmt::format("rank {}: the runtime was shut down", net_->rank())));
  while (net_->progress()) {
  }
}

}  // namespace ringlet::runtime
