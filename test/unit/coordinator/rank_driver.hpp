#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "coordinator/coordinator.hpp"
#include "support/ranks.hpp"
#include "transport/inproc.hpp"

namespace ringlet::test {

using coordinator::Coordinator;
using coordinator::Kind;
using coordinator::Request;
using coordinator::TensorId;
using namespace std::chrono_literals;

/// What one rank was told, tensors by name.
struct Record {
  std::vector<std::vector<std::string>> buckets;
  std::vector<std::pair<std::string, std::string>> failures;  // name, text
  std::vector<std::pair<std::size_t, int>> left;              // after how many buckets, who
  std::vector<std::string> lost;
  std::vector<ErrorCode> lost_codes;
  std::vector<std::string> warnings;
  int closed = 0;
  std::uint64_t hits = 0, misses = 0, control_sent = 0, control_received = 0;
  std::string problem;

  bool operator==(const Record&) const = default;
};

/// One rank: a coordinator, a listener that writes down what it is told, and the loop of a runtime. Lives on its rank's
/// thread.
class RankDriver final : public coordinator::Listener {
 public:
  RankDriver(transport::Transport& net, const Settings& settings) : net_(net), coordinator_(net, settings, *this) {}

  int rank() const { return net_.rank(); }
  Coordinator& coordinator() { return coordinator_; }
  transport::Transport& net() { return net_; }
  Record& record() { return record_; }
  std::size_t pending() const { return pending_; }
  bool is_lost() const { return !record_.lost.empty(); }

  void ready(const Request& request) {
    const auto id = static_cast<TensorId>(names_.size());
    names_.push_back(request.name);
    ++pending_;
    coordinator_.ready(id, request);
  }

  /// Drives until `done()`, the job is lost, or `limit` has passed; the latter is a problem.
  template <class Done>
  void run_until(Done done, std::chrono::milliseconds limit = 30s) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!done() && !is_lost()) {
      if (std::chrono::steady_clock::now() > end) {
        record_.problem = "rank " + std::to_string(rank()) + " waited in vain";
        return;
      }
      turn();
    }
  }
  void run_until_idle() {
    coordinator_.flush();
    run_until([&] { return pending_ == 0; });
  }
  void run_for(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) turn();
  }

  /// Leaves, waits for the others and for the coordinator's coroutines.
  Record finish() {
    coordinator_.leave();
    coordinator_.flush();
    run_until([&] { return record_.closed > 0; });
    return wind_up();
  }
  /// Ends without the others' consent.
  Record wind_up() {
    if (record_.closed == 0) {
      if (!net_.failed()) run_for(50ms);  // lets the bad news out
      net_.fail(Error(ErrorCode::internal, "the test is over"));
    }
    TaskScope scope;
    scope.spawn(coordinator_.join());
    run_loop([&] { return scope.running() == 0; });
    record_.hits = coordinator_.cache_hits();
    record_.misses = coordinator_.cache_misses();
    record_.control_sent = net_.traffic().control_sent;
    record_.control_received = net_.traffic().control_received;
    return std::move(record_);
  }

  /// Called for every bucket instead of reporting it done at once.
  std::function<void(std::uint64_t sequence)> on_bucket;
  std::function<void()> on_failure;

  void run_bucket(std::uint64_t sequence, std::span<const TensorId> tensors) override {
    if (sequence != record_.buckets.size()) record_.problem = "buckets are not numbered in sequence";
    auto& bucket = record_.buckets.emplace_back();
    for (const TensorId id : tensors) bucket.push_back(names_[id]);
    pending_ -= tensors.size();
    on_bucket ? on_bucket(sequence) : coordinator_.bucket_done(sequence);
  }
  void fail_tensor(TensorId tensor, const Error& why) override {
    record_.failures.emplace_back(names_[tensor], why.what());
    if (why.code() != ErrorCode::mismatch) record_.problem = "a tensor failed with another code than mismatch";
    --pending_;
    if (on_failure) on_failure();
  }
  void peer_left(int rank) override { record_.left.emplace_back(record_.buckets.size(), rank); }
  void lost(const Error& why) override {
    record_.lost.emplace_back(why.what());
    record_.lost_codes.push_back(why.code());
  }
  void closed() override { ++record_.closed; }

 private:
  void turn() {
    if (!net_.progress()) net_.wait(2ms);
    for (auto& warning : coordinator_.tick()) record_.warnings.push_back(std::move(warning));
  }
  template <class Done>
  void run_loop(Done done) {
    const auto end = std::chrono::steady_clock::now() + 30s;
    while (!done()) {
      if (!net_.progress()) net_.wait(2ms);
      if (std::chrono::steady_clock::now() < end) continue;
      record_.problem = "the coordinator does not end";
      net_.fail(Error(ErrorCode::timeout, record_.problem));
    }
  }

  transport::Transport& net_;
  Record record_;
  std::vector<std::string> names_;
  std::size_t pending_ = 0;
  Coordinator coordinator_;
};

/// Settings for tests: timeouts long enough for a slow machine, and nothing stalls by accident.
inline Settings test_settings() {
  Settings settings;
  settings.timeout = 30s;
  settings.stall_warning = 0ms;
  return settings;
}

/// Runs `body(driver)` on a thread a rank; the records come back in rank order.
inline std::vector<Record> run_job(int ranks, const Settings& settings,
                                   const std::function<Record(RankDriver&)>& body) {
  const auto nets = transport::inproc_transports(ranks);
  return run_ranks(ranks, [&](int rank) {
    RankDriver driver(*nets[static_cast<std::size_t>(rank)], settings);
    return body(driver);
  });
}

inline Request summand(std::string name, Shape shape = {16}) {
  Request r;
  r.name = std::move(name);
  r.shape = shape;
  return r;
}

}  // namespace ringlet::test
