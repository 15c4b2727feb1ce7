#include "compress/methods/topk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "compress/arguments.hpp"
#include "compress/loops/loops.hpp"
#include "compress/methods/selection.hpp"
#include "compress/methods/wire_size.hpp"

namespace ringlet::compress {
namespace {

constexpr std::size_t kBlock = 4096;  // elements compacted at once
constexpr std::size_t kEntry = sizeof(std::uint32_t) + sizeof(float);

// How many elements of n are kept: a share, or a number when `count` is not 0.
struct Share {
  double ratio = 0.01;
  std::size_t count = 0;

  std::size_t of(std::size_t n) const noexcept {
    if (count > 0) return std::min(count, n);
    return std::min(n, std::max<std::size_t>(1, static_cast<std::size_t>(ratio * static_cast<double>(n))));
  }
};

// Elements picked out of a tensor, in its order.
struct Candidates {
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
  std::size_t count = 0;

  void reserve(std::size_t n) {
    if (indices.size() >= n) return;
    indices.resize(n);
    values.resize(n);
  }
};

// Writes those of ever more candidates that a cut keeps, until there are k.
class WireWriter {
 public:
  WireWriter(std::byte* wire, std::size_t k, Cut cut)
      : indices_(wire), values_(wire + k * sizeof(std::uint32_t)), left_(k), cut_(cut) {}

  void add(const std::uint32_t* indices, const float* values, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count && left_ > 0; ++i) {
      const std::uint32_t key = std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffff;
      const bool tie = key == cut_.bits && cut_.ties > 0;
      const std::size_t kept = key > cut_.bits || tie ? 1 : 0;
      std::memcpy(indices_, &indices[i], sizeof indices[i]);
      std::memcpy(values_, &values[i], sizeof values[i]);
      indices_ += kept * sizeof indices[i];
      values_ += kept * sizeof values[i];
      left_ -= kept;
      cut_.ties -= tie ? 1 : 0;
    }
  }

 private:
  std::byte* indices_;
  std::byte* values_;
  std::size_t left_;
  Cut cut_;
};

// Collects what reaches the guessed threshold; false when that is fewer than k, or more than the limit.
bool collect(std::span<const float> x, std::size_t k, const Guess& guess, Candidates& out) {
  out.count = 0;
  out.reserve(guess.limit + kBlock + Loops::kCompactSlack);
  for (std::size_t at = 0; at < x.size(); at += kBlock) {
    const std::size_t n = std::min(kBlock, x.size() - at);
    out.count += loops().compact(&x[at], n, static_cast<std::uint32_t>(at), guess.bits, &out.indices[out.count],
                                 &out.values[out.count]);
    if (out.count > guess.limit) return false;
  }
  return out.count >= k;
}

void select_by_counting(std::span<const float> x, std::size_t k, std::byte* wire) {
  const Cut cut = find_cut(x, k);
  WireWriter writer(wire, k, cut);
  std::uint32_t indices[kBlock + Loops::kCompactSlack];
  if (cut.bits == 0) {  // zeros are among the k largest: everything is a candidate
    for (std::size_t at = 0; at < x.size(); at += kBlock) {
      const std::size_t n = std::min(kBlock, x.size() - at);
      std::iota(indices, indices + n, static_cast<std::uint32_t>(at));
      writer.add(indices, &x[at], n);
    }
    return;
  }
  float values[kBlock + Loops::kCompactSlack];
  for (std::size_t at = 0; at < x.size(); at += kBlock) {
    const std::size_t n = std::min(kBlock, x.size() - at);
    writer.add(indices, values, loops().compact(&x[at], n, static_cast<std::uint32_t>(at), cut.bits, indices, values));
  }
}

// Writes the k largest of x: exactly, whichever way is faster.
void select_largest(std::span<const float> x, std::size_t k, std::byte* wire) {
  // Scratch of this thread, so that a steady state allocates nothing.
  static thread_local Candidates candidates;
  const Guess guess = guess_threshold(x, k);
  if (guess.bits == 0 || !collect(x, k, guess, candidates)) return select_by_counting(x, k, wire);
  const std::span<const float> values(candidates.values.data(), candidates.count);
  WireWriter(wire, k, find_cut(values, k)).add(candidates.indices.data(), values.data(), values.size());
}

class TopK final : public Sparsifier {
 public:
  explicit TopK(Arguments& arguments) {
    if (arguments.has("k") && arguments.has("ratio")) arguments.fail("takes ratio or k, not both");
    if (arguments.has("k")) {
      share_.count = arguments.integer("k", 1, 1, std::numeric_limits<std::uint32_t>::max());
    } else {
      share_.ratio = arguments.real("ratio", share_.ratio, 0, 1);
    }
    error_feedback_ = arguments.on_off("ef", true);
    spec_ = arguments.canonical();
  }

  Family family() const noexcept override { return Family::sparse; }
  const std::string& spec() const noexcept override { return spec_; }
  bool error_feedback() const noexcept override { return error_feedback_; }
  std::size_t max_wire_bytes(std::size_t elements) const noexcept override { return share_.of(elements) * kEntry; }

  std::size_t encode(std::span<float> values, const Site&, std::span<std::byte> wire) const override {
    if (values.size() > std::size_t{1} << 32) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: {} elements are more than the 2^32 that 32-bit indices reach: "
                              "split the tensor, or use another method for it",
                              spec_, values.size()));
    }
    const std::size_t k = share_.of(values.size());
    require_room(*this, values.size(), wire.size(), k * kEntry);
    if (k == 0) return 0;
    select_largest(values, k, wire.data());
    if (error_feedback_) take_out(values, wire.data(), k);
    return k * kEntry;
  }

  void decode_add(std::span<const std::byte> wire, const Site&, std::span<float> values) const override {
    const std::size_t k = share_.of(values.size());
    require_message(*this, values.size(), wire.size(), k * kEntry);
    require_ascending(wire.data(), k, values.size());
    for (std::size_t i = 0; i < k; ++i) {
      values[index(wire.data(), i)] += value(wire.data(), k, i);
    }
  }

 private:
  static std::uint32_t index(const std::byte* wire, std::size_t i) noexcept {
    std::uint32_t result;
    std::memcpy(&result, wire + i * sizeof result, sizeof result);
    return result;
  }
  static float value(const std::byte* wire, std::size_t k, std::size_t i) noexcept {
    float result;
    std::memcpy(&result, wire + k * sizeof(std::uint32_t) + i * sizeof result, sizeof result);
    return result;
  }

  // Zeroes what was sent. When not even all non-finite elements were, the others are dropped, so that none stays for
  // ever.
  static void take_out(std::span<float> values, const std::byte* wire, std::size_t k) noexcept {
    bool all_finite = true;
    for (std::size_t i = 0; i < k; ++i) {
      constexpr std::size_t kAhead = 16;  // sent elements are some cache lines apart
      if (i + kAhead < k) __builtin_prefetch(&values[index(wire, i + kAhead)], 1);
      all_finite &= std::isfinite(value(wire, k, i));
      values[index(wire, i)] = 0;
    }
    if (all_finite) return;
    for (float& v : values) v = std::isfinite(v) ? v : 0.0F;
  }

  void require_ascending(const std::byte* wire, std::size_t k, std::size_t n) const {
    for (std::size_t i = 0; i < k; ++i) {
      const std::uint32_t at = index(wire, i);
      if (at < n && (i == 0 || at > index(wire, i - 1))) continue;
      throw Error(ErrorCode::malformed,
                  fmt::format("{}: entry {} of {} has index {}, which is not above the one before and "
                              "below {}",
                              spec_, i, k, at, n));
    }
  }

  Share share_;
  bool error_feedback_ = true;
  std::string spec_;
};

}  // namespace

Method topk_method() {
  return {"topk", Family::sparse, "ratio=0.01 (above 0, at most 1) or k (1..4294967295), ef=on (on, off)",
          "Stich et al., Sparsified SGD with memory, NeurIPS 2018",
          [](Arguments& arguments) { return std::make_shared<const TopK>(arguments); }};
}

}  // namespace ringlet::compress
