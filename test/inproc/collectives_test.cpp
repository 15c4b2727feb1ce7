// Every collective of a whole job of threads, against plain loops.
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "support/catch.hpp"
#include "support/gradients.hpp"
#include "support/job.hpp"

using namespace ringlet;
using coordinator::Kind;
using runtime::Operation;
using runtime::Runtime;
using test::job_settings;
using test::run_job;

namespace {

Operation operation(Kind kind, const std::string& name, TensorView tensor) {
  Operation op;
  op.kind = kind;
  op.name = name;
  op.input = tensor;
  return op;
}

/// Rows that rank r has for whatever has rows.
std::size_t rows_of(int rank) { return static_cast<std::size_t>(rank % 3); }

}  // namespace

TEST_CASE("all-reduce: averages, sums, scales, in place and out of place", "[inproc]") {
  const int ranks = GENERATE(1, 2, 3, 4, 7);
  CAPTURE(ranks);
  constexpr std::size_t n = 1000;
  const auto outputs = run_job(ranks, job_settings(), [&](Runtime& runtime) {
    std::vector<std::vector<float>> results;
    auto values = test::gradient(runtime.rank(), 0, 1, n);
    runtime.submit(test::allreduce_of("average", values)).wait();
    results.push_back(values);
    const auto constant = test::gradient(runtime.rank(), 0, 1, n);
    std::vector<float> out(n);
    Operation op = test::allreduce_of("scaled", constant);
    op.output = out;
    op.op = ReduceOp::sum;
    op.prescale = 2.0;
    op.postscale = 0.25;
    runtime.submit(op).wait();
    if (constant != test::gradient(runtime.rank(), 0, 1, n)) throw Error(ErrorCode::internal, "the input changed");
    results.push_back(out);
    return results;
  });
  for (const auto& results : outputs) REQUIRE(results == outputs[0]);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int r = 0; r < ranks; ++r) sum += test::value_at(r, 0, 1, i);
    REQUIRE(std::abs(outputs[0][0][i] - sum / ranks) < 1e-6);
    REQUIRE(std::abs(outputs[0][1][i] - sum / 2) < 1e-5);
  }
}

TEST_CASE("all-gather: rows differ by rank, also none", "[inproc]") {
  const int ranks = GENERATE(1, 2, 3, 5, 8);
  CAPTURE(ranks);
  const auto outputs = run_job(ranks, job_settings(), [&](Runtime& runtime) {
    const std::size_t rows = rows_of(runtime.rank());
    const std::vector<std::int32_t> mine(rows * 2, runtime.rank() + 1);
    return runtime.submit(operation(Kind::allgather, "rows", TensorView(mine.data(), Shape{rows, 2}))).take();
  });
  std::vector<std::int32_t> expected;
  std::vector<std::size_t> splits;
  for (int r = 0; r < ranks; ++r) {
    expected.insert(expected.end(), rows_of(r) * 2, r + 1);
    splits.push_back(rows_of(r));
  }
  for (const OwnedTensor& output : outputs) {
    REQUIRE(output.shape == Shape{expected.size() / 2, 2});
    REQUIRE(output.splits == splits);
    REQUIRE(std::equal(expected.begin(), expected.end(), output.as<std::int32_t>().begin(),
                       output.as<std::int32_t>().end()));
  }
}

TEST_CASE("broadcast from every root, large enough for several chunks", "[inproc]") {
  const int ranks = GENERATE(1, 2, 3, 4, 5, 8);
  const std::size_t n = GENERATE(0u, 1u, 300000u);
  CAPTURE(ranks, n);
  for (int root = 0; root < ranks; ++root) {
    const auto outputs = run_job(ranks, job_settings(), [&](Runtime& runtime) {
      auto values = test::gradient(runtime.rank(), 0, 9, n);
      Operation op = operation(Kind::broadcast, "weights", values);
      op.root = root;
      runtime.submit(op).wait();
      return values;
    });
    for (const auto& output : outputs) REQUIRE(output == test::gradient(root, 0, 9, n));
  }
}

TEST_CASE("reduce-scatter: each rank its rows, the first ranks one more", "[inproc]") {
  const int ranks = GENERATE(1, 2, 3, 5, 8);
  const std::size_t rows = GENERATE(0u, 1u, 7u, 16u);
  CAPTURE(ranks, rows);
  const auto outputs = run_job(ranks, job_settings(), [&](Runtime& runtime) {
    std::vector<std::int64_t> values(rows * 3);
    std::iota(values.begin(), values.end(), 100 * runtime.rank());
    Operation op = operation(Kind::reduce_scatter, "rows", TensorView(values.data(), Shape{rows, 3}));
    op.op = ReduceOp::sum;
    return runtime.submit(op).take();
  });
  std::size_t begin = 0;
  for (int r = 0; r < ranks; ++r) {
    const OwnedTensor& output = outputs[static_cast<std::size_t>(r)];
    const std::size_t mine = rows / static_cast<std::size_t>(ranks) +
                             (static_cast<std::size_t>(r) < rows % static_cast<std::size_t>(ranks) ? 1 : 0);
    REQUIRE(output.shape == Shape{mine, 3});
    for (std::size_t i = 0; i < mine * 3; ++i) {
      const auto expected = static_cast<std::int64_t>(begin + i) * ranks + 100 * (ranks * (ranks - 1) / 2);
      REQUIRE(output.as<std::int64_t>()[i] == expected);
    }
    begin += mine * 3;
  }
}

TEST_CASE("all-to-all with splits", "[inproc]") {
  const int ranks = GENERATE(1, 2, 3, 5, 8);
  CAPTURE(ranks);
  const auto outputs = run_job(ranks, job_settings(), [&](Runtime& runtime) {
    Operation op;
    std::vector<float> values;
    for (int to = 0; to < ranks; ++to) {
      op.splits.push_back(rows_of(runtime.rank() + to));
      values.insert(values.end(), rows_of(runtime.rank() + to), static_cast<float>(10 * runtime.rank() + to));
    }
    op.kind = Kind::alltoall;
    op.name = "exchange";
    op.input = values;
    return runtime.submit(op).take();
  });
  for (int me = 0; me < ranks; ++me) {
    std::vector<float> expected;
    for (int from = 0; from < ranks; ++from)
      expected.insert(expected.end(), rows_of(from + me), static_cast<float>(10 * from + me));
    const auto got = outputs[static_cast<std::size_t>(me)].as<float>();
    REQUIRE(std::vector<float>(got.begin(), got.end()) == expected);
  }
}

TEST_CASE("a barrier holds until the last rank comes", "[inproc]") {
  const int ranks = GENERATE(1, 2, 5);
  std::atomic<int> arrived{0};
  const auto seen = run_job(ranks, job_settings(), [&](Runtime& runtime) {
    Operation op;
    op.kind = Kind::barrier;
    ++arrived;
    runtime.submit(op).wait();
    return arrived.load();
  });
  for (const int count : seen) REQUIRE(count == ranks);
}

TEST_CASE("without a background thread, waiting makes the progress", "[inproc]") {
  Settings settings = job_settings();
  settings.progress = "call";
  const auto outputs = run_job(3, settings, [&](Runtime& runtime) {
    std::vector<std::vector<float>> values;
    std::vector<Handle> handles;
    for (std::uint64_t t = 0; t < 20; ++t) values.push_back(test::gradient(runtime.rank(), 0, t, 500 + t));
    for (std::uint64_t t = 0; t < 20; ++t)
      handles.push_back(runtime.submit(test::allreduce_of(fmt::format("t{}", t), values[t])));
    while (!handles[7].poll()) {
    }
    for (const Handle& handle : handles) handle.wait();
    return values;
  });
  REQUIRE(outputs[1] == outputs[0]);
  REQUIRE(outputs[2] == outputs[0]);
}
