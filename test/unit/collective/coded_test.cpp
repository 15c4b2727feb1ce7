// Every schedule over encoded elements: replicas agree, nothing is lost, company does not matter, runs repeat.
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "base/hash.hpp"
#include "collective/coded_operand.hpp"
#include "collective/selector.hpp"
#include "collective/sparse.hpp"
#include "compress/registry.hpp"
#include "support/catch.hpp"
#include "support/drive.hpp"
#include "support/gradients.hpp"

using namespace ringlet;
using namespace ringlet::collective;
using test::drive;

namespace {

constexpr Tag kTag = transport::kFirstDataTag;
constexpr Schedule kSchedules[] = {Schedule::scatter_reduce, Schedule::ring, Schedule::tree, Schedule::doubling,
                                   Schedule::all_gather};
const std::vector<std::size_t> kSizes{0, 1, 2, 7, 63, 64, 65, 511, 512, 513, 5003};

/// What a rank is left with after some steps: each tensor's results by step, and its residual.
struct Outcome {
  std::vector<std::vector<std::vector<float>>> outputs;  // [step][tensor]
  std::vector<std::vector<float>> residuals;             // [tensor]
};

struct Job {
  std::string spec;
  Schedule schedule = Schedule::scatter_reduce;
  int ranks = 2;
  int steps = 3;
  std::size_t chunk_bytes = 4096;
  std::size_t lanes = 2;
  bool in_place = false;
  double factor = 1.0;
};

/// One rank: all-reduces (as a sum) the tensors numbered `which`, all in one bucket, step after step.
Outcome run_rank(Transport& net, const Job& job, const std::vector<std::size_t>& which) {
  const auto compressor = compress::Registry().make(job.spec);
  BufferPool pool;
  test::FailTransport alarm(net);
  Outcome outcome;
  std::vector<Extent> extents;
  for (const std::size_t t : which) {
    outcome.residuals.emplace_back(kSizes[t]);
    extents.push_back({kSizes[t], name_hash("tensor" + std::to_string(t))});
  }
  for (int step = 0; step < job.steps; ++step) {
    std::vector<std::vector<float>> inputs, outputs;
    std::vector<CodedTensor> tensors;
    for (const std::size_t t : which) {
      inputs.push_back(test::gradient(net.rank(), step, t, kSizes[t]));
      outputs.emplace_back(kSizes[t], -7.0F);
    }
    for (std::size_t i = 0; i < which.size(); ++i) {
      float* residual = compressor->error_feedback() ? outcome.residuals[i].data() : nullptr;
      float* output = job.in_place ? inputs[i].data() : outputs[i].data();
      tensors.push_back({inputs[i].data(), residual, output, extents[i].hash, static_cast<std::uint64_t>(step)});
    }
    const auto untouched = inputs;
    if (compressor->family() == compress::Family::sparse) {
      CodecTimes times;
      const SparseBucket bucket{
          &dynamic_cast<const compress::Sparsifier&>(*compressor), extents, tensors, 1.0, job.factor, 5};
      drive(net, sparse_all_gather(net, bucket, pool, kTag, times));
    } else {
      CodedOperand operand;
      operand.open(extents, tensors, job.chunk_bytes,
                   {&dynamic_cast<const compress::Codec&>(*compressor), 1.0, job.factor, 5, net.size(), net.rank()});
      const Exchange exchange{net, operand, pool, alarm, kTag, job.lanes};
      drive(net, run(job.schedule, exchange));
    }
    if (!job.in_place && inputs != untouched) throw Error(ErrorCode::internal, "an input changed");
    outcome.outputs.push_back(job.in_place ? inputs : outputs);
  }
  return outcome;
}

std::vector<Outcome> run_job(const Job& job, const std::vector<std::size_t>& which) {
  return test::run_connected(job.ranks, [&](Transport& net) { return run_rank(net, job, which); });
}

std::vector<std::size_t> all_tensors() {
  std::vector<std::size_t> which(kSizes.size());
  std::iota(which.begin(), which.end(), std::size_t{0});
  return which;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

/// Largest |sum of gradients over steps and ranks - (sum of results + sum of residuals)|.
double lost(const Job& job, const std::vector<Outcome>& outcomes, const std::vector<std::size_t>& which) {
  double worst = 0;
  for (std::size_t t = 0; t < which.size(); ++t) {
    for (std::size_t i = 0; i < kSizes[which[t]]; ++i) {
      double gradients = 0, accounted = 0;
      for (int r = 0; r < job.ranks; ++r) {
        for (int step = 0; step < job.steps; ++step) gradients += test::value_at(r, step, which[t], i);
        accounted += outcomes[static_cast<std::size_t>(r)].residuals[t][i];
      }
      for (const auto& step : outcomes[0].outputs) accounted += step[t][i];
      worst = std::max(worst, std::abs(gradients - accounted));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("encoded sums: replicas agree, nothing is lost, fusion does not matter, runs repeat", "[collective]") {
  const auto spec = GENERATE(
      values<std::string>({"fp16", "bf16", "fp16(ef=on)", "bf16(ef=on)", "qsgd(bits=2)", "qsgd(bits=4)", "qsgd(bits=8)",
                           "qsgd(bits=3,bucket=48,norm=minmax)", "qsgd(bits=8,norm=l2)", "topk(ratio=0.05)"}));
  const Schedule schedule = GENERATE(from_range(std::begin(kSchedules), std::end(kSchedules)));
  const int ranks = GENERATE(2, 3, 4, 5, 7, 8);
  const bool sparse = spec.starts_with("topk");
  if (sparse && schedule != Schedule::all_gather) return;  // the one exchange of its family so far
  CAPTURE(spec, to_string(schedule), ranks);
  const auto compressor = compress::Registry().make(spec);

  Job job{spec, schedule, ranks};
  const auto which = all_tensors();
  const auto fused = run_job(job, which);
  for (const Outcome& outcome : fused) {
    for (int step = 0; step < job.steps; ++step) {
      for (std::size_t t = 0; t < which.size(); ++t) {
        REQUIRE(same_bits(outcome.outputs[static_cast<std::size_t>(step)][t],
                          fused[0].outputs[static_cast<std::size_t>(step)][t]));
      }
    }
  }
  if (compressor->error_feedback()) REQUIRE(lost(job, fused, which) < 1e-4);

  // Other chunks, other lanes, other order in the bucket, in place: the same bits, residuals included.
  Job other = job;
  other.chunk_bytes = 1 << 20;
  other.lanes = 1;
  other.in_place = true;
  const std::vector<std::size_t> reversed(which.rbegin(), which.rend());
  const auto shuffled = run_job(other, reversed);
  for (std::size_t r = 0; r < fused.size(); ++r) {
    for (std::size_t t = 0; t < which.size(); ++t) {
      const std::size_t u = which.size() - 1 - t;
      REQUIRE(same_bits(fused[r].residuals[t], shuffled[r].residuals[u]));
      for (std::size_t step = 0; step < 3; ++step)
        REQUIRE(same_bits(fused[r].outputs[step][t], shuffled[r].outputs[step][u]));
    }
  }
  for (const std::size_t t : {std::size_t{6}, std::size_t{9}, std::size_t{10}}) {  // each alone
    const auto alone = run_job(job, {t});
    for (std::size_t step = 0; step < 3; ++step)
      REQUIRE(same_bits(alone[0].outputs[step][0], fused[0].outputs[step][t]));
  }
}

TEST_CASE("encoded averages come near the true ones", "[collective]") {
  const auto spec = GENERATE(values<std::string>({"fp16", "bf16", "qsgd(bits=8)", "qsgd(bits=4)"}));
  const Schedule schedule = GENERATE(from_range(std::begin(kSchedules), std::end(kSchedules)));
  const int ranks = GENERATE(2, 4, 7);
  CAPTURE(spec, to_string(schedule), ranks);
  Job job{spec, schedule, ranks, 1};
  job.factor = 1.0 / ranks;
  const auto outcomes = run_job(job, {10});
  // An encoding errs by at most one step of the largest value in its grain, a cast by half an ulp; a sum is at most P,
  // and at most P + log2 P encodings lie on the longest path.
  const double step = spec == "fp16" ? 0x1p-11 : spec == "bf16" ? 0x1p-8 : spec == "qsgd(bits=8)" ? 1.0 / 127 : 1.0 / 7;
  const double bound = step * (ranks + 2);
  double worst = 0, square = 0, power = 0;
  for (std::size_t i = 0; i < kSizes[10]; ++i) {
    double mean = 0;
    for (int r = 0; r < ranks; ++r) mean += static_cast<double>(test::value_at(r, 0, 10, i)) / ranks;
    const double error = static_cast<double>(outcomes[0].outputs[0][0][i]) - mean;
    worst = std::max(worst, std::abs(error));
    square += error * error;
    power += mean * mean;
  }
  REQUIRE(worst <= bound);
  REQUIRE(std::sqrt(square / power) <= bound * 2);
}

TEST_CASE("fp16 sums neither overflow nor flush", "[collective]") {
  const Schedule schedule = GENERATE(from_range(std::begin(kSchedules), std::end(kSchedules)));
  const float value = GENERATE(30000.0F, 65504.0F, 6.0e-5F);
  CAPTURE(to_string(schedule), value);
  const auto compressor = compress::Registry().make("fp16");
  const auto outputs = test::run_connected(4, [&](Transport& net) {
    BufferPool pool;
    test::FailTransport alarm(net);
    std::vector<float> values(100, value);
    CodedOperand operand;
    const std::vector<Extent> extents{{100, 1}};
    const std::vector<CodedTensor> tensors{{values.data(), nullptr, values.data(), 1, 0}};
    operand.open(extents, tensors, 4096,
                 {&dynamic_cast<const compress::Codec&>(*compressor), 1.0, 0.25, 0, 4, net.rank()});
    const Exchange exchange{net, operand, pool, alarm, kTag, 1};
    drive(net, run(schedule, exchange));
    return values;
  });
  for (const auto& output : outputs) {
    for (const float got : output) REQUIRE(got == Approx(value).epsilon(value < 1 ? 0.005 : 0.001));
  }
}
