#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>

#include "ringlet/error.hpp"
#include "ringlet/export.hpp"

namespace ringlet {

/// Element type of a tensor. `boolean` is one byte, 0 or 1; sums of it are logical or, products logical and.
enum class DType : std::uint8_t { float32, float64, float16, bfloat16, int8, uint8, int32, int64, boolean };

/// IEEE binary16 and bfloat16 as storage: the bits, no arithmetic.
struct float16 {
  std::uint16_t bits;
};
struct bfloat16 {
  std::uint16_t bits;
};

/// Where a tensor's memory lives: the host, or device `ordinal` of this process.
struct Device {
  int ordinal = -1;
  constexpr bool is_host() const noexcept { return ordinal < 0; }
  friend constexpr bool operator==(Device, Device) = default;
};

/// Extents of a tensor, at most kMaxDims of them; no extents is a scalar (one element). A value type without heap
/// memory.
class Shape {
 public:
  static constexpr std::size_t kMaxDims = 8;

  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<std::size_t> dims) { assign(dims.begin(), dims.size()); }
  constexpr explicit Shape(std::span<const std::size_t> dims) { assign(dims.data(), dims.size()); }

  constexpr std::size_t dims() const noexcept { return count_; }
  constexpr std::size_t operator[](std::size_t i) const noexcept { return extents_[i]; }
  constexpr std::size_t& operator[](std::size_t i) noexcept { return extents_[i]; }
  constexpr std::size_t elements() const noexcept {
    std::size_t n = 1;
    for (std::size_t i = 0; i < count_; ++i) n *= extents_[i];
    return n;
  }
  friend constexpr bool operator==(const Shape& a, const Shape& b) noexcept {
    return a.count_ == b.count_ && std::equal(a.extents_.begin(), a.extents_.begin() + a.count_, b.extents_.begin());
  }

 private:
  constexpr void assign(const std::size_t* dims, std::size_t count) {
    if (count > kMaxDims) throw Error(ErrorCode::invalid_argument, "a tensor has at most 8 dimensions");
    for (std::size_t i = 0; i < count; ++i) extents_[i] = dims[i];
    count_ = static_cast<std::uint8_t>(count);
  }

  std::array<std::size_t, kMaxDims> extents_{};
  std::uint8_t count_ = 0;
};

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) noexcept {
  constexpr std::array<std::size_t, 9> kBytes{4, 8, 2, 2, 1, 1, 4, 8, 1};
  return kBytes[static_cast<std::size_t>(dtype)];
}

/// "float32", "bfloat16", ... as errors and benchmarks print them.
RINGLET_EXPORT const char* to_string(DType dtype) noexcept;
/// "[3, 224, 224]"; a scalar is "[]".
RINGLET_EXPORT std::string to_string(const Shape& shape);

/// The DType of a C++ type: float, double, float16, bfloat16, (u)int8_t, int32_t, int64_t, bool.
template <class T>
constexpr DType dtype_of() noexcept {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, float>)
    return DType::float32;
  else if constexpr (std::is_same_v<U, double>)
    return DType::float64;
  else if constexpr (std::is_same_v<U, float16>)
    return DType::float16;
  else if constexpr (std::is_same_v<U, bfloat16>)
    return DType::bfloat16;
  else if constexpr (std::is_same_v<U, std::int8_t>)
    return DType::int8;
  else if constexpr (std::is_same_v<U, std::uint8_t>)
    return DType::uint8;
  else if constexpr (std::is_same_v<U, std::int32_t>)
    return DType::int32;
  else if constexpr (std::is_same_v<U, std::int64_t>)
    return DType::int64;
  else {
    static_assert(std::is_same_v<U, bool>, "no ringlet dtype for this type");
    return DType::boolean;
  }
}

/// Contiguous memory with a type and a shape, borrowed from the caller; no framework's type. `data` may be null when
/// there are no elements. A view of const memory is `read_only` and may only be used where another tensor takes the
/// result.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::float32;
  Shape shape = {0};
  Device device = {};
  bool read_only = false;

  TensorView() = default;
  TensorView(void* memory, DType type, const Shape& extents, Device where = {})
      : data(memory), dtype(type), shape(extents), device(where) {}
  TensorView(const void* memory, DType type, const Shape& extents, Device where = {})
      : data(const_cast<void*>(memory)), dtype(type), shape(extents), device(where), read_only(true) {}
  template <class T>
  TensorView(T* memory, const Shape& extents, Device where = {})
      : data(const_cast<std::remove_const_t<T>*>(memory)),
        dtype(dtype_of<T>()),
        shape(extents),
        device(where),
        read_only(std::is_const_v<T>) {}
  /// One-dimensional view of a vector, an array or a span.
  template <class Range>
  requires requires(Range&& r) { std::span(r); }
  // implicit by design; of a TensorView no span is made, so this never stands in for a copy
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
  TensorView(Range&& range) : TensorView(std::span(range).data(), Shape{std::span(range).size()}) {}

  std::size_t elements() const noexcept { return shape.elements(); }
  std::size_t bytes() const noexcept { return elements() * size_of(dtype); }
};

}  // namespace ringlet
