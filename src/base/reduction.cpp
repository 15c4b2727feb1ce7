#include "base/reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>

#include "base/dtype.hpp"

namespace ringlet {
namespace {

/// How a dtype lies in memory: bool as its byte, because a byte that is neither 0 nor 1 must not be read as a bool.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// What a dtype is computed in.
template <class T>
using Computed = std::conditional_t<kIsHalf<T>, float, Stored<T>>;

// Halves are read and written by their bits and always inlined: a copy of the struct or a call would keep loops from
// vectorising.
template <class T>
[[gnu::always_inline]] inline Computed<T> read(const T& x) noexcept {
  if constexpr (std::is_same_v<T, float16>)
    return bits::half_to_float(x.bits);
  else if constexpr (std::is_same_v<T, bfloat16>)
    return bits::bfloat_to_float(x.bits);
  else
    return x;
}

template <class T, class C>
[[gnu::always_inline]] inline void write(T& to, C value) noexcept {
  if constexpr (std::is_same_v<T, float16>)
    to.bits = bits::float_to_half(value);
  else if constexpr (std::is_same_v<T, bfloat16>)
    to.bits = bits::float_to_bfloat(value);
  else
    to = static_cast<T>(value);
}

/// Unsigned and at least as wide as int: arithmetic in it wraps and never overflows.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;

struct Add {
  template <class T>
  T operator()(T a, T b) const noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};

struct Multiply {
  template <class T>
  T operator()(T a, T b) const noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};

struct Min {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return (static_cast<int>(a < b) | static_cast<int>(a != a)) != 0 ? a : b;  // a != a: NaN
  }
};

struct Max {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return (static_cast<int>(a > b) | static_cast<int>(a != a)) != 0 ? a : b;
  }
};

struct Or {
  std::uint8_t operator()(std::uint8_t a, std::uint8_t b) const noexcept { return (a | b) != 0 ? 1 : 0; }
};

struct And {
  std::uint8_t operator()(std::uint8_t a, std::uint8_t b) const noexcept {
    return static_cast<std::uint8_t>(static_cast<int>(a != 0) & static_cast<int>(b != 0));
  }
};

/// Calls `f(operation)` for the functor of `op` on elements of T.
template <class T, class F>
void with_operation(ReduceOp op, F&& f) {
  constexpr bool kLogical = std::is_same_v<T, bool>;
  switch (op) {
    case ReduceOp::average:
    case ReduceOp::sum:
      return f(std::conditional_t<kLogical, Or, Add>{});
    case ReduceOp::min:
      return f(std::conditional_t<kLogical, And, Min>{});
    case ReduceOp::max:
      return f(std::conditional_t<kLogical, Or, Max>{});
    case ReduceOp::product:
      return f(std::conditional_t<kLogical, And, Multiply>{});
  }
  throw Error(ErrorCode::internal, "reduce: not an op");
}

/// out = a op b. `out` may be `a` or `b` itself, which no iteration but its own reads: that is what ivdep promises.
template <class T, class Operation>
void combine(T* out, const T* a, const T* b, std::size_t n, Operation operation) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) write(out[i], operation(read(a[i]), read(b[i])));
}

template <class T, class F>
void for_each_element(void* data, std::size_t n, F f) {
  auto* x = static_cast<T*>(data);
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) write(x[i], f(read(x[i])));
}

/// Combines one block of every source along the tree that sum_pairwise() describes, depth first: a left result waits in
/// one temporary while the right one is computed in the next, so there are as many as the tree has levels.
template <class T, class C, class Operation>
class BlockTree {
 public:
  static constexpr std::size_t kBlock = 512;  // elements: a few blocks of 4 KiB at most stay in the first-level cache

  BlockTree(std::span<const void* const> sources, Operation operation)
      : sources_(sources), fold_(std::bit_floor(sources.size())), operation_(operation) {}

  /// The combination of elements [first, first + n): in `out`, in a temporary, or in the only source.
  const C* run(std::size_t first, std::size_t n, C* out) {
    first_ = first;
    n_ = n;
    return node(0, 1, 0, out);
  }

 private:
  using Block = std::array<C, kBlock>;

  /// Sum of the sources i + k * distance. The result goes to `out`, or is the source itself.
  const C* node(std::size_t i, std::size_t distance, std::size_t level, C* out) {
    if (distance == fold_) return fold(i, level, out);
    const C* left = node(i, 2 * distance, level, temporaries_[level].data());
    const C* right = node(i + distance, 2 * distance, level + 1, temporaries_[level + 1].data());
    combine(out, left, right, n_, operation_);
    return out;
  }

  const C* fold(std::size_t i, std::size_t level, C* out) {
    if (i + fold_ >= sources_.size()) return load(i, out);
    const C* left = load(i, temporaries_[level].data());
    const C* right = load(i + fold_, temporaries_[level + 1].data());
    combine(out, left, right, n_, operation_);
    return out;
  }

  const C* load(std::size_t i, C* to) {
    const T* source = static_cast<const T*>(sources_[i]) + first_;
    if constexpr (std::is_same_v<T, C>) {
      return source;
    } else {
      for (std::size_t k = 0; k < n_; ++k) to[k] = static_cast<C>(read(source[k]));
      return to;
    }
  }

  std::span<const void* const> sources_;
  std::size_t fold_;
  Operation operation_;
  std::size_t first_ = 0;
  std::size_t n_ = 0;
  std::array<Block, std::numeric_limits<int>::digits + 2> temporaries_;
};

/// dst = finish(the tree's result), block by block, rounded to the stored type.
template <class T, class C, class Operation, class Finish>
void combine_blocks(std::span<const void* const> sources, T* dst, std::size_t elements, Operation operation,
                    Finish finish) {
  using Tree = BlockTree<T, C, Operation>;
  Tree tree(sources, operation);
  std::array<C, Tree::kBlock> result;
  for (std::size_t first = 0; first < elements; first += Tree::kBlock) {
    const std::size_t n = std::min(Tree::kBlock, elements - first);
    const C* block = tree.run(first, n, result.data());
    T* out = dst + first;
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) write(out[i], finish(block[i]));
  }
}

/// As combine_blocks() where what is computed is what is stored: the last combination writes to dst, which only it may
/// touch, because dst may be a source.
template <class T, class Operation>
void combine_blocks(std::span<const void* const> sources, T* dst, std::size_t elements, Operation operation) {
  using Tree = BlockTree<T, T, Operation>;
  Tree tree(sources, operation);
  for (std::size_t first = 0; first < elements; first += Tree::kBlock) {
    const std::size_t n = std::min(Tree::kBlock, elements - first);
    const T* block = tree.run(first, n, dst + first);
    if (block != dst + first) std::copy_n(block, n, dst + first);  // of one source
  }
}

/// Calls `f(division)` for x / by, to the bit: by a power of two it is a product with the inverse, exact and much
/// faster.
template <class C, class F>
void with_division(std::size_t by, F&& f) {
  const auto divisor = static_cast<C>(by);
  if constexpr (std::is_floating_point_v<C>) {
    if (std::has_single_bit(by)) return f([inverse = 1 / divisor](C x) { return x * inverse; });
  }
  f([divisor](C x) { return x / divisor; });
}

[[noreturn]] void refuse(const char* what, DType dtype) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} is not defined for {}", what, to_string(dtype)));
}

}  // namespace

const char* to_string(ReduceOp op) noexcept {
  switch (op) {
    case ReduceOp::average:
      return "average";
    case ReduceOp::sum:
      return "sum";
    case ReduceOp::min:
      return "min";
    case ReduceOp::max:
      return "max";
    case ReduceOp::product:
      return "product";
  }
  return "no op";
}

void reduce(ReduceOp op, DType dtype, void* dst, const void* src, std::size_t elements) {
  with_type(dtype, [&]<class T>() {
    auto* to = static_cast<Stored<T>*>(dst);
    const auto* from = static_cast<const Stored<T>*>(src);
    with_operation<T>(op, [&](auto operation) { combine(to, to, from, elements, operation); });
  });
}

void scale(DType dtype, void* data, std::size_t elements, double factor) {
  if (!is_floating(dtype)) refuse("a scale factor", dtype);
  const auto narrow = static_cast<float>(factor);
  const bool is_exact = static_cast<double>(narrow) == factor;  // then a product of floats rounds as the wider one does
  with_type(dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, double>)
      for_each_element<T>(data, elements, [=](double x) { return x * factor; });
    else if (is_exact)
      for_each_element<Stored<T>>(data, elements, [=](auto x) { return static_cast<float>(x) * narrow; });
    else
      for_each_element<Stored<T>>(data, elements,
                                  [=](auto x) { return static_cast<float>(static_cast<double>(x) * factor); });
  });
}

void divide(DType dtype, void* data, std::size_t elements, int by) {
  if (by < 1) throw Error(ErrorCode::invalid_argument, fmt::format("divide: by {}", by));
  with_type(dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      refuse("a division", dtype);
    } else {
      using C = std::conditional_t<std::is_integral_v<T>, std::int64_t, Computed<T>>;
      with_division<C>(static_cast<std::size_t>(by),
                       [&](auto division) { for_each_element<T>(data, elements, division); });
    }
  });
}

void sum_pairwise(DType dtype, ReduceOp op, std::span<const void* const> sources, void* dst, std::size_t elements) {
  if (sources.empty()) throw Error(ErrorCode::internal, "sum_pairwise: no sources");
  with_type(dtype, [&]<class T>() {
    auto* to = static_cast<Stored<T>*>(dst);
    with_operation<T>(op, [&](auto operation) {
      if constexpr (kIsHalf<T>)
        combine_blocks<T, float>(sources, to, elements, operation, [](float x) { return x; });
      else
        combine_blocks<Stored<T>>(sources, to, elements, operation);
    });
  });
}

void sum_pairwise_average(DType dtype, std::span<const void* const> sources, void* dst, std::size_t elements) {
  if (sources.empty()) throw Error(ErrorCode::internal, "sum_pairwise_average: no sources");
  with_type(dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      refuse("an average", dtype);
    } else {
      using C = std::conditional_t<std::is_integral_v<T>, std::int64_t, Computed<T>>;
      with_division<C>(sources.size(), [&](auto division) {
        combine_blocks<T, C>(sources, static_cast<T*>(dst), elements, Add{}, division);
      });
    }
  });
}

}  // namespace ringlet
