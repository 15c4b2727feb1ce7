#include "osu/validation.hpp"

#include <mpi.h>

#include <string>
#include <vector>

#include "support/catch.hpp"

using ringlet::osu::judge_sum;
using ringlet::osu::Ranks;
using ringlet::osu::sample_value;
using ringlet::osu::Verdict;

namespace {

constexpr std::size_t kElements = 5000;

Ranks world() {
  Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  return ranks;
}

std::vector<float> right_sum(int ranks) {
  std::vector<float> sum(kElements);
  for (int r = 0; r < ranks; ++r) {
    for (std::size_t i = 0; i < kElements; ++i) sum[i] += sample_value(r, i);
  }
  return sum;
}

}  // namespace

TEST_CASE("the right sum passes under every spec that keeps it exact", "[bench]") {
  const auto exchange =
      GENERATE(values<std::string>({"scatter_reduce/none", "scatter_reduce/fp16(ef=off)", "ring/bf16(ef=off)",
                                    "scatter_reduce/qsgd(bits=4,bucket=512,norm=linf)", "all_gather/topk(ratio=1)"}));
  CAPTURE(exchange);
  CHECK(judge_sum(right_sum(world().size), exchange, world()) == Verdict::pass);
}

TEST_CASE("one wrong element on one rank fails on all", "[bench]") {
  const auto exchange = GENERATE(values<std::string>({"scatter_reduce/none", "scatter_reduce/fp16(ef=off)",
                                                      "scatter_reduce/qsgd(bits=8,bucket=512,norm=linf)",
                                                      "all_gather/topk(ratio=1)", "scatter_reduce/something_new"}));
  CAPTURE(exchange);
  const Ranks ranks = world();
  auto sum = right_sum(ranks.size);
  if (ranks.rank == ranks.size - 1) sum[kElements - 1] += 100;
  const bool is_unknown = exchange.ends_with("something_new");
  // alone, a rank has no replica to differ from
  CHECK(judge_sum(sum, exchange, ranks) == (is_unknown && ranks.size == 1 ? Verdict::unknown : Verdict::fail));
}

TEST_CASE("the same wrong element on all ranks fails", "[bench]") {
  const auto exchange =
      GENERATE(values<std::string>({"scatter_reduce/none", "scatter_reduce/bf16(ef=off)", "all_gather/topk(ratio=1)"}));
  CAPTURE(exchange);
  auto sum = right_sum(world().size);
  sum[17] += 1;
  CHECK(judge_sum(sum, exchange, world()) == Verdict::fail);
}

TEST_CASE("a quantizer may be off by its steps and no further", "[bench]") {
  const Ranks ranks = world();
  // 127 levels between 0 and 4, and between 0 and the sum's largest
  const std::string exchange = "scatter_reduce/qsgd(bits=8,bucket=512,norm=linf,rounding=stochastic,ef=on)";
  const auto step = static_cast<float>(4.0 / 127);
  auto sum = right_sum(ranks.size);
  sum[3] += step * static_cast<float>(ranks.size);
  CHECK(judge_sum(sum, exchange, ranks) == Verdict::pass);
  sum[3] += 2 * step * static_cast<float>(ranks.size);
  CHECK(judge_sum(sum, exchange, ranks) == Verdict::fail);
}

TEST_CASE("a selection must be the one that the method makes", "[bench]") {
  const Ranks ranks = world();
  const std::string exchange = "all_gather/topk(ratio=0.01,ef=on)";
  std::vector<float> sum(kElements);
  CHECK(judge_sum(sum, exchange, ranks) == Verdict::fail);
  for (int r = 0; r < ranks.size; ++r) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < kElements && kept < kElements / 100; ++i) {
      if (sample_value(r, i) != 4) continue;  // an eighth of all: more than are kept
      sum[i] += 4;
      ++kept;
    }
  }
  CHECK(judge_sum(sum, exchange, ranks) == Verdict::pass);
}
