#include "train/loss.hpp"

#include <algorithm>
#include <cmath>

namespace ringlet::train {
namespace {

std::size_t classes(std::span<const float> logits, std::span<const std::uint8_t> labels) {
  return labels.empty() ? 0 : logits.size() / labels.size();
}

/// log of the sum of exp(logit), where no exponential can overflow.
double log_sum_exp(std::span<const float> row) {
  const double largest = *std::ranges::max_element(row);
  double sum = 0;
  for (const float logit : row) sum += std::exp(double{logit} - largest);
  return largest + std::log(sum);
}

}  // namespace

double cross_entropy(std::span<const float> logits, std::span<const std::uint8_t> labels) {
  const std::size_t width = classes(logits, labels);
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = logits.subspan(i * width, width);
    sum += log_sum_exp(row) - double{row[labels[i]]};
  }
  return sum;
}

void cross_entropy_gradient(std::span<const float> logits, std::span<const std::uint8_t> labels, float scale,
                            std::span<float> gradient) {
  const std::size_t width = classes(logits, labels);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = logits.subspan(i * width, width);
    const auto out = gradient.subspan(i * width, width);
    const double normaliser = log_sum_exp(row);
    for (std::size_t c = 0; c < width; ++c) {
      const double probability = std::exp(double{row[c]} - normaliser);
      out[c] = scale * static_cast<float>(probability - (c == labels[i] ? 1.0 : 0.0));
    }
  }
}

std::size_t count_correct(std::span<const float> logits, std::span<const std::uint8_t> labels) {
  const std::size_t width = classes(logits, labels);
  std::size_t correct = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = logits.subspan(i * width, width);
    correct += std::ranges::max_element(row) - row.begin() == labels[i] ? 1U : 0U;
  }
  return correct;
}

}  // namespace ringlet::train
