#pragma once

#include <cstddef>

namespace ringlet::train {

/// Extents of an image or of a layer's feature maps.
struct ImageSize {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t channels = 1;

  constexpr std::size_t elements() const noexcept { return rows * columns * channels; }
};

}  // namespace ringlet::train
