#include <functional>

#include "rank_driver.hpp"
#include "support/catch.hpp"

using namespace ringlet;
using namespace ringlet::test;

namespace {

struct Mismatch {
  const char* what;
  std::function<void(Request&)> change;  // on rank 1
  std::string text;
};

std::vector<Mismatch> mismatches() {
  return {
      {"kind", [](Request& r) { r.kind = Kind::broadcast; },
       "collective \"w\": ranks 0, 2 have kind allreduce, rank 1 has kind broadcast; every rank must pass the same "
       "kind"},
      {"dtype", [](Request& r) { r.dtype = DType::float64; },
       "allreduce \"w\": ranks 0, 2 have dtype float32, rank 1 has dtype float64; every rank must pass the same dtype"},
      {"shape",
       [](Request& r) {
         r.shape = {4, 3};
       },
       "allreduce \"w\": ranks 0, 2 have shape [3, 4], rank 1 has shape [4, 3]; every rank must pass the same shape"},
      {"op", [](Request& r) { r.op = ReduceOp::max; },
       "allreduce \"w\": ranks 0, 2 have op average, rank 1 has op max; every rank must pass the same op"},
      {"root", [](Request& r) { r.root = 2; },
       "allreduce \"w\": ranks 0, 2 have root 0, rank 1 has root 2; every rank must pass the same root"},
      {"prescale", [](Request& r) { r.prescale = 0.25; },
       "allreduce \"w\": ranks 0, 2 have prescale 1, rank 1 has prescale 0.25; every rank must pass the same prescale"},
      {"postscale", [](Request& r) { r.postscale = 3; },
       "allreduce \"w\": ranks 0, 2 have postscale 1, rank 1 has postscale 3; every rank must pass the same postscale"},
      {"compression", [](Request& r) { r.compression = "qsgd(bits=4)"; },
       "allreduce \"w\": ranks 0, 2 have compression none, rank 1 has compression qsgd(bits=4); "
       "every rank must pass the same compression"},
      {"process set", [](Request& r) { r.process_set = 5; },
       "allreduce \"w\": ranks 0, 2 have process set 0, rank 1 has process set 5; every rank must pass the same "
       "process set"},
      {"memory", [](Request& r) { r.on_device = true; },
       "allreduce \"w\": ranks 0, 2 have memory on the host, rank 1 has memory on a device; every rank must pass the "
       "same memory"},
      {"group", [](Request& r) { r.group = "tree"; },
       "allreduce \"w\": ranks 0, 2 have exchange group \"\", rank 1 has exchange group \"tree\"; RINGLET_EXCHANGE and "
       "RINGLET_FUSION_COPY_LIMIT must be the same on every rank"},
  };
}

Request weight() { return summand("w", {3, 4}); }

}  // namespace

TEST_CASE("ranks that disagree: the tensor fails on all of them with one text, and the job goes on") {
  for (const Mismatch& mismatch : mismatches()) {
    for (const bool cached : {false, true}) {
      const auto records = run_job(3, test_settings(), [&](RankDriver& rank) {
        const auto step = [&](bool change) {
          Request r = weight();
          if (change && rank.rank() == 1) mismatch.change(r);
          rank.ready(r);
          rank.ready(summand("other"));
          rank.run_until_idle();
        };
        if (cached) step(false);
        step(true);
        step(false);  // the name is free again
        step(false);
        return rank.finish();
      });
      CAPTURE(mismatch.what, cached);
      for (const Record& r : records) {
        CHECK(r.problem == "");
        CHECK(r.lost.empty());
        REQUIRE(r.failures.size() == 1);
        CHECK(r.failures[0].first == "w");
        CHECK(r.failures[0].second == mismatch.text);
        CHECK(r.buckets == records[0].buckets);
        std::size_t ws = 0, others = 0;
        for (const auto& bucket : r.buckets) {
          for (const auto& name : bucket) ++(name == "w" ? ws : others);
        }
        CHECK(ws == (cached ? 3 : 2));
        CHECK(others == (cached ? 4 : 3));
      }
    }
  }
}

TEST_CASE("a shape that changes on every rank at once is no mismatch, and is cached anew") {
  const int p = GENERATE(1, 2, 6);
  const auto records = run_job(p, test_settings(), [&](RankDriver& rank) {
    for (const std::size_t extent : {3, 3, 5, 5, 3}) {
      rank.ready(summand("w", {extent}));
      rank.run_until_idle();
    }
    return rank.finish();
  });
  for (const Record& r : records) {
    CHECK(r.problem == "");
    CHECK(r.failures.empty());
    CHECK(r.buckets.size() == 5);
    CHECK(r.hits == 2);
    CHECK(r.misses == 3);
  }
}

TEST_CASE("a shape that changes on one rank only: both values and the ranks are named, wherever it sits in the tree") {
  const int p = 8, odd = GENERATE(0, 1, 4, 5, 7);
  const auto records = run_job(p, test_settings(), [&](RankDriver& rank) {
    for (int step = 0; step < 3; ++step) {
      rank.ready(summand("w", {rank.rank() == odd && step == 1 ? 9u : 4u}));
      rank.run_until_idle();
    }
    return rank.finish();
  });
  std::string others;
  for (int r = 0; r < p; ++r) {
    if (r != odd) others += (others.empty() ? "" : ", ") + std::to_string(r);
  }
  const std::string one = "rank " + std::to_string(odd) + " has shape [9]",
                    rest = "ranks " + others + " have shape [4]";
  const std::string text = "allreduce \"w\": " + (odd == 0 ? one + ", " + rest : rest + ", " + one) +
                           "; every rank must pass the same shape";
  for (const Record& r : records) {
    CHECK(r.problem == "");
    REQUIRE(r.failures.size() == 1);
    CHECK(r.failures[0].second == text);
    CHECK(r.buckets.size() == 2);
    CHECK(r.hits == (&r == &records[static_cast<std::size_t>(odd)] ? 1 : 2));
  }
}

TEST_CASE("a tensor may be tried again from inside its failure") {
  const auto records = run_job(3, test_settings(), [&](RankDriver& rank) {
    rank.on_failure = [&] {
      rank.ready(summand("w", {7}));
      rank.coordinator().flush();
    };
    rank.ready(summand("w", {static_cast<std::size_t>(rank.rank())}));
    rank.run_until_idle();
    return rank.finish();
  });
  for (const Record& r : records) {
    CHECK(r.problem == "");
    CHECK(r.failures.size() == 1);
    CHECK(r.buckets == std::vector<std::vector<std::string>>{{"w"}});
  }
}
