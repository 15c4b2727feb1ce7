#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace ringlet::train {

/// Labelled images of one size, kept as bytes: 60,000 of them in every rank's memory as floats would cost four times as
/// much.
struct Images {
  std::size_t count = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<std::uint8_t> pixels;  ///< count x rows x columns
  std::vector<std::uint8_t> labels;  ///< count, each below Dataset::kClasses

  std::size_t pixels_per_image() const noexcept { return rows * columns; }
};

/// A data set of the MNIST family, with grey values mapped to mean 0 and variance 1 over the training images.
class Dataset {
 public:
  static constexpr std::size_t kClasses = 10;

  /// Reads the four files of `directory`; keeps the first `limit` training images (0: all).
  /// Errors: Error{invalid_argument} when the directory has not got them; Error{malformed} when they contradict
  /// themselves or each other.
  explicit Dataset(const std::filesystem::path& directory, std::size_t limit = 0);

  const Images& training() const noexcept { return training_; }
  const Images& test() const noexcept { return test_; }

  /// Writes the images `indices` of `images` and their labels, one after the other.
  void gather(const Images& images, std::span<const std::uint32_t> indices, std::span<float> pixels,
              std::span<std::uint8_t> labels) const;

 private:
  Images training_;
  Images test_;
  std::array<float, 256> normalised_{};  // by grey value
};

}  // namespace ringlet::train
