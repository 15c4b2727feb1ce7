#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ringlet::train {

/// Sum over the samples of the cross-entropy between softmax(logits) and the labels, in double.
/// `logits` holds labels.size() rows of equal length.
double cross_entropy(std::span<const float> logits, std::span<const std::uint8_t> labels);

/// The gradient of `scale` times that sum, by the logits.
void cross_entropy_gradient(std::span<const float> logits, std::span<const std::uint8_t> labels, float scale,
                            std::span<float> gradient);

/// Samples whose largest logit is their label's.
std::size_t count_correct(std::span<const float> logits, std::span<const std::uint8_t> labels);

}  // namespace ringlet::train
