#include "train/dataset.hpp"

#include <array>
#include <cmath>

#include "ringlet/error.hpp"
#include "scratch_directory.hpp"
#include "support/catch.hpp"

namespace {

using ringlet::train::Dataset;
using ringlet::train::test::Bytes;
using ringlet::train::test::idx;
using ringlet::train::test::ScratchDirectory;

using Extents = std::vector<std::uint32_t>;

/// Five training images of 2 x 3 and two test images.
void write_good(const ScratchDirectory& scratch) {
  Bytes pixels(5 * 6);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(8 * i);
  scratch.write_gz("train-images-idx3-ubyte.gz", idx(Extents{5, 2, 3}, pixels));
  scratch.write_gz("train-labels-idx1-ubyte.gz", idx(Extents{5}, Bytes{9, 8, 7, 6, 5}));
  scratch.write("t10k-images-idx3-ubyte", idx(Extents{2, 2, 3}, Bytes(12, 3)));
  scratch.write_gz("t10k-labels-idx1-ubyte.gz", idx(Extents{2}, Bytes{0, 1}));
}

void require_refusal(const ScratchDirectory& scratch, const std::string& text) {
  REQUIRE_THROWS_WITH(Dataset(scratch.path()), Catch::Contains(text));
}

}  // namespace

TEST_CASE("Training images come out with mean 0 and variance 1, in the order asked for", "[dataset]") {
  const ScratchDirectory scratch("dataset_good");
  write_good(scratch);
  const Dataset dataset(scratch.path());
  REQUIRE(dataset.training().count == 5);
  REQUIRE(dataset.test().count == 2);
  std::vector<float> pixels(30);
  Bytes labels(5);
  dataset.gather(dataset.training(), std::array<std::uint32_t, 5>{4, 0, 3, 1, 2}, pixels, labels);
  REQUIRE(labels == Bytes{5, 9, 6, 8, 7});
  double sum = 0;
  double squares = 0;
  for (const float pixel : pixels) {
    sum += pixel;
    squares += double{pixel} * pixel;
  }
  REQUIRE(std::abs(sum) < 1e-4);
  REQUIRE(std::abs(squares / 30 - 1) < 1e-5);
  REQUIRE(pixels[0] > pixels[29]);  // image 4 is brighter than image 2
  REQUIRE(pixels[6] < pixels[7]);
}

TEST_CASE("A limit keeps the first images and the normalisation of all", "[dataset]") {
  const ScratchDirectory scratch("dataset_limit");
  write_good(scratch);
  const Dataset all(scratch.path());
  const Dataset two(scratch.path(), 2);
  REQUIRE(two.training().count == 2);
  REQUIRE(two.training().labels == Bytes{9, 8});
  REQUIRE(two.training().pixels.size() == 12);
  REQUIRE(Dataset(scratch.path(), 99).training().count == 5);
  std::array<float, 6> a{}, b{};
  Bytes label(1);
  all.gather(all.training(), std::array<std::uint32_t, 1>{1}, a, label);
  two.gather(two.training(), std::array<std::uint32_t, 1>{1}, b, label);
  REQUIRE(a == b);
}

TEST_CASE("A data set that contradicts itself is refused by what is wrong", "[dataset]") {
  const ScratchDirectory scratch("dataset_bad");
  require_refusal(scratch, "dataset-fashion-mnist");
  write_good(scratch);
  scratch.write_gz("train-labels-idx1-ubyte.gz", idx(Extents{4}, Bytes(4)));
  require_refusal(scratch, "4 labels for 5 images");
  scratch.write_gz("train-labels-idx1-ubyte.gz", idx(Extents{5}, Bytes{0, 1, 2, 3, 10}));
  require_refusal(scratch, "label 10");
  write_good(scratch);
  scratch.write("t10k-images-idx3-ubyte", idx(Extents{2, 3, 2}, Bytes(12)));
  require_refusal(scratch, "training images are 2 x 3, test images 3 x 2");
  write_good(scratch);
  scratch.write_gz("train-images-idx3-ubyte.gz", idx(Extents{0, 2, 3}, {}));
  require_refusal(scratch, "has no images");
}
