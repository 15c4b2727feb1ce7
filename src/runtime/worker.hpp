#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "coordinator/coordinator.hpp"
#include "runtime/backoff.hpp"
#include "runtime/executor.hpp"
#include "runtime/topology.hpp"

namespace ringlet::runtime {

/// Drives one rank: drains the table into the coordinator, the coordinator's plans into the executor, and the transport
/// all along, on a thread of its own or, where none may be, in the caller's calls.
class Worker final : public Driver, private coordinator::Listener, private ExecutorListener {
 public:
  Worker(std::unique_ptr<transport::Transport> net, const Settings& settings, const collective::Selector& selector,
         TensorTable& table, observe::CounterBook& book, Logger log);
  ~Worker() override;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void start();
  transport::Transport& net() noexcept { return *net_; }
  const Topology& topology() const noexcept { return topology_; }

  /// Something was added to the table.
  void notify() noexcept { net_->wake(); }
  /// Why nothing can be submitted any more; empty while something can.
  std::optional<Error> refusal() const;
  /// Leaves the job: returns when every rank has left, or one failed, or the timeout has passed.
  void leave();
  /// Tells the others that this rank gives up; returns when they can have heard it.
  void abort(const Error& why);

  bool needs_driving() const noexcept override { return !threaded_; }
  void drive() override;

 private:
  bool step();
  void loop();
  void take_abort();
  void take_leave();
  bool submit_new();
  void tick();
  void stop();
  void await(const std::atomic<bool>& flag, std::chrono::nanoseconds limit);
  void fail_unplanned(const Error& why);
  void break_now(const Error& why);

  void run_bucket(std::uint64_t sequence, std::span<const TensorId> tensors) override;
  void fail_tensor(TensorId tensor, const Error& why) override;
  void peer_left(int rank) override;
  void lost(const Error& why) override;
  void closed() override;
  void bucket_ended(std::uint64_t sequence) override;
  void exchange_failed(const Error& why) override;

  std::unique_ptr<transport::Transport> net_;
  const Settings settings_;
  TensorTable& table_;
  observe::CounterBook& book_;
  Logger log_;
  Topology topology_;
  BufferPool pool_;
  compress::ResidualStore residuals_;
  Executor executor_;
  coordinator::Coordinator coordinator_;
  std::chrono::nanoseconds tick_;
  Backoff backoff_;
  bool threaded_;
  std::thread thread_;

  // The driving thread's:
  std::vector<TensorId> added_;
  std::optional<Error> failing_;  // to be handed to the transport once the others can have heard it
  transport::Transport::Clock::time_point fail_at_{};
  transport::Transport::Clock::time_point next_tick_{};

  bool all_left_ = false;
  bool stopped_ = false;

  // Shared:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Error> refusal_;
  std::optional<Error> abort_request_;
  bool leave_request_ = false;
  bool left_ = false;
  std::atomic<bool> stop_{false};
  std::atomic<bool> closed_{false};  // every rank has left and nothing runs here any more
  std::atomic<bool> broken_{false};  // the transport has been failed: nothing moves any more
  std::mutex drive_mutex_;           // one driver at a time where the callers drive
};

}  // namespace ringlet::runtime
