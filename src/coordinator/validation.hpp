#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/messages.hpp"
#include "coordinator/request.hpp"

namespace ringlet::coordinator {

/// "rank 3", "ranks 0, 2 and 5"-like lists for error texts: "ranks 0, 2, 5", at most `limit` of them, then "and N
/// more".
std::string rank_list(std::span<const int> ranks, std::size_t limit);

/// Whether two requests under one name can be executed together. A barrier needs nothing but the kind; all-gather and
/// all-to-all may differ in the first extent.
bool agree(const Request& a, const Request& b);

/// Why the variants of one tensor do not agree: every field that differs, with its values and the ranks that have them.
///   allreduce "conv1.weight": ranks 0, 2 have shape [3, 4], rank 1 has shape [4, 3]; every rank must pass the same
///   shape
std::string mismatch_text(std::string_view name, std::span<const Variant> variants, const Tree& tree);

}  // namespace ringlet::coordinator
