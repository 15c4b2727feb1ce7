#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "osu/session.hpp"

namespace ringlet::osu {

/// Element i of rank r's input: small whole numbers of both signs, so that sums of them are exact in every dtype and
/// order.
float sample_value(int rank, std::size_t i) noexcept;
void fill_sample(std::span<float> values, int rank) noexcept;

/// Largest magnitude of sample_value().
constexpr double kLargestSample = 4;

enum class Verdict { pass, fail, unknown };
const char* to_string(Verdict verdict) noexcept;

/// Judges the sum of every rank's sample, `result`. `exchange` is what the counters call it, such as
/// "scatter_reduce/qsgd(bits=4,...)": replicas must agree to the bit, and
///
///   none, fp16, bf16   every bit is right, because the sums are small whole numbers
///   topk               every bit is right: which elements each rank keeps is known
///   qsgd               no element is further off than one step of each encoding it went through
///
/// Of another method only the replicas are compared: unknown, unless they differ. Collective; the worst rank's verdict
/// on every rank.
Verdict judge_sum(std::span<const float> result, const std::string& exchange, const Ranks& ranks);

}  // namespace ringlet::osu
