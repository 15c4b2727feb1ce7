#include "compress/methods/qsgd.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "compress/arguments.hpp"
#include "compress/loops/loops.hpp"
#include "compress/methods/qsgd_options.hpp"
#include "compress/methods/wire_size.hpp"

namespace ringlet::compress {
namespace {

constexpr std::size_t kPiece =
    1024;  // elements quantized at once: a multiple of 8, so that pieces' codes end at byte boundaries
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// The random bits around the element being encoded, made in units and kept for the next request, for buckets smaller
// than a unit.
class Dither {
 public:
  Dither(const Loops& loops, const Site& site) : loops_(loops), key_(philox_key(site)) {}

  // The bits of elements [first, first + n), n <= kPiece.
  const std::uint16_t* bits(std::size_t first, std::size_t n) {
    if (first < begin_ || first + n > end_) {
      const std::size_t unit = first / Loops::kDitherUnit;
      begin_ = unit * Loops::kDitherUnit;
      const std::size_t units = (first + n - begin_ + Loops::kDitherUnit - 1) / Loops::kDitherUnit;
      const std::size_t ahead = std::max(units, kLeastUnits);
      loops_.dither(key_, unit, ahead, bits_);
      end_ = begin_ + ahead * Loops::kDitherUnit;
    }
    return bits_ + (first - begin_);
  }

 private:
  static constexpr std::size_t kLeastUnits = 8;

  const Loops& loops_;
  PhiloxKey key_;
  std::size_t begin_ = 0, end_ = 0;
  alignas(64) std::uint16_t bits_[kPiece + Loops::kDitherUnit];
};

class Qsgd final : public Codec {
 public:
  Qsgd(const QsgdOptions& options, std::string spec) : options_(options), spec_(std::move(spec)) {}

  Family family() const noexcept override { return Family::quantized; }
  const std::string& spec() const noexcept override { return spec_; }
  bool error_feedback() const noexcept override { return options_.error_feedback; }
  std::size_t grain() const noexcept override { return options_.bucket; }

  std::size_t wire_bytes(std::size_t elements) const noexcept override {
    const std::size_t whole = elements / options_.bucket, rest = elements % options_.bucket;
    return scales_bytes(elements) + whole * packed_bytes(options_.bucket, options_.bits) +
           packed_bytes(rest, options_.bits);
  }

  void encode(std::span<const float> values, const Site& site, std::span<std::byte> wire) const override {
    encode_grains(values, site, wire, nullptr);
  }

  void encode_feedback(std::span<float> values, const Site& site, std::span<std::byte> wire) const override {
    encode_grains(values, site, wire, values.data());
  }

  void decode(std::span<const std::byte> wire, const Site&, float factor, std::span<float> values) const override {
    decode_grains(wire, values,
                  [factor](const Loops& with, const std::uint8_t* codes, std::size_t n, const Grid& grid, float* y) {
                    with.dequantize(codes, n, grid, factor, y);
                  });
  }

  void decode_add(std::span<const std::byte> wire, const Site&, std::span<float> values) const override {
    decode_grains(wire, values,
                  [](const Loops& with, const std::uint8_t* codes, std::size_t n, const Grid& grid, float* y) {
                    with.add_dequantized(codes, n, grid, y);
                  });
  }

 private:
  std::size_t scale_bytes() const noexcept { return options_.norm == Norm::minmax ? 2 * sizeof(float) : sizeof(float); }
  std::size_t scales_bytes(std::size_t elements) const noexcept {
    return (elements + options_.bucket - 1) / options_.bucket * scale_bytes();
  }

  void encode_grains(std::span<const float> values, const Site& site, std::span<std::byte> wire, float* residual) const;
  template <class Action>
  void decode_grains(std::span<const std::byte> wire, std::span<float> values, Action action) const;

  Grid measure(const Loops& with, const float* x, std::size_t n) const noexcept;
  void write_scale(const Grid& grid, std::byte* wire) const noexcept;
  Grid read_scale(const std::byte* wire) const noexcept;

  QsgdOptions options_;
  std::string spec_;
};

// The Euclidean norm, at least `largest` and never infinite: any scale from the largest element up leaves the rounding
// unbiased.
float euclidean_norm(const Loops& with, const float* x, std::size_t n, float largest) noexcept {
  if (largest == 0) return 0;
  const int exponent = std::clamp(-std::ilogb(largest), -126, 126);  // squares neither overflow nor vanish
  const float normed = std::ldexp(std::sqrt(with.sum_squares(x, n, std::ldexp(1.0F, exponent))), -exponent);
  return std::clamp(normed, largest, std::numeric_limits<float>::max());
}

Grid Qsgd::measure(const Loops& with, const float* x, std::size_t n) const noexcept {
  if (options_.norm == Norm::minmax) {
    const KeyRange keys = with.key_range(x, n);
    const float low = std::bit_cast<float>(order_key(keys.low)), high = std::bit_cast<float>(order_key(keys.high));
    const bool finite = std::isfinite(low) && std::isfinite(high);
    return finite ? range_grid(low, high, options_.levels()) : range_grid(kNaN, kNaN, options_.levels());
  }
  const float largest = std::bit_cast<float>(with.max_abs_bits(x, n));
  if (!std::isfinite(largest)) return centered_grid(kNaN, options_.levels());
  return centered_grid(options_.norm == Norm::l2 ? euclidean_norm(with, x, n, largest) : largest, options_.levels());
}

void Qsgd::write_scale(const Grid& grid, std::byte* wire) const noexcept {
  if (options_.norm == Norm::minmax) {
    std::memcpy(wire, &grid.low, sizeof grid.low);
    wire += sizeof grid.low;
  }
  std::memcpy(wire, &grid.high, sizeof grid.high);
}

Grid Qsgd::read_scale(const std::byte* wire) const noexcept {
  float scale[2];
  std::memcpy(scale, wire, scale_bytes());
  return options_.norm == Norm::minmax ? range_grid(scale[0], scale[1], options_.levels())
                                       : centered_grid(scale[0], options_.levels());
}

void Qsgd::encode_grains(std::span<const float> values, const Site& site, std::span<std::byte> wire,
                         float* residual) const {
  require_room(*this, values.size(), wire.size(), wire_bytes(values.size()));
  const Loops& with = loops();
  Dither dither(with, site);
  std::byte* scales = wire.data();
  std::byte* packed = wire.data() + scales_bytes(values.size());
  alignas(64) std::uint8_t codes[kPiece];
  for (std::size_t begin = 0; begin < values.size(); begin += options_.bucket, scales += scale_bytes()) {
    const std::size_t end = std::min(begin + options_.bucket, values.size());
    const Grid grid = measure(with, &values[begin], end - begin);
    write_scale(grid, scales);
    for (std::size_t at = begin, n; at < end; at += n) {
      n = std::min(kPiece, end - at);
      if (std::isnan(grid.high)) {
        std::memset(codes, 0, n);
      } else {
        with.quantize(&values[at], n, grid, options_.stochastic ? dither.bits(site.offset + at, n) : nullptr, codes);
      }
      with.pack(codes, n, options_.bits, packed);
      packed += packed_bytes(n, options_.bits);
      if (residual != nullptr) with.subtract_dequantized(codes, n, grid, residual + at);
    }
  }
}

template <class Action>
void Qsgd::decode_grains(std::span<const std::byte> wire, std::span<float> values, Action action) const {
  require_message(*this, values.size(), wire.size(), wire_bytes(values.size()));
  const Loops& with = loops();
  const std::byte* scales = wire.data();
  const std::byte* packed = wire.data() + scales_bytes(values.size());
  alignas(64) std::uint8_t codes[kPiece];
  for (std::size_t begin = 0; begin < values.size(); begin += options_.bucket, scales += scale_bytes()) {
    const std::size_t end = std::min(begin + options_.bucket, values.size());
    const Grid grid = read_scale(scales);
    for (std::size_t at = begin, n; at < end; at += n) {
      n = std::min(kPiece, end - at);
      with.unpack(packed, n, options_.bits, codes);
      packed += packed_bytes(n, options_.bits);
      action(with, codes, n, grid, &values[at]);
    }
  }
}

}  // namespace

Method qsgd_method() {
  return {"qsgd", Family::quantized,
          "bits=4 (1..8), bucket=512 (1..1048576), norm=linf (linf, l2, minmax), rounding=stochastic (stochastic, "
          "nearest), "
          "ef=on (on, off)",
          "Alistarh et al., QSGD, NeurIPS 2017; minmax: Markov et al., CGX, Middleware 2022", [](Arguments& arguments) {
            const QsgdOptions options = read_qsgd_options(arguments);
            return std::make_shared<const Qsgd>(options, arguments.canonical());
          }};
}

}  // namespace ringlet::compress
