// Every schedule over plain elements: the right sum, the same bits on every rank, alone or fused, in place or not.
#include <cmath>
#include <cstring>

#include "base/dtype.hpp"
#include "base/reduction.hpp"
#include "collective/raw_operand.hpp"
#include "collective/selector.hpp"
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
constexpr std::size_t kSizes[] = {0, 1, 2, 7, 63, 64, 65, 511, 512, 513, 100003};

struct Job {
  Schedule schedule;
  int ranks;
  DType dtype = DType::float32;
  ReduceOp op = ReduceOp::sum;
  std::size_t chunk_bytes = 4096;
  std::size_t lanes = 2;
  bool in_place = true;
};

/// All-reduces each rank's packed bucket and returns the outputs by rank.
std::vector<std::vector<std::byte>> all_reduce(const Job& job, const std::vector<Extent>& extents,
                                               const std::vector<std::vector<std::byte>>& inputs) {
  return test::run_connected(job.ranks, [&](Transport& net) {
    BufferPool pool;
    test::FailTransport alarm(net);
    std::vector<std::byte> input = inputs[static_cast<std::size_t>(net.rank())];
    std::vector<std::byte> output = job.in_place ? std::vector<std::byte>() : std::vector<std::byte>(input.size());
    std::byte* out = job.in_place ? input.data() : output.data();
    RawOperand operand;
    operand.open(extents, job.chunk_bytes, {job.dtype, job.op, 1.0, job.ranks, net.rank()}, input.data(), out);
    const Exchange exchange{net, operand, pool, alarm, kTag, job.lanes};
    drive(net, run(job.schedule, exchange));
    return job.in_place ? input : output;
  });
}

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<float> floats_of(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T>
std::vector<T> small_numbers(int rank, std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto number = static_cast<int>(test::mix(i * 31 + static_cast<std::uint64_t>(rank)) % 5) - 1;
    if constexpr (std::is_same_v<T, float16>)
      values[i] = to_float16(static_cast<float>(number));
    else if constexpr (std::is_same_v<T, bfloat16>)
      values[i] = to_bfloat16(static_cast<float>(number));
    else if constexpr (std::is_same_v<T, bool>)
      values[i] = number > 0;
    else
      values[i] = static_cast<T>(number);
  }
  return values;
}

template <class T>
double number(T value) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
    return to_float(value);
  else
    return static_cast<double>(value);
}

/// The plain loop: what one element must come out as.
double oracle(ReduceOp op, DType dtype, const std::vector<double>& values) {
  double result = values[0];
  for (std::size_t r = 1; r < values.size(); ++r) {
    switch (op) {
      case ReduceOp::min:
        result = std::min(result, values[r]);
        break;
      case ReduceOp::max:
        result = std::max(result, values[r]);
        break;
      case ReduceOp::product:
        result *= values[r];
        break;
      default:
        result += values[r];
    }
  }
  if (op == ReduceOp::average) result /= static_cast<double>(values.size());
  if (dtype == DType::boolean) return result != 0.0 ? 1.0 : 0.0;
  if (!is_floating(dtype)) return std::trunc(result);
  return result;
}

}  // namespace

TEST_CASE("plain sums are right, and the same bits on every rank, alone and fused", "[collective]") {
  const Schedule schedule = GENERATE(from_range(std::begin(kSchedules), std::end(kSchedules)));
  const int ranks = GENERATE(1, 2, 3, 4, 5, 7, 8);
  CAPTURE(to_string(schedule), ranks);
  std::vector<std::vector<float>> alone;  // each size's result, for the fused run to match
  for (const std::size_t n : kSizes) {
    CAPTURE(n);
    std::vector<std::vector<std::byte>> inputs;
    for (int r = 0; r < ranks; ++r) inputs.push_back(bytes_of(test::gradient(r, 0, n, n)));
    Job job{schedule, ranks};
    const auto in_place = all_reduce(job, {{n, n}}, inputs);
    job.in_place = false;
    job.lanes = 3;
    job.chunk_bytes = 64 << 10;
    const auto out_of_place = all_reduce(job, {{n, n}}, inputs);
    for (int r = 0; r < ranks; ++r) {
      REQUIRE(in_place[static_cast<std::size_t>(r)] == in_place[0]);
      REQUIRE(out_of_place[static_cast<std::size_t>(r)] == in_place[0]);
    }
    const auto result = floats_of(in_place[0]);
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int r = 0; r < ranks; ++r) sum += test::value_at(r, 0, n, i);
      worst = std::max(worst, std::abs(sum - result[i]));
    }
    REQUIRE(worst <= 1e-6 * ranks);
    if (schedule != Schedule::ring) {  // the one canonical order, whatever the schedule
      std::vector<const void*> sources;
      for (const auto& input : inputs) sources.push_back(input.data());
      std::vector<std::byte> canonical(inputs[0].size());
      sum_pairwise(DType::float32, ReduceOp::sum, sources, canonical.data(), n);
      REQUIRE(canonical == in_place[0]);
    }
    alone.push_back(result);
  }

  // The same tensors packed into one bucket.
  std::vector<Extent> extents;
  for (const std::size_t n : kSizes) extents.push_back({n, n});
  Layout layout;
  layout.build(extents, {ranks, 16, 1024});
  const auto packed = [&](auto value) {
    std::vector<float> bucket;
    for (const auto& chunk : layout.chunks()) {
      for (const auto& piece : layout.pieces(chunk)) {
        for (std::size_t i = 0; i < piece.elements; ++i) bucket.push_back(value(piece.tensor, piece.tensor_offset + i));
      }
    }
    return bucket;
  };
  std::vector<std::vector<std::byte>> inputs;
  for (int r = 0; r < ranks; ++r) {
    inputs.push_back(
        bytes_of(packed([&](std::size_t t, std::size_t i) { return test::value_at(r, 0, kSizes[t], i); })));
  }
  const auto fused = all_reduce({schedule, ranks}, extents, inputs);
  const auto expected = bytes_of(packed([&](std::size_t t, std::size_t i) { return alone[t][i]; }));
  for (const auto& output : fused) REQUIRE(output == expected);
}

TEST_CASE("every dtype under every op gives what a plain loop gives", "[collective]") {
  const Schedule schedule = GENERATE(from_range(std::begin(kSchedules), std::end(kSchedules)));
  const int ranks = GENERATE(2, 3, 4);
  const auto dtype = static_cast<DType>(GENERATE(range(0, 9)));
  CAPTURE(to_string(schedule), ranks, to_string(dtype));
  constexpr std::size_t n = 333;
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average, ReduceOp::min, ReduceOp::max, ReduceOp::product}) {
    if (op == ReduceOp::average && dtype == DType::boolean) continue;
    const bool hop_by_hop = schedule != Schedule::scatter_reduce && schedule != Schedule::all_gather;
    if (op == ReduceOp::average && !is_floating(dtype) && hop_by_hop) continue;  // the runtime does not run these
    CAPTURE(to_string(op));
    with_type(dtype, [&]<class T>() {
      std::vector<std::vector<std::byte>> inputs;
      for (int r = 0; r < ranks; ++r) {
        inputs.emplace_back(n * sizeof(T));
        const auto values = small_numbers<T>(r, n);
        for (std::size_t i = 0; i < n; ++i) {
          const T value = values[i];
          std::memcpy(inputs.back().data() + i * sizeof(T), &value, sizeof(T));
        }
      }
      const auto outputs = all_reduce({schedule, ranks, dtype, op}, {{n, 3}}, inputs);
      for (const auto& output : outputs) REQUIRE(output == outputs[0]);
      double worst = 0;
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> values;
        for (int r = 0; r < ranks; ++r) values.push_back(number<T>(small_numbers<T>(r, n)[i]));
        if (dtype == DType::uint8) {
          for (double& v : values) v = v < 0 ? v + 256 : v;
        }
        double expected = oracle(op, dtype, values);
        T got;
        std::memcpy(&got, outputs[0].data() + i * sizeof(T), sizeof(T));
        if (dtype == DType::uint8 && op != ReduceOp::average) expected = std::fmod(expected, 256.0);
        worst = std::max(worst, std::abs(expected - number<T>(got)) / std::max(1.0, std::abs(expected)));
      }
      REQUIRE(worst <= (dtype == DType::bfloat16 ? 0.01 : dtype == DType::float16 ? 0.001 : 1e-6));
    });
  }
}
