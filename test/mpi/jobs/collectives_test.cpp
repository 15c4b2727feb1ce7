// Every collective, every dtype, every way to learn that one is complete; over real MPI.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

#include "ranks_agree.hpp"
#include "support/catch.hpp"
#include "support/gradients.hpp"

using namespace ringlet;
using test::Job;

namespace {

std::size_t unsigned_of(int value) { return static_cast<std::size_t>(value); }

/// Rows that rank r has for whatever has rows; one rank has none.
std::size_t rows_of(int rank) { return unsigned_of(rank % 3) * 5; }

/// The bits of the small whole numbers 0 to 4 in a dtype.
template <class T>
T small_number(int value) {
  constexpr std::uint16_t kFloat16[] = {0, 0x3C00, 0x4000, 0x4200, 0x4400},
                          kBfloat16[] = {0, 0x3F80, 0x4000, 0x4040, 0x4080};
  if constexpr (std::is_same_v<T, float16>)
    return {kFloat16[value]};
  else if constexpr (std::is_same_v<T, bfloat16>)
    return {kBfloat16[value]};
  else
    return static_cast<T>(value);
}

template <class T>
bool is_all(const std::vector<T>& values, int expected) {
  const T want = small_number<T>(expected);
  return std::all_of(values.begin(), values.end(),
                     [&](const T& v) { return std::memcmp(&v, &want, sizeof want) == 0; });
}

template <class T>
std::vector<T> filled(std::size_t n, int value) {
  return std::vector<T>(n, small_number<T>(value));
}

}  // namespace

TEMPLATE_TEST_CASE("all-reduce of every dtype by every op", "", float, double, float16, bfloat16, std::int8_t,
                   std::uint8_t, std::int32_t, std::int64_t) {
  const std::size_t n = GENERATE(1u, 65u, 30'001u);
  const Job job;
  const int ranks = hvd::size(), mine = hvd::rank() + 1 == ranks ? 3 : 1;  // the last rank has 3, the others 1
  const auto reduced = [&](ReduceOp op, int value) {
    auto values = filled<TestType>(n, value);
    hvd::allreduce(values, {.name = to_string(op), .op = op});
    return values;
  };
  CAPTURE(n, ranks, to_string(dtype_of<TestType>()));
  REQUIRE(is_all(reduced(ReduceOp::sum, 1), ranks));
  REQUIRE(is_all(reduced(ReduceOp::average, 2), 2));
  REQUIRE(is_all(reduced(ReduceOp::min, mine), ranks == 1 ? 3 : 1));
  REQUIRE(is_all(reduced(ReduceOp::max, mine), 3));
  REQUIRE(is_all(reduced(ReduceOp::product, mine), 3));
}

TEST_CASE("all-reduce of booleans: or and and") {
  const Job job;
  const bool last = hvd::rank() + 1 == hvd::size();
  std::array<bool, 100> any{}, all{};
  any.fill(last);
  all.fill(!last);
  hvd::allreduce(any, {.name = "or", .op = ReduceOp::sum});
  hvd::allreduce(all, {.name = "and", .op = ReduceOp::product});
  REQUIRE(std::all_of(any.begin(), any.end(), [](bool b) { return b; }));
  REQUIRE(std::none_of(all.begin(), all.end(), [](bool b) { return b; }));
}

TEST_CASE("all-reduce with scales, out of place") {
  const Job job;
  const std::vector<float> input(3000, static_cast<float>(hvd::rank() + 1));
  std::vector<float> output(3000);
  hvd::allreduce(input, {.name = "scaled", .op = ReduceOp::sum, .prescale = 2.0, .postscale = 0.25, .output = output});
  const int p = hvd::size();
  REQUIRE(output == std::vector<float>(3000, static_cast<float>(p * (p + 1) / 2) * 0.5F));
  REQUIRE(input[2999] == static_cast<float>(hvd::rank() + 1));
}

TEMPLATE_TEST_CASE("all-gather, rows differ by rank", "", float, double, float16, bfloat16, std::int8_t, std::uint8_t,
                   std::int32_t, std::int64_t, bool) {
  const Job job;
  const std::size_t rows = rows_of(hvd::rank());
  const auto memory = std::make_unique<TestType[]>(rows * 2 + 1);  // a vector<bool> is no memory of bools
  std::fill_n(memory.get(), rows * 2, small_number<TestType>(hvd::rank() % 2));
  const OwnedTensor all = hvd::allgather(TensorView(memory.get(), {rows, 2}), {.name = "rows"});
  const auto got = all.as<TestType>();
  std::size_t at = 0;
  for (int r = 0; r < hvd::size(); ++r) {
    REQUIRE(all.splits[unsigned_of(r)] == rows_of(r));
    const TestType want = small_number<TestType>(r % 2);
    for (std::size_t i = 0; i < rows_of(r) * 2; ++i, ++at) REQUIRE(std::memcmp(&got[at], &want, sizeof want) == 0);
  }
  REQUIRE(all.shape == Shape{at / 2, 2});
}

TEST_CASE("broadcast from every root") {
  const std::size_t n = GENERATE(0u, 1u, 1000u, 400'000u);
  const Job job;
  for (int root = 0; root < hvd::size(); ++root) {
    auto values = test::gradient(hvd::rank(), 0, 9, n);
    hvd::broadcast(values, {.name = "weights", .root = root});
    REQUIRE(test::hash_of(values) == test::hash_of(test::gradient(root, 0, 9, n)));
  }
}

TEST_CASE("reduce-scatter: each rank its rows, the first ranks one more") {
  const std::size_t rows = GENERATE(0u, 1u, 7u, 4001u);
  const Job job;
  const auto p = unsigned_of(hvd::size()), me = unsigned_of(hvd::rank());
  std::vector<std::int64_t> values(rows * 3);
  std::iota(values.begin(), values.end(), 100 * hvd::rank());
  const OwnedTensor mine =
      hvd::reduce_scatter(TensorView(values.data(), {rows, 3}), {.name = "rows", .op = ReduceOp::sum});
  const std::size_t count = rows / p + (me < rows % p ? 1 : 0), begin = me * (rows / p) + std::min(me, rows % p);
  REQUIRE(mine.shape == Shape{count, 3});
  const auto got = mine.as<std::int64_t>();
  std::vector<std::int64_t> expected(count * 3);
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = static_cast<std::int64_t>((begin * 3 + i) * p + 100 * (p * (p - 1) / 2));
  REQUIRE(std::vector<std::int64_t>(got.begin(), got.end()) == expected);
}

TEST_CASE("all-to-all with splits, some of them empty") {
  const Job job;
  const int p = hvd::size(), me = hvd::rank();
  std::vector<std::size_t> splits;
  std::vector<float> values, expected;
  for (int r = 0; r < p; ++r) {
    splits.push_back(rows_of(me + r));
    values.insert(values.end(), rows_of(me + r), static_cast<float>(10 * me + r));
    expected.insert(expected.end(), rows_of(r + me), static_cast<float>(10 * r + me));
  }
  const OwnedTensor got = hvd::alltoall(values, {.name = "exchange", .splits = splits});
  const auto floats = got.as<float>();
  REQUIRE(std::vector<float>(floats.begin(), floats.end()) == expected);
  REQUIRE(got.splits == splits);  // rows_of(r + me) is symmetric
}

TEST_CASE("a barrier holds until the last rank comes") {
  const Job job;
  const bool late = hvd::rank() + 1 == hvd::size();
  double came = 0;
  if (late) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    came = MPI_Wtime();
  }
  hvd::barrier();
  const double left = MPI_Wtime();  // one clock on one host
  MPI_Bcast(&came, 1, MPI_DOUBLE, hvd::size() - 1, MPI_COMM_WORLD);
  REQUIRE(left >= came);
}

TEST_CASE("callbacks are called once, may enqueue, and precede the waiter; polling sees completion") {
  const Job job;
  std::vector<float> a(5000, 1.0F), b(5000, 2.0F), c(5000, 3.0F);
  std::atomic<int> called{0};
  std::atomic<bool> chained{false};
  hvd::Handle second;
  const auto first = hvd::allreduce_async(a, {.name = "a"});
  first.on_complete([&](const hvd::Error* error) {
    if (error == nullptr) ++called;
    second = hvd::allreduce_async(b, {.name = "b", .op = ReduceOp::sum});
    chained = true;
  });
  first.wait();
  while (!chained) std::this_thread::yield();  // at once, where it was complete before
  second.wait();
  REQUIRE(called == 1);
  REQUIRE(b[4999] == static_cast<float>(2 * hvd::size()));
  const auto third = hvd::allreduce_async(c, {.name = "c"});
  while (!third.poll()) std::this_thread::yield();
  third.wait();
  REQUIRE(c[0] == 3.0F);
  first.on_complete([&](const hvd::Error*) { ++called; });
  REQUIRE(called == 2);
}

TEST_CASE("unnamed tensors meet in the order of the calls") {
  const Job job;
  std::vector<std::vector<float>> values;
  std::vector<hvd::Handle> handles;
  for (int t = 0; t < 10; ++t) values.emplace_back(100 + t, static_cast<float>(t));
  for (auto& tensor : values) handles.push_back(hvd::allreduce_async(tensor));
  for (const auto& handle : handles) handle.wait();
  for (std::size_t t = 0; t < 10; ++t) REQUIRE(values[t] == std::vector<float>(100 + t, static_cast<float>(t)));
}

TEST_CASE("ranks know their place") {
  const Job job;
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REQUIRE((hvd::rank() == rank && hvd::size() == size));
  REQUIRE((hvd::local_rank() == rank && hvd::local_size() == size));  // one host
  REQUIRE((hvd::cross_rank() == 0 && hvd::cross_size() == 1));
}
