#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ringlet::train {

/// How an epoch's images fall to ranks and steps: one shuffle, the same on every rank, cut into steps of nearly equal
/// size and each step into a part a rank. Every image is in exactly one part, and every rank has the same number of
/// steps, which is a multiple of `steps_multiple` (so that accumulation comes out even).
class EpochOrder {
 public:
  /// `images` of them over `ranks`; no part is larger than `batch`. `images`, `ranks`, `batch` and `steps_multiple` are
  /// at least 1.
  EpochOrder(std::size_t images, int ranks, std::size_t batch, std::size_t steps_multiple = 1);

  /// Draws the order of `epoch`: a function of both arguments and of nothing else.
  void shuffle(std::uint64_t seed, std::uint64_t epoch);

  std::size_t steps() const noexcept { return steps_; }
  /// The images of all ranks in `step`.
  std::size_t images_in(std::size_t step) const noexcept { return begin_of(step + 1) - begin_of(step); }
  /// The images of `rank` in `step`; may be none when a step has fewer images than there are ranks.
  std::span<const std::uint32_t> part(std::size_t step, int rank) const noexcept;

 private:
  std::size_t begin_of(std::size_t step) const noexcept { return order_.size() * step / steps_; }

  std::vector<std::uint32_t> order_;
  std::size_t ranks_;
  std::size_t steps_;
};

}  // namespace ringlet::train
