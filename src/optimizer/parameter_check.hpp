#pragma once

#include <span>
#include <string>

#include "ringlet/optimizer.hpp"

namespace ringlet::optimizer {

/// What this rank alone can see: Error{invalid_argument} naming the parameter whose value and gradient are not writable
/// float32 host tensors of one shape, that has no name or that of another.
void check_parameters(std::span<const Parameter> parameters);

/// What only the ranks together can see: gathers every rank's names and shapes, as the tensor `name`, and throws
/// Error{mismatch} with the first difference and its rank, the same on every rank. Collective.
void check_same_on_every_rank(std::span<const Parameter> parameters, const std::string& name);

}  // namespace ringlet::optimizer
