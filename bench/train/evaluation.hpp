#pragma once

#include <cstddef>

#include "train/dataset.hpp"
#include "train/model.hpp"

namespace ringlet::train {

/// Images a batch of evaluate(): what the model must have been made for, at least.
constexpr std::size_t kEvaluationBatch = 64;

/// Fraction of `images` that `model` classifies right. Each rank looks at its share; the counts are summed exactly.
/// Collective.
double evaluate(Model& model, const Dataset& dataset, const Images& images);

}  // namespace ringlet::train
