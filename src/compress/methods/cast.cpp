#include "compress/methods/cast.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compress/arguments.hpp"
#include "compress/loops/loops.hpp"
#include "compress/methods/wire_size.hpp"

namespace ringlet::compress {
namespace {

// The loops and the head-room that make one 16-bit format.
struct Format {
  decltype(Loops::to_fp16) encode;
  decltype(Loops::from_fp16) decode, add, subtract;
  bool needs_headroom;
};

class Cast final : public Codec {
 public:
  Cast(const Format& format, Arguments& arguments)
      : format_(format), error_feedback_(arguments.on_off("ef", false)), spec_(arguments.canonical()) {}

  Family family() const noexcept override { return Family::dense; }
  const std::string& spec() const noexcept override { return spec_; }
  bool error_feedback() const noexcept override { return error_feedback_; }
  std::size_t grain() const noexcept override { return 1; }
  std::size_t wire_bytes(std::size_t elements) const noexcept override { return 2 * elements; }

  void encode(std::span<const float> values, const Site& site, std::span<std::byte> wire) const override {
    require_room(*this, values.size(), wire.size(), wire_bytes(values.size()));
    format_.encode(values.data(), values.size(), 1.0F / headroom(site), wire.data());
  }

  void encode_feedback(std::span<float> values, const Site& site, std::span<std::byte> wire) const override {
    require_room(*this, values.size(), wire.size(), wire_bytes(values.size()));
    const float room = headroom(site);
    for (std::size_t at = 0; at < values.size();
         at += kBlock) {  // the second loop reads what the first left in the cache
      const std::size_t n = std::min(kBlock, values.size() - at);
      format_.encode(&values[at], n, 1.0F / room, &wire[2 * at]);
      format_.subtract(&wire[2 * at], n, {room, 1.0F}, &values[at]);
    }
  }

  void decode(std::span<const std::byte> wire, const Site& site, float factor, std::span<float> values) const override {
    require_message(*this, values.size(), wire.size(), wire_bytes(values.size()));
    format_.decode(wire.data(), values.size(), {headroom(site), factor}, values.data());
  }

  void decode_add(std::span<const std::byte> wire, const Site& site, std::span<float> values) const override {
    require_message(*this, values.size(), wire.size(), wire_bytes(values.size()));
    format_.add(wire.data(), values.size(), {headroom(site), 1.0F}, values.data());
  }

 private:
  static constexpr std::size_t kBlock = 2048;

  float headroom(const Site& site) const noexcept {
    if (!format_.needs_headroom || site.stage == Stage::contribution || site.ranks < 2) return 1.0F;
    return std::ldexp(1.0F, std::bit_width(static_cast<unsigned>(site.ranks) - 1));
  }

  Format format_;
  bool error_feedback_;
  std::string spec_;
};

}  // namespace

Method fp16_method() {
  return {"fp16", Family::dense, "ef=off (on, off)", "IEEE 754 binary16", [](Arguments& arguments) {
            const Loops& with = loops();
            const Format format{with.to_fp16, with.from_fp16, with.add_fp16, with.subtract_fp16, true};
            return std::make_shared<const Cast>(format, arguments);
          }};
}

Method bf16_method() {
  return {"bf16", Family::dense, "ef=off (on, off)",
          "Kalamkar et al., A study of BFLOAT16 for deep learning training, 2019", [](Arguments& arguments) {
            const Loops& with = loops();
            const Format format{with.to_bf16, with.from_bf16, with.add_bf16, with.subtract_bf16, false};
            return std::make_shared<const Cast>(format, arguments);
          }};
}

}  // namespace ringlet::compress
