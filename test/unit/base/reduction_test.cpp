#include "base/reduction.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "base/dtype.hpp"
#include "ringlet/error.hpp"
#include "support/catch.hpp"

using namespace ringlet;

namespace {

constexpr DType kDTypes[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int8,
                             DType::uint8,   DType::int32,   DType::int64,   DType::boolean};
constexpr ReduceOp kOps[] = {ReduceOp::average, ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::product};

template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <class T>
constexpr bool kIsInteger = std::is_integral_v<T>;

/// Elements of T as memory; vector<bool> has none.
template <class T>
std::vector<Stored<T>> random_elements(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Stored<T>> values(n);
  for (auto& v : values) {
    if constexpr (std::is_same_v<T, bool>)
      v = static_cast<std::uint8_t>(random() % 3);  // 2: any byte but 0 is true
    else if constexpr (kIsInteger<T>)
      v = static_cast<T>(random());  // all bits: sums and products wrap
    else {
      const double x = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random() % 2001) - 1000), -7);
      if constexpr (std::is_same_v<T, float16>)
        v = to_float16(static_cast<float>(x));
      else if constexpr (std::is_same_v<T, bfloat16>)
        v = to_bfloat16(static_cast<float>(x));
      else
        v = static_cast<T>(x);
    }
  }
  return values;
}

template <class T>
double as_double(T x) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
    return to_float(x);
  else
    return static_cast<double>(x);
}

template <class T>
T rounded(double x) {
  if constexpr (std::is_same_v<T, float16>)
    return to_float16(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, bfloat16>)
    return to_bfloat16(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

/// a op b by the definition: floating dtypes in double, integers modulo 2^64, booleans by logic.
template <class T>
Stored<T> expected(ReduceOp op, Stored<T> a, Stored<T> b) {
  const bool sums = op == ReduceOp::sum || op == ReduceOp::average;
  if constexpr (std::is_same_v<T, bool>) {
    return sums || op == ReduceOp::max ? (a != 0 || b != 0) : (a != 0 && b != 0);
  } else if constexpr (kIsInteger<T>) {
    if (op == ReduceOp::min) return std::min(a, b);
    if (op == ReduceOp::max) return std::max(a, b);
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<T>(sums ? x + y : x * y);
  } else {
    const double x = as_double(a), y = as_double(b);
    if (op == ReduceOp::min) return rounded<T>(std::min(x, y));
    if (op == ReduceOp::max) return rounded<T>(std::max(x, y));
    return rounded<T>(sums ? x + y : x * y);
  }
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
std::vector<const void*> pointers(const std::vector<std::vector<T>>& sources) {
  std::vector<const void*> result;
  for (const auto& s : sources) result.push_back(s.data());
  return result;
}

/// Recursive halving as ranks would do it, in place and in rank order, on wide values: the definition in the header.
template <class C>
std::vector<C> halving(std::vector<std::vector<C>> s, const std::function<C(C, C)>& combine) {
  std::size_t m = 1;
  while (2 * m <= s.size()) m *= 2;
  const auto fold = [&](std::size_t i, std::size_t j) {
    for (std::size_t k = 0; k < s[i].size(); ++k) s[i][k] = combine(s[i][k], s[j][k]);
  };
  for (std::size_t i = 0; i + m < s.size(); ++i) fold(i, i + m);
  for (std::size_t d = m / 2; d >= 1; d /= 2) {
    for (std::size_t i = 0; i < d; ++i) fold(i, i + d);
  }
  return s[0];
}

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

template <class T>
std::vector<Stored<T>> expected_pairwise(ReduceOp op, const std::vector<std::vector<Stored<T>>>& sources) {
  using S = Stored<T>;
  using C = std::conditional_t<kIsHalf<T>, float, S>;
  std::vector<std::vector<C>> wide(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (const S x : sources[i]) {
      if constexpr (kIsHalf<T>)
        wide[i].push_back(to_float(x));
      else
        wide[i].push_back(x);
    }
  }
  using Element = std::conditional_t<std::is_same_v<T, bool>, bool, C>;
  const auto result = halving<C>(wide, [op](C a, C b) { return expected<Element>(op, a, b); });
  std::vector<S> out;
  for (const C x : result) {
    if constexpr (kIsHalf<T>)
      out.push_back(rounded<T>(x));
    else
      out.push_back(x);
  }
  return out;
}

}  // namespace

TEST_CASE("reduce combines every dtype under every op as the plain loop does") {
  for (const DType dtype : kDTypes) {
    for (const ReduceOp op : kOps) {
      for (const std::size_t n : {0U, 1U, 15U, 16U, 17U, 1000U}) {
        CAPTURE(to_string(dtype), to_string(op), n);
        with_type(dtype, [&]<class T>() {
          const auto a = random_elements<T>(n, 1), b = random_elements<T>(n, 2);
          std::vector<Stored<T>> want;
          for (std::size_t i = 0; i < n; ++i) want.push_back(expected<T>(op, a[i], b[i]));
          auto got = a;
          reduce(op, dtype, got.data(), b.data(), n);
          CHECK(same_bits(got, want));
        });
      }
    }
  }
}

TEST_CASE("min and max give NaN when either side is one") {
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
      CAPTURE(to_string(dtype), to_string(op));
      with_type(dtype, [&]<class T>() {
        if constexpr (!std::is_integral_v<T>) {
          const double nan = std::nan("");
          const auto fill = [](double x) { return std::vector<T>(19, rounded<T>(x)); };  // vector body and tail
          for (const auto& [x, y] : {std::pair{nan, 1.0}, {1.0, nan}, {nan, nan}, {nan, -INFINITY}, {INFINITY, nan}}) {
            auto a = fill(x);
            reduce(op, dtype, a.data(), fill(y).data(), a.size());
            int nans = 0;
            for (const T v : a) nans += std::isnan(as_double(v)) ? 1 : 0;
            CHECK(nans == 19);
          }
        }
      });
    }
  }
}

TEST_CASE("scale multiplies in double and rounds once") {
  for (const double factor : {1.0, 0.5, -2.0, 1.0 / 3.0, 0.1, 0.0}) {
    for (const std::size_t n : {0U, 1U, 17U, 1000U}) {
      CAPTURE(factor, n);
      for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
        with_type(dtype, [&]<class T>() {
          if constexpr (!std::is_integral_v<T>) {
            auto got = random_elements<T>(n, 3), want = got;
            for (T& x : want) x = rounded<T>(as_double(x) * factor);
            scale(dtype, got.data(), n, factor);
            CHECK(same_bits(got, want));
          }
        });
      }
    }
  }
  std::int32_t whole = 3;
  CHECK_THROWS_AS(scale(DType::int32, &whole, 1, 2.0), Error);
  CHECK(whole == 3);
}

TEST_CASE("divide rounds floats correctly and integers towards zero") {
  std::vector<std::int8_t> small{127, -128, 7, -7, 1, -1, 0};
  divide(DType::int8, small.data(), small.size(), 2);
  CHECK(small == std::vector<std::int8_t>{63, -64, 3, -3, 0, 0, 0});
  std::vector<std::int64_t> large{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                                  -5};
  divide(DType::int64, large.data(), large.size(), 3);
  CHECK(large == std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min() / 3,
                                           std::numeric_limits<std::int64_t>::max() / 3, -1});
  std::vector<float> floats{1.0F, 10.0F, -7.0F};
  divide(DType::float32, floats.data(), floats.size(), 3);
  CHECK(floats == std::vector<float>{1.0F / 3, 10.0F / 3, -7.0F / 3});
  std::vector<float16> half{to_float16(1.0F)};
  divide(DType::float16, half.data(), 1, 3);
  CHECK(half[0].bits == to_float16(1.0F / 3).bits);
  bool flag = true;
  CHECK_THROWS_AS(divide(DType::boolean, &flag, 1, 2), Error);
  CHECK_THROWS_AS(divide(DType::float32, floats.data(), 1, 0), Error);
}

TEST_CASE("sum_pairwise has the bits of recursive halving, whatever the ranks, dtype, op and size") {
  for (std::size_t ranks = 1; ranks <= 9; ++ranks) {
    for (const DType dtype : kDTypes) {
      for (const ReduceOp op : kOps) {
        for (const std::size_t n : {0U, 1U, 17U, 511U, 512U, 513U, 1537U}) {
          CAPTURE(ranks, to_string(dtype), to_string(op), n);
          with_type(dtype, [&]<class T>() {
            std::vector<std::vector<Stored<T>>> sources;
            for (std::size_t r = 0; r < ranks; ++r) {
              sources.push_back(random_elements<T>(n, static_cast<unsigned>(r)));
            }
            auto want = expected_pairwise<T>(op, sources);
            if (ranks == 1) want = sources[0];  // no op at all: the bytes as they are
            std::vector<Stored<T>> got(n);
            sum_pairwise(dtype, op, pointers(sources), got.data(), n);
            CHECK(same_bits(got, want));
          });
        }
      }
    }
  }
}

TEST_CASE("sum_pairwise may write to any one of its sources") {
  for (const DType dtype : {DType::float32, DType::float16, DType::int8}) {
    for (std::size_t ranks = 1; ranks <= 6; ++ranks) {
      for (std::size_t k = 0; k < ranks; ++k) {
        CAPTURE(to_string(dtype), ranks, k);
        with_type(dtype, [&]<class T>() {
          if constexpr (!std::is_same_v<T, bool>) {
            std::vector<std::vector<T>> sources;
            for (std::size_t r = 0; r < ranks; ++r)
              sources.push_back(random_elements<T>(1100, static_cast<unsigned>(r)));
            const auto want = expected_pairwise<T>(ReduceOp::sum, sources);
            sum_pairwise(dtype, ReduceOp::sum, pointers(sources), sources[k].data(), 1100);
            CHECK(same_bits(sources[k], want));
          }
        });
      }
    }
  }
}

TEST_CASE("halves are summed wide and rounded once") {
  // 2048 + 1 is 2048 in float16, four times; the sum of all rounds to 2052.
  std::vector<std::vector<float16>> sources{{to_float16(2048.0F)}};
  for (int i = 0; i < 4; ++i) sources.push_back({to_float16(1.0F)});
  float16 sum{};
  sum_pairwise(DType::float16, ReduceOp::sum, pointers(sources), &sum, 1);
  CHECK(to_float(sum) == 2052.0F);
}

TEST_CASE("integer averages are summed in 64 bits and divided towards zero") {
  const auto average = []<class T>(DType dtype, std::vector<T> values) {
    std::vector<const void*> sources;
    for (const T& v : values) sources.push_back(&v);
    T result{};
    sum_pairwise_average(dtype, sources, &result, 1);
    return result;
  };
  CHECK(average(DType::int8, std::vector<std::int8_t>{127, 127, 127, 127}) == 127);
  CHECK(average(DType::int8, std::vector<std::int8_t>{-128, -128, -128}) == -128);
  CHECK(average(DType::int8, std::vector<std::int8_t>{-1, 0}) == 0);
  CHECK(average(DType::uint8, std::vector<std::uint8_t>{255, 255, 254}) == 254);
  CHECK(average(DType::int32, std::vector<std::int32_t>{2147483647, 2147483647}) == 2147483647);
  CHECK(average(DType::int32, std::vector<std::int32_t>{-7, 0, 0}) == -2);
  CHECK(average(DType::int64, std::vector<std::int64_t>{1LL << 61, 1LL << 61}) == 1LL << 61);
  CHECK(average(DType::float32, std::vector<float>{1.0F, 2.0F, 4.0F}) == 7.0F / 3);
  const auto half = average(DType::float16, std::vector<float16>{to_float16(60000), to_float16(60000)});
  CHECK(to_float(half) == 60000.0F);  // the sum alone would be infinite
  bool flag = true;
  const std::vector<const void*> one{&flag};
  CHECK_THROWS_AS(sum_pairwise_average(DType::boolean, one, &flag, 1), Error);
}

TEST_CASE("averages over many blocks follow recursive halving too") {
  for (std::size_t ranks = 1; ranks <= 9; ++ranks) {
    CAPTURE(ranks);
    std::vector<std::vector<float>> sources;
    std::vector<std::vector<std::int32_t>> whole;
    for (std::size_t r = 0; r < ranks; ++r) {
      sources.push_back(random_elements<float>(1300, static_cast<unsigned>(r)));
      whole.push_back(random_elements<std::int32_t>(1300, static_cast<unsigned>(r)));
    }
    auto want = expected_pairwise<float>(ReduceOp::sum, sources);
    for (float& x : want) x /= static_cast<float>(ranks);
    std::vector<float> got(1300);
    sum_pairwise_average(DType::float32, pointers(sources), got.data(), got.size());
    CHECK(same_bits(got, want));

    std::vector<std::int32_t> whole_want(1300), whole_got(1300);
    for (std::size_t i = 0; i < whole_want.size(); ++i) {
      std::int64_t sum = 0;
      for (const auto& s : whole) sum += s[i];
      whole_want[i] = static_cast<std::int32_t>(sum / static_cast<std::int64_t>(ranks));
    }
    sum_pairwise_average(DType::int32, pointers(whole), whole_got.data(), whole_got.size());
    CHECK(same_bits(whole_got, whole_want));
  }
}

TEST_CASE("reduction ops have names") {
  CHECK(std::string(to_string(ReduceOp::average)) == "average");
  CHECK(std::string(to_string(ReduceOp::product)) == "product");
}
