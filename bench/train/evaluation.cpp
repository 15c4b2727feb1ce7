#include "train/evaluation.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "ringlet/collectives.hpp"
#include "ringlet/runtime.hpp"
#include "train/aligned_floats.hpp"
#include "train/loss.hpp"

namespace ringlet::train {
namespace {

/// This rank's share: `images` indices cut into contiguous parts of nearly equal size.
std::vector<std::uint32_t> share(std::size_t images, std::size_t rank, std::size_t ranks) {
  const std::size_t begin = images * rank / ranks;
  std::vector<std::uint32_t> indices(images * (rank + 1) / ranks - begin);
  std::iota(indices.begin(), indices.end(), static_cast<std::uint32_t>(begin));
  return indices;
}

}  // namespace

double evaluate(Model& model, const Dataset& dataset, const Images& images) {
  const auto indices = share(images.count, static_cast<std::size_t>(rank()), static_cast<std::size_t>(size()));
  AlignedFloats pixels(kEvaluationBatch * images.pixels_per_image());
  std::vector<std::uint8_t> labels(kEvaluationBatch);
  std::int64_t correct = 0;
  for (std::size_t begin = 0; begin < indices.size(); begin += kEvaluationBatch) {
    const auto batch = std::span(indices).subspan(begin, std::min(kEvaluationBatch, indices.size() - begin));
    const auto input = std::span(pixels).first(batch.size() * images.pixels_per_image());
    const auto truth = std::span(labels).first(batch.size());
    dataset.gather(images, batch, input, truth);
    correct += static_cast<std::int64_t>(count_correct(model.forward(input), truth));
  }
  allreduce(TensorView(&correct, Shape{1}), {.name = "train.correct", .op = ReduceOp::sum, .compression = "none"});
  return static_cast<double>(correct) / static_cast<double>(images.count);
}

}  // namespace ringlet::train
