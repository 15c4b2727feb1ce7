#pragma once

#include <array>
#include <cstddef>

namespace ringlet::sizes {

/// The trainable tensors of ResNet-50 for 1,000 classes, in elements, in the order of the forward pass; a backward pass
/// makes the gradients from the last to the first. Written as the network is, so that nobody has to trust a list.
///
/// Source  He et al., Deep residual learning for image recognition, CVPR 2016, table 1 (50-layer); normalisation layers
/// with a scale
///         and a shift, projections at the first block of each stage.
class Resnet50 {
 public:
  static constexpr std::size_t kTensors = 161;
  static constexpr std::size_t kElements = 25557032;

  constexpr Resnet50() {
    constexpr std::array<std::size_t, 4> kBlocks{3, 4, 6, 3};
    convolution(3, 64, 7);
    std::size_t in = 64;
    for (std::size_t stage = 0; stage < kBlocks.size(); ++stage) {
      const std::size_t width = std::size_t{64} << stage;
      for (std::size_t block = 0; block < kBlocks[stage]; ++block) {
        bottleneck(in, width, block == 0);
        in = kExpansion * width;
      }
    }
    add(in * kClasses);
    add(kClasses);
  }

  constexpr const std::array<std::size_t, kTensors>& elements() const noexcept { return elements_; }
  constexpr std::size_t tensors() const noexcept { return count_; }
  constexpr std::size_t total() const noexcept { return total_; }

 private:
  static constexpr std::size_t kExpansion = 4;
  static constexpr std::size_t kClasses = 1000;

  constexpr void add(std::size_t elements) {
    elements_.at(count_++) = elements;
    total_ += elements;
  }
  /// A convolution without bias, and the scale and shift of the normalisation after it.
  constexpr void convolution(std::size_t in, std::size_t out, std::size_t kernel) {
    add(in * out * kernel * kernel);
    add(out);
    add(out);
  }
  constexpr void bottleneck(std::size_t in, std::size_t width, bool projects) {
    convolution(in, width, 1);
    convolution(width, width, 3);
    convolution(width, kExpansion * width, 1);
    if (projects) convolution(in, kExpansion * width, 1);
  }

  std::array<std::size_t, kTensors> elements_{};
  std::size_t count_ = 0;
  std::size_t total_ = 0;
};

static_assert(Resnet50().tensors() == Resnet50::kTensors);
static_assert(Resnet50().total() == Resnet50::kElements);

}  // namespace ringlet::sizes
