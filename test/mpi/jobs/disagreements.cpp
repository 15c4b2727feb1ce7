// The ranks disagree about one tensor: it fails alone, with one text on every rank, and the job goes on.
#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "modes.hpp"

namespace ringlet::test {
namespace {

/// Ends well when every rank has the same text; rank 0 says it.
void tell_common_text(const std::string& text) {
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const hvd::OwnedTensor all = hvd::allgather(bytes, {.name = "texts"});
  std::string repeated;
  for (int r = 0; r < hvd::size(); ++r) repeated += text;
  const std::string_view gathered(reinterpret_cast<const char*>(all.memory.data()), all.memory.size());
  expect(gathered == repeated, fmt::format("rank {} has \"{}\", all have \"{}\"", hvd::rank(), text, gathered));
  if (hvd::rank() == 0) hear(0, text);
}

void disagree(const std::function<void(bool odd)>& call) {
  std::vector<float> companion(2000, static_cast<float>(hvd::rank()));
  const auto good = hvd::allreduce_async(companion, {.name = "companion"});
  const std::string text = error_of([&] { call(hvd::rank() == kCulprit); });
  good.wait();
  expect(companion[1999] == static_cast<float>(hvd::size() - 1) / 2, "the companion's average");
  tell_common_text(text);
}

int mismatches() {
  hvd::init();
  std::vector<float> values(2000, 1.0F);
  std::vector<double> doubles(2000, 1.0);
  disagree([&](bool odd) {
    hvd::allreduce(hvd::TensorView(values.data(), odd ? hvd::Shape{20, 100} : hvd::Shape{2000}), {.name = "by shape"});
  });
  disagree([&](bool odd) {
    hvd::allreduce(odd ? hvd::TensorView(doubles) : hvd::TensorView(values), {.name = "by dtype"});
  });
  disagree([&](bool odd) {
    hvd::allreduce(values, {.name = "by op", .op = odd ? hvd::ReduceOp::max : hvd::ReduceOp::sum});
  });
  disagree([&](bool odd) { hvd::broadcast(values, {.name = "by root", .root = odd ? 1 : 0}); });
  disagree([&](bool odd) {
    hvd::allreduce(values, {.name = "by compression", .compression = odd ? "topk(ratio=0.1)" : "qsgd(bits=4)"});
  });
  disagree([&](bool odd) {
    if (odd) return hvd::broadcast(values, {.name = "by kind"});
    hvd::allreduce(values, {.name = "by kind"});
  });
  expect_a_working_job("by shape");  // the names are free again
  hvd::shutdown();
  return 0;
}

int duplicate_name() {
  hvd::init();
  std::vector<float> first(100, static_cast<float>(hvd::rank())), second(100);
  if (hvd::rank() == 0) {
    const auto handle = hvd::allreduce_async(first, {.name = "twice"});
    hear(0, error_of([&] { hvd::allreduce_async(second, {.name = "twice"}); }));
    hvd::barrier({.name = "refused"});
    handle.wait();
  } else {
    hvd::barrier({.name = "refused"});
    hvd::allreduce(first, {.name = "twice"});
  }
  expect(first[99] == static_cast<float>(hvd::size() - 1) / 2, "the first call's result");
  expect_a_working_job("twice");
  hvd::shutdown();
  return 0;
}

/// On one rank only: the others must not notice.
int callback_throws() {
  hvd::init();
  std::vector<float> values(100, 1.0F);
  const auto handle = hvd::allreduce_async(values, {.name = "called back"});
  if (hvd::rank() == kCulprit) {
    handle.on_complete([](const hvd::Error*) { throw std::runtime_error("planted in the callback"); });
    hear(kCulprit, error_of([&] { handle.wait(); }));
  } else {
    handle.wait();
  }
  expect_a_working_job("called back");
  hvd::shutdown();
  return 0;
}

/// One model's worth of tensors with a gradient of another shape on one rank; the optimizer's error comes before
/// anything is applied.
int optimizer_mismatch() {
  hvd::init();
  const bool odd = hvd::rank() == kCulprit;
  std::vector<float> weights(60, 1.0F), gradient(60, 1.0F);
  const hvd::Shape shape = odd ? hvd::Shape{6, 10} : hvd::Shape{60};
  hvd::DistributedOptimizer optimizer({{"conv", {weights.data(), shape}, {gradient.data(), shape}}}, {});
  hear(hvd::rank(), error_of([&] { optimizer.broadcast_parameters(); }));
  hear(hvd::rank(), error_of([&] { optimizer.step(); }));
  expect(weights == std::vector<float>(60, 1.0F), "the weights, which nothing was to be applied to");
  expect_a_working_job();
  hvd::shutdown();
  return 0;
}

constexpr std::array kModes{Mode{"mismatch", mismatches}, Mode{"duplicate", duplicate_name},
                            Mode{"callback", callback_throws}, Mode{"optimizer-mismatch", optimizer_mismatch}};

}  // namespace

std::span<const Mode> disagreement_modes() { return kModes; }

}  // namespace ringlet::test
