#include "train/epoch_order.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/catch.hpp"

namespace {

using ringlet::train::EpochOrder;

/// Every image of an epoch in the order in which steps and ranks see them.
std::vector<std::uint32_t> walk(const EpochOrder& order, int ranks) {
  std::vector<std::uint32_t> seen;
  for (std::size_t step = 0; step < order.steps(); ++step) {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto part = order.part(step, rank);
      seen.insert(seen.end(), part.begin(), part.end());
    }
  }
  return seen;
}

}  // namespace

TEST_CASE("An epoch covers every image once, in parts no larger than a batch", "[epoch]") {
  const auto images = GENERATE(1UL, 5UL, 64UL, 1000UL, 60000UL);
  const auto ranks = GENERATE(1, 2, 3, 4, 7);
  const auto batch = GENERATE(1UL, 3UL, 16UL);
  const auto multiple = GENERATE(1UL, 4UL);
  CAPTURE(images, ranks, batch, multiple);
  EpochOrder order(images, ranks, batch, multiple);
  order.shuffle(7, 1);
  REQUIRE(order.steps() % multiple == 0);
  REQUIRE(order.steps() * static_cast<std::size_t>(ranks) * batch >= images);
  std::size_t largest = 0;
  std::size_t total = 0;
  bool sums_match = true;
  for (std::size_t step = 0; step < order.steps(); ++step) {
    std::size_t in_step = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      largest = std::max(largest, order.part(step, rank).size());
      in_step += order.part(step, rank).size();
    }
    sums_match = sums_match && in_step == order.images_in(step);
    total += in_step;
  }
  REQUIRE(sums_match);
  REQUIRE(total == images);
  REQUIRE(largest <= batch);
  std::vector<std::uint32_t> seen = walk(order, ranks);
  std::ranges::sort(seen);
  std::vector<std::uint32_t> expected(images);
  std::iota(expected.begin(), expected.end(), 0U);
  REQUIRE(seen == expected);
}

TEST_CASE("The order depends on seed and epoch and on nothing before", "[epoch]") {
  EpochOrder a(500, 2, 8);
  EpochOrder b(500, 2, 8);
  a.shuffle(3, 1);
  const auto first = walk(a, 2);
  a.shuffle(3, 2);
  const auto second = walk(a, 2);
  b.shuffle(3, 2);
  REQUIRE(walk(b, 2) == second);
  REQUIRE(first != second);
  b.shuffle(4, 2);
  REQUIRE(walk(b, 2) != second);
  b.shuffle(3 + (1ULL << 32), 2);
  REQUIRE(walk(b, 2) != second);
  REQUIRE_FALSE(std::ranges::is_sorted(first));
}

TEST_CASE("A step holds the same images however many ranks share it", "[epoch]") {
  EpochOrder one(1000, 1, 32);
  EpochOrder four(1000, 4, 8);
  one.shuffle(1, 1);
  four.shuffle(1, 1);
  REQUIRE(one.steps() == four.steps());
  REQUIRE(walk(one, 1) == walk(four, 4));
  REQUIRE(one.images_in(5) == four.images_in(5));
}
