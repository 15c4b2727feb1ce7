#include "collective/layout.hpp"

#include <algorithm>

#include "support/catch.hpp"

using namespace ringlet::collective;

TEST_CASE("a layout covers every element once, in grains, and owns evenly", "[collective]") {
  const int ranks = GENERATE(1, 2, 3, 5, 8);
  const std::size_t grain = GENERATE(1u, 16u, 512u);
  const std::size_t chunk = GENERATE(1u, 1000u, 100000u);
  CAPTURE(ranks, grain, chunk);
  const std::vector<Extent> tensors{{0, 1}, {1, 2}, {511, 3}, {512, 4}, {513, 5}, {70000, 6}};
  Layout layout;
  layout.build(tensors, {ranks, grain, chunk});
  std::vector<std::vector<int>> seen;
  for (const auto& tensor : tensors) seen.emplace_back(tensor.elements);
  std::size_t expected_offset = 0, off_grain = 0, wrong = 0;
  for (const Chunk& c : layout.chunks()) {
    if (c.offset != expected_offset || c.elements == 0) ++wrong;
    std::size_t elements = 0;
    for (const Piece& piece : layout.pieces(c)) {
      if (piece.tensor_offset % grain != 0) ++off_grain;
      for (std::size_t i = 0; i < piece.elements; ++i) ++seen[piece.tensor][piece.tensor_offset + i];
      elements += piece.elements;
    }
    if (elements != c.elements) ++wrong;
    expected_offset += c.elements;
  }
  REQUIRE(off_grain == 0);
  REQUIRE(wrong == 0);
  for (const auto& counts : seen) REQUIRE(std::all_of(counts.begin(), counts.end(), [](int n) { return n == 1; }));
  REQUIRE(layout.elements() == 511 + 512 + 513 + 70000 + 1);
  std::size_t least = layout.elements(), most = 0;
  for (int r = 0; r < ranks; ++r) {
    std::size_t owned = 0;
    for (const Chunk& c : layout.part(r)) owned += c.elements;
    least = std::min(least, owned);
    most = std::max(most, owned);
  }
  REQUIRE(most - least <= 6 * grain);
}

TEST_CASE("a tensor's parts do not depend on its company", "[collective]") {
  const auto owned = [](const std::vector<Extent>& tensors, std::size_t which) {
    Layout layout;
    layout.build(tensors, {3, 16, 64});
    std::vector<int> owner(tensors[which].elements, -1);
    for (int r = 0; r < 3; ++r) {
      for (const Chunk& c : layout.part(r)) {
        for (const Piece& piece : layout.pieces(c)) {
          if (piece.tensor == which)
            std::fill_n(owner.begin() + static_cast<std::ptrdiff_t>(piece.tensor_offset), piece.elements, r);
        }
      }
    }
    return owner;
  };
  REQUIRE(owned({{1000, 77}}, 0) == owned({{5, 1}, {1000, 77}, {333, 2}}, 1));
}
