#include <memory>
#include <span>
#include <string>
#include <vector>

#include "allocation_count.hpp"
#include "coordinator/coordinator.hpp"
#include "support/catch.hpp"
#include "transport/inproc.hpp"

using namespace ringlet;

namespace {

struct QuietListener final : coordinator::Listener {
  coordinator::Coordinator* coordinator = nullptr;
  std::size_t tensors = 0;
  bool ended = false;

  void run_bucket(std::uint64_t sequence, std::span<const coordinator::TensorId> ids) override {
    tensors += ids.size();
    coordinator->bucket_done(sequence);
  }
  void fail_tensor(coordinator::TensorId, const Error&) override { ended = true; }
  void peer_left(int) override {}
  void lost(const Error&) override { ended = true; }
  void closed() override { ended = true; }
};

}  // namespace

TEST_CASE("the steady state allocates nothing") {
  constexpr std::size_t kRanks = 7, kTensors = 100, kWarmUp = 5, kSteps = 20;
  const auto nets = transport::inproc_transports(static_cast<int>(kRanks));
  std::vector<QuietListener> listeners(kRanks);
  std::vector<std::unique_ptr<coordinator::Coordinator>> ranks;
  for (std::size_t r = 0; r < kRanks; ++r) {
    ranks.push_back(std::make_unique<coordinator::Coordinator>(*nets[r], Settings{}, listeners[r]));
    listeners[r].coordinator = ranks[r].get();
  }
  std::vector<coordinator::Request> requests(kTensors);
  for (std::size_t i = 0; i < kTensors; ++i) {
    requests[i].name = "a.name.that.no.string.holds.without.memory." + std::to_string(i);
    requests[i].shape = {i};
    if (i % 3 == 0) requests[i].op = ReduceOp::sum;
  }
  // One thread drives all ranks, so that every step is the same as the one before.
  const auto turn = [&] {
    for (const auto& net : nets) net->progress();
  };
  const auto step = [&](std::size_t done) {
    for (std::size_t r = 0; r < kRanks; ++r) {
      for (std::size_t i = 0; i < kTensors; ++i) ranks[r]->ready(static_cast<std::uint32_t>(i), requests[i]);
      ranks[r]->flush();
    }
    for (int i = 0; i < 1000 && listeners.back().tensors < done; ++i) turn();
    for (const auto& rank : ranks) rank->tick();
    for (int i = 0; i < 20; ++i) turn();
  };
  for (std::size_t i = 1; i <= kWarmUp; ++i) step(i * kTensors);
  const std::size_t before = test::allocation_count();
  for (std::size_t i = kWarmUp + 1; i <= kWarmUp + kSteps; ++i) step(i * kTensors);
  const std::size_t made = test::allocation_count() - before;
  CHECK(made == 0);
  CHECK(before > 0);
  for (const QuietListener& listener : listeners) CHECK(listener.tensors == (kWarmUp + kSteps) * kTensors);
  for (const auto& net : nets) net->fail(Error(ErrorCode::internal, "the test is over"));
  turn();
  for (const QuietListener& listener : listeners) CHECK(listener.ended);
}
