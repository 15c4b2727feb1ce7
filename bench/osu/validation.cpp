#include "osu/validation.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace ringlet::osu {
namespace {

/// The text of `key`'s value in "name(key=value,...)", or `otherwise`.
std::string argument(const std::string& spec, const std::string& key, const std::string& otherwise) {
  for (const char before : {'(', ','}) {
    const auto at = spec.find(before + key + "=");
    if (at == std::string::npos) continue;
    const auto begin = at + key.size() + 2;
    return spec.substr(begin, spec.find_first_of(",)", begin) - begin);
  }
  return otherwise;
}

double number(const std::string& spec, const std::string& key, double otherwise) {
  const std::string text = argument(spec, key, "");
  return text.empty() ? otherwise : std::strtod(text.c_str(), nullptr);
}

/// One encoding of elements up to `magnitude` moves none further than this.
double qsgd_step(const std::string& spec, double magnitude) {
  const double bits = number(spec, "bits", 4);
  const std::string norm = argument(spec, "norm", "linf");
  if (norm == "minmax") return 2 * magnitude / (std::exp2(bits) - 1);
  const double scale = norm == "l2" ? magnitude * std::sqrt(number(spec, "bucket", 512)) : magnitude;
  return scale / (std::exp2(bits - 1) - 1);
}

/// Where everybody's contribution reaches the owner, each is encoded once and the sum once more; where sums travel from
/// rank to rank, each of at most P hops encodes one. The last term is float32's rounding.
double qsgd_bound(const std::string& schedule, const std::string& spec, int ranks) {
  const double contributions = ranks * qsgd_step(spec, kLargestSample);
  const double sum = ranks * kLargestSample + contributions;
  const bool hop_by_hop = schedule != "scatter_reduce" && schedule != "all_gather";
  return (hop_by_hop ? ranks : 1) * (contributions + qsgd_step(spec, sum)) + 1e-4 * sum;
}

/// Adds to `sum` what rank `rank` keeps of its sample: the k of largest magnitude, of equals the first.
void add_largest(std::vector<float>& sum, int rank, std::size_t k) {
  constexpr auto kMagnitudes = static_cast<std::size_t>(kLargestSample) + 1;
  const auto magnitude = [&](std::size_t i) { return static_cast<std::size_t>(std::abs(sample_value(rank, i))); };
  std::array<std::size_t, kMagnitudes> counts{};
  for (std::size_t i = 0; i < sum.size(); ++i) ++counts[magnitude(i)];
  std::array<std::size_t, kMagnitudes> kept{};
  for (std::size_t m = kMagnitudes; m-- > 0; k -= kept[m]) kept[m] = std::min(k, counts[m]);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (kept[magnitude(i)] == 0) continue;
    --kept[magnitude(i)];
    sum[i] += sample_value(rank, i);
  }
}

std::vector<float> exact_sum(std::size_t elements, int ranks) {
  std::vector<float> sum(elements);
  for (int r = 0; r < ranks; ++r) {
    for (std::size_t i = 0; i < elements; ++i) sum[i] += sample_value(r, i);
  }
  return sum;
}

std::vector<float> topk_sum(std::size_t elements, const std::string& spec, int ranks) {
  const auto by_ratio = static_cast<std::size_t>(number(spec, "ratio", 0.01) * static_cast<double>(elements));
  const auto k =
      std::clamp<std::size_t>(static_cast<std::size_t>(number(spec, "k", static_cast<double>(by_ratio))), 1, elements);
  std::vector<float> sum(elements);
  for (int r = 0; r < ranks; ++r) add_largest(sum, r, k);
  return sum;
}

/// -0 and +0 are the same sum.
bool equal(std::span<const float> result, const std::vector<float>& expected) {
  return std::equal(result.begin(), result.end(), expected.begin());
}

bool within(std::span<const float> result, const std::vector<float>& expected, double bound) {
  return std::equal(result.begin(), result.end(), expected.begin(),
                    [bound](float a, float b) { return std::abs(static_cast<double>(a) - b) <= bound; });
}

bool replicas_agree(std::span<const float> result) {
  std::uint64_t mine = 14695981039346656037U, least = 0, most = 0;  // FNV-1a over the words
  for (const float x : result) mine = (mine ^ std::bit_cast<std::uint32_t>(x)) * 1099511628211U;
  MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return least == most;
}

Verdict judge_values(std::span<const float> result, const std::string& exchange, int ranks) {
  const auto slash = std::min(exchange.find('/'), exchange.size());
  const std::string schedule = exchange.substr(0, slash), spec = exchange.substr(std::min(slash + 1, exchange.size()));
  const std::string method = spec.substr(0, spec.find('('));
  const auto verdict = [](bool right) { return right ? Verdict::pass : Verdict::fail; };
  if (method == "none" || method == "fp16" || method == "bf16")
    return verdict(equal(result, exact_sum(result.size(), ranks)));
  if (method == "topk") return verdict(equal(result, topk_sum(result.size(), spec, ranks)));
  if (method == "qsgd")
    return verdict(within(result, exact_sum(result.size(), ranks), qsgd_bound(schedule, spec, ranks)));
  return Verdict::unknown;
}

}  // namespace

float sample_value(int rank, std::size_t i) noexcept {
  // Knuth's multiplicative hash: no period that a chunk or a part could share
  const auto mixed = static_cast<std::uint32_t>(i + 1) * 2654435761U + static_cast<std::uint32_t>(rank) * 2246822519U;
  return static_cast<float>(mixed >> 29) - 3.0F;  // -3 .. 4
}

void fill_sample(std::span<float> values, int rank) noexcept {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = sample_value(rank, i);
}

const char* to_string(Verdict verdict) noexcept {
  return verdict == Verdict::pass ? "Pass" : verdict == Verdict::fail ? "Fail" : "Agree";
}

Verdict judge_sum(std::span<const float> result, const std::string& exchange, const Ranks& ranks) {
  const bool agree = replicas_agree(result);
  Verdict mine = judge_values(result, exchange, ranks.size);
  if (!agree) mine = Verdict::fail;
  const int failed = mine == Verdict::fail ? 1 : 0;
  int any = 0;
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return any != 0 ? Verdict::fail : mine;
}

}  // namespace ringlet::osu
