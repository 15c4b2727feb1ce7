#include "train/epoch_order.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace ringlet::train {
namespace {

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace

EpochOrder::EpochOrder(std::size_t images, int ranks, std::size_t batch, std::size_t steps_multiple)
    : order_(images), ranks_(static_cast<std::size_t>(ranks)) {
  steps_ = divide_up(divide_up(images, ranks_ * batch), steps_multiple) * steps_multiple;
  std::iota(order_.begin(), order_.end(), 0U);
}

void EpochOrder::shuffle(std::uint64_t seed, std::uint64_t epoch) {
  std::seed_seq mix{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                    static_cast<std::uint32_t>(epoch)};
  std::mt19937_64 random(mix);
  std::iota(order_.begin(), order_.end(), 0U);
  // Fisher and Yates by hand: std::shuffle may differ between standard libraries. The modulo's bias is below 2^-31.
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random() % i]);
}

std::span<const std::uint32_t> EpochOrder::part(std::size_t step, int rank) const noexcept {
  const auto index = static_cast<std::size_t>(rank);
  const std::size_t images = images_in(step);
  const std::size_t begin = images * index / ranks_;
  const std::size_t end = images * (index + 1) / ranks_;
  return std::span(order_).subspan(begin_of(step) + begin, end - begin);
}

}  // namespace ringlet::train
