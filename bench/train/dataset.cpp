#include "train/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "ringlet/error.hpp"
#include "train/idx_file.hpp"

namespace ringlet::train {
namespace {

/// The file as Debian packages it, or unpacked.
std::filesystem::path find(const std::filesystem::path& directory, const std::string& name) {
  for (const char* ending : {".gz", ""}) {
    const std::filesystem::path path = directory / (name + ending);
    if (std::filesystem::exists(path)) return path;
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("{0}/{1}.gz is missing: install the Debian package "
                                                       "dataset-fashion-mnist, or name the data's directory by --data",
                                                       directory.string(), name));
}

Images read_images(const std::filesystem::path& directory, const std::string& prefix) {
  const std::filesystem::path image_file = find(directory, prefix + "-images-idx3-ubyte");
  const std::filesystem::path label_file = find(directory, prefix + "-labels-idx1-ubyte");
  IdxArray pixels = read_idx(image_file, 3);
  IdxArray labels = read_idx(label_file, 1);
  if (pixels.bytes.empty()) throw Error(ErrorCode::malformed, fmt::format("{}: has no images", image_file.string()));
  if (pixels.extents[0] != labels.extents[0]) {
    throw Error(ErrorCode::malformed,
                fmt::format("{}: {} labels for {} images", label_file.string(), labels.extents[0], pixels.extents[0]));
  }
  if (const auto largest = *std::ranges::max_element(labels.bytes); largest >= Dataset::kClasses) {
    throw Error(ErrorCode::malformed,
                fmt::format("{}: label {}; there are {} classes", label_file.string(), largest, Dataset::kClasses));
  }
  return {pixels.extents[0], pixels.extents[1], pixels.extents[2], std::move(pixels.bytes), std::move(labels.bytes)};
}

std::array<float, 256> normalisation(std::span<const std::uint8_t> pixels) {
  std::array<std::size_t, 256> histogram{};
  for (const std::uint8_t pixel : pixels) ++histogram[pixel];
  double sum = 0;
  double squares = 0;
  for (std::size_t grey = 0; grey < histogram.size(); ++grey) {
    const double weight = static_cast<double>(histogram[grey]) / static_cast<double>(pixels.size());
    sum += weight * static_cast<double>(grey);
    squares += weight * static_cast<double>(grey * grey);
  }
  const double variance = squares - sum * sum;
  const double deviation = variance > 0 ? std::sqrt(variance) : 1;  // all pixels alike
  std::array<float, 256> table{};
  for (std::size_t grey = 0; grey < table.size(); ++grey) {
    table[grey] = static_cast<float>((static_cast<double>(grey) - sum) / deviation);
  }
  return table;
}

}  // namespace

Dataset::Dataset(const std::filesystem::path& directory, std::size_t limit)
    : training_(read_images(directory, "train")), test_(read_images(directory, "t10k")) {
  if (training_.rows != test_.rows || training_.columns != test_.columns) {
    throw Error(ErrorCode::malformed,
                fmt::format("{}: training images are {} x {}, test images {} x {}", directory.string(), training_.rows,
                            training_.columns, test_.rows, test_.columns));
  }
  normalised_ = normalisation(training_.pixels);
  if (limit != 0 && limit < training_.count) {
    training_.count = limit;
    training_.pixels.resize(limit * training_.pixels_per_image());
    training_.labels.resize(limit);
  }
}

void Dataset::gather(const Images& images, std::span<const std::uint32_t> indices, std::span<float> pixels,
                     std::span<std::uint8_t> labels) const {
  const std::size_t size = images.pixels_per_image();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::uint8_t* source = images.pixels.data() + indices[i] * size;
    float* target = pixels.data() + i * size;
    for (std::size_t p = 0; p < size; ++p) target[p] = normalised_[source[p]];
    labels[i] = images.labels[indices[i]];
  }
}

}  // namespace ringlet::train
