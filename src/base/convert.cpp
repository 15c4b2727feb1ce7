#include "base/convert.hpp"

#include <cstddef>

#include "base/dtype.hpp"

namespace ringlet {
namespace {

template <class T>
float widen(T value) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
    return to_float(value);
  else
    return static_cast<float>(value);
}

template <class T>
T narrow(float value) {
  if constexpr (std::is_same_v<T, float16>)
    return to_float16(value);
  else if constexpr (std::is_same_v<T, bfloat16>)
    return to_bfloat16(value);
  else
    return static_cast<T>(value);
}

template <class F>
void with_floating(DType dtype, F f) {
  switch (dtype) {
    case DType::float32:
      return f.template operator()<float>();
    case DType::float64:
      return f.template operator()<double>();
    case DType::float16:
      return f.template operator()<float16>();
    case DType::bfloat16:
      return f.template operator()<bfloat16>();
    default:
      throw Error(ErrorCode::internal, "conversion of a dtype that is not floating");
  }
}

}  // namespace

void to_float32(DType dtype, const void* from, std::span<float> to) {
  with_floating(dtype, [&]<class T>() {
    const T* in = static_cast<const T*>(from);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = widen(in[i]);
  });
}

void from_float32(DType dtype, std::span<const float> from, void* to) {
  with_floating(dtype, [&]<class T>() {
    T* out = static_cast<T*>(to);
    for (std::size_t i = 0; i < from.size(); ++i) out[i] = narrow<T>(from[i]);
  });
}

}  // namespace ringlet
