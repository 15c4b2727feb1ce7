#include "coordinator/coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "rank_driver.hpp"
#include "support/catch.hpp"

using namespace ringlet;
using namespace ringlet::test;

namespace {

constexpr int kTensors = 200;

/// Two dtypes and ops, mixed; the sizes differ.
Request mixed(int i) {
  Request r = summand("layer." + std::to_string(i) + ".weight", {static_cast<std::size_t>(1 + i * 37 % 400)});
  if (i % 3 == 0) r.dtype = DType::float16;
  if (i % 5 == 0) r.op = ReduceOp::sum;
  return r;
}

std::vector<int> shuffled(int count, unsigned seed) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

/// Every rank makes the tensors ready in another order, in a few portions.
void random_step(RankDriver& rank, unsigned seed) {
  const auto order = shuffled(kTensors, seed * 100 + static_cast<unsigned>(rank.rank()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank.ready(mixed(order[i]));
    if (i % 50 != 49) continue;
    rank.coordinator().flush();
    rank.net().progress();
  }
  rank.run_until_idle();
}

std::vector<std::string> sorted_names(const std::vector<std::vector<std::string>>& buckets) {
  std::vector<std::string> names;
  for (const auto& bucket : buckets) names.insert(names.end(), bucket.begin(), bucket.end());
  std::sort(names.begin(), names.end());
  return names;
}

void require_no_problem(const std::vector<Record>& records) {
  for (const Record& r : records) {
    REQUIRE(r.problem == "");
    REQUIRE(r.lost == std::vector<std::string>());
    REQUIRE(r.closed == 1);
  }
}

}  // namespace

TEST_CASE("any order on any rank: every rank runs the same buckets, each tensor once a step") {
  const int p = GENERATE(1, 2, 3, 4, 5, 7, 8);
  constexpr int kSteps = 4;
  Settings settings = test_settings();
  settings.fusion_threshold = 2000;
  const auto records = run_job(p, settings, [&](RankDriver& rank) {
    for (unsigned step = 0; step < kSteps; ++step) random_step(rank, step);
    return rank.finish();
  });
  CAPTURE(p);
  require_no_problem(records);
  std::vector<std::string> expected;
  for (int i = 0; i < kTensors * kSteps; ++i) expected.push_back(mixed(i % kTensors).name);
  std::sort(expected.begin(), expected.end());
  CHECK(sorted_names(records[0].buckets) == expected);
  for (const Record& r : records) {
    CHECK(r.buckets == records[0].buckets);
    CHECK(r.misses == kTensors);
    CHECK(r.hits == kTensors * (kSteps - 1));
    CHECK(r.failures.empty());
  }
}

TEST_CASE("buckets keep to the threshold and hold only what matches") {
  Settings settings = test_settings();
  settings.fusion_threshold = 2000;
  const auto records = run_job(3, settings, [&](RankDriver& rank) {
    for (unsigned step = 0; step < 3; ++step) random_step(rank, step);
    return rank.finish();
  });
  require_no_problem(records);
  std::map<std::string, Request> by_name;
  for (int i = 0; i < kTensors; ++i) by_name[mixed(i).name] = mixed(i);
  std::size_t shared = 0;
  for (const auto& bucket : records[0].buckets) {
    std::size_t bytes = 0;
    for (const std::string& name : bucket) {
      const Request& r = by_name.at(name);
      bytes += r.bytes();
      CHECK(r.dtype == by_name.at(bucket.front()).dtype);
      CHECK(r.op == by_name.at(bucket.front()).op);
    }
    CHECK(bytes <= 2000);
    shared += bucket.size() > 1 ? 1 : 0;
  }
  CHECK(shared > 10);
}

TEST_CASE("without fusion every tensor goes alone") {
  Settings settings = test_settings();
  settings.fusion_threshold = 0;
  const auto records = run_job(2, settings, [&](RankDriver& rank) {
    random_step(rank, 1);
    return rank.finish();
  });
  require_no_problem(records);
  CHECK(records[0].buckets.size() == kTensors);
}

TEST_CASE("the steady state negotiates with a few bytes") {
  const int p = GENERATE(2, 5);
  constexpr std::uint64_t kSteps = 20;
  const auto records = run_job(p, test_settings(), [&](RankDriver& rank) {
    const auto step = [&] {
      for (int i = 0; i < kTensors; ++i) rank.ready(mixed(i));
      rank.run_until_idle();
    };
    step();
    const std::uint64_t before = rank.net().traffic().control_sent;
    for (std::uint64_t i = 0; i < kSteps; ++i) step();
    const std::uint64_t sent = rank.net().traffic().control_sent - before;
    Record record = rank.finish();
    record.control_sent = sent;
    return record;
  });
  require_no_problem(records);
  CHECK(records[0].hits == kTensors * kSteps);
  // A leaf sends one run of slots a step: two or three bytes behind the frame's header of nine.
  CHECK(records.back().control_sent <= 16 * kSteps);
  // The root sends each child the order of the tensors in their buckets: four classes interleave, two bytes a tensor at
  // most.
  const auto children = static_cast<std::uint64_t>(std::min(p - 1, 4));
  CHECK(records[0].control_sent <= children * kSteps * (2 * kTensors + 20 * 9));
}

TEST_CASE("tensors that become ready while enough buckets are unfinished share one") {
  Settings settings = test_settings();
  settings.buckets_in_flight = 2;
  const int p = GENERATE(1, 3);
  std::atomic<int> told = 0;
  const auto records = run_job(p, settings, [&](RankDriver& rank) {
    std::vector<std::uint64_t> unfinished;
    rank.on_bucket = [&](std::uint64_t sequence) { unfinished.push_back(sequence); };
    const auto one_by_one = [&](std::string name) {
      const std::size_t before = rank.record().buckets.size();
      rank.ready(summand(name));
      rank.coordinator().flush();
      rank.run_until([&] { return rank.record().buckets.size() > before; });
    };
    one_by_one("a");
    one_by_one("b");
    for (const char* name : {"c", "d", "e"}) rank.ready(summand(name));
    rank.coordinator().flush();
    ++told;
    if (rank.rank() == 0) {
      rank.run_until([&] { return told == p; });
      rank.run_for(20ms);  // all is known here, and would have gone long ago
      if (rank.record().buckets.size() != 2) rank.record().problem = "planned too early";
    }
    rank.coordinator().bucket_done(unfinished[0]);
    rank.run_until([&] { return rank.record().buckets.size() == 3; });
    rank.coordinator().bucket_done(unfinished[1]);
    rank.coordinator().bucket_done(unfinished[2]);
    return rank.finish();
  });
  require_no_problem(records);
  const std::vector<std::vector<std::string>> expected{{"a"}, {"b"}, {"c", "d", "e"}};
  for (const Record& r : records) CHECK(r.buckets == expected);
}

TEST_CASE("with a cycle time the root waits for more") {
  Settings settings = test_settings();
  settings.cycle_time = 500ms;
  const auto records = run_job(2, settings, [&](RankDriver& rank) {
    rank.ready(summand("a"));
    rank.coordinator().flush();
    rank.run_for(10ms);
    rank.ready(summand("b"));
    rank.run_until_idle();
    return rank.finish();
  });
  require_no_problem(records);
  CHECK(records[1].buckets == std::vector<std::vector<std::string>>{{"a", "b"}});
}

TEST_CASE("kinds other than allreduce go alone, and groups apart") {
  const auto records = run_job(3, test_settings(), [&](RankDriver& rank) {
    for (const Kind kind : {Kind::allgather, Kind::broadcast, Kind::reduce_scatter, Kind::alltoall, Kind::barrier}) {
      for (int i = 0; i < 2; ++i) {
        Request r = summand(std::string(coordinator::to_string(kind)) + std::to_string(i));
        r.kind = kind;
        if (kind == Kind::allgather || kind == Kind::alltoall) r.shape = {static_cast<std::size_t>(rank.rank()), 3};
        rank.ready(r);
      }
    }
    for (const char* name : {"p1", "q1", "p2", "q2"}) {
      Request r = summand(name);
      r.group = name[0];
      rank.ready(r);
    }
    rank.run_until_idle();
    return rank.finish();
  });
  require_no_problem(records);
  REQUIRE(records[0].buckets.size() == 12);
  std::set<std::vector<std::string>> buckets(records[0].buckets.begin(), records[0].buckets.end());
  CHECK(buckets.count({"p1", "p2"}) == 1);
  CHECK(buckets.count({"q1", "q2"}) == 1);
}

TEST_CASE("a gathered tensor whose rows differ by rank and step stays cached") {
  const auto records = run_job(3, test_settings(), [&](RankDriver& rank) {
    for (std::size_t step = 0; step < 3; ++step) {
      Request r = summand("rows", {static_cast<std::size_t>(rank.rank()) + step, 4});
      r.kind = Kind::allgather;
      rank.ready(r);
      rank.run_until_idle();
    }
    return rank.finish();
  });
  require_no_problem(records);
  for (const Record& r : records) {
    CHECK(r.misses == 1);
    CHECK(r.hits == 2);
  }
}

TEST_CASE("long names with a common beginning are different tensors") {
  std::string first(300, 'x'), second(300, 'x');
  second[255] = 'y';
  Settings settings = test_settings();
  settings.fusion_threshold = 0;
  const auto records = run_job(3, settings, [&](RankDriver& rank) {
    for (int step = 0; step < 2; ++step) {
      rank.ready(summand(first));
      rank.run_until_idle();
      rank.ready(summand(second));
      rank.run_until_idle();
    }
    return rank.finish();
  });
  require_no_problem(records);
  for (const Record& r : records)
    CHECK(r.buckets == std::vector<std::vector<std::string>>{{first}, {second}, {first}, {second}});
}

TEST_CASE("a full cache: the tensors beyond it go by name, and the root says so once") {
  Settings settings = test_settings();
  settings.cache_capacity = GENERATE(0, 3);
  const auto records = run_job(3, settings, [&](RankDriver& rank) {
    for (unsigned step = 0; step < 3; ++step) {
      for (const int i : shuffled(6, step * 10 + static_cast<unsigned>(rank.rank()))) {
        rank.ready(summand("t" + std::to_string(i)));
      }
      rank.run_until_idle();
      rank.run_for(5ms);
    }
    return rank.finish();
  });
  require_no_problem(records);
  for (const Record& r : records) {
    CHECK(sorted_names(r.buckets).size() == 18);
    CHECK(r.buckets == records[0].buckets);
    CHECK(r.hits == 2 * settings.cache_capacity);
    CHECK(r.misses == 18 - 2 * settings.cache_capacity);
  }
  CHECK(records[1].warnings.empty());
  CHECK(records[2].warnings.empty());
  if (settings.cache_capacity == 0) {
    CHECK(records[0].warnings.empty());  // switched off on purpose
  } else {
    REQUIRE(records[0].warnings.size() == 1);
    CHECK_THAT(records[0].warnings[0], Catch::StartsWith("the response cache is full with 3 tensors: \"t"));
    CHECK_THAT(records[0].warnings[0], Catch::Contains("raise RINGLET_CACHE_CAPACITY"));
  }
}

TEST_CASE("the listener may call back from inside its calls") {
  const int p = GENERATE(1, 2, 6);
  constexpr std::size_t kBuckets = 500;  // would overflow the stack if each were planned inside the one before
  const auto records = run_job(p, test_settings(), [&](RankDriver& rank) {
    rank.on_bucket = [&](std::uint64_t sequence) {
      rank.coordinator().bucket_done(sequence);
      if (sequence + 1 < kBuckets) rank.ready(summand("t" + std::to_string((sequence + 1) % 3)));
      rank.coordinator().flush();
      if (sequence + 1 == kBuckets) rank.coordinator().leave();
    };
    rank.ready(summand("t0"));
    rank.coordinator().flush();
    rank.run_until([&] { return rank.record().closed > 0; });
    return rank.wind_up();
  });
  require_no_problem(records);
  for (const Record& r : records) CHECK(r.buckets.size() == kBuckets);
}

TEST_CASE("first messages of many frames") {
  const auto records = run_job(5, test_settings(), [&](RankDriver& rank) {
    for (int i = 0; i < 1000; ++i) rank.ready(summand(fmt::format("{:0>200}", i)));
    rank.run_until_idle();
    return rank.finish();
  });
  require_no_problem(records);
  CHECK(sorted_names(records[4].buckets).size() == 1000);
  CHECK(records[4].control_sent > 200'000);
}

TEST_CASE("plans come before the leave of a rank that is part of them, and closed last") {
  const int p = GENERATE(1, 2, 3, 6, 8);
  Settings settings = test_settings();
  settings.buckets_in_flight = 1;
  const auto records = run_job(p, settings, [&](RankDriver& rank) {
    rank.on_bucket = [](std::uint64_t) {};  // unfinished: the second bucket is held back, until somebody leaves
    rank.ready(summand("first"));
    rank.coordinator().flush();
    rank.run_until([&] { return rank.record().buckets.size() == 1; });
    rank.ready(summand("held back"));
    rank.coordinator().flush();
    return rank.finish();
  });
  require_no_problem(records);
  for (int r = 0; r < p; ++r) {
    const Record& record = records[static_cast<std::size_t>(r)];
    CHECK(record.buckets == records[0].buckets);
    std::vector<int> gone;
    for (const auto& [buckets, who] : record.left) gone.push_back(who);
    std::sort(gone.begin(), gone.end());
    std::vector<int> others;
    for (int i = 0; i < p; ++i) {
      if (i != r) others.push_back(i);
    }
    CHECK(gone == others);
    CHECK(record.left.empty() == (p == 1));
    for (const auto& [buckets, who] : record.left) CHECK(buckets == record.buckets.size());
  }
}

TEST_CASE("after a leave nothing more is planned, and everyone hears who left") {
  const auto records = run_job(4, test_settings(), [&](RankDriver& rank) {
    if (rank.rank() == 2) {
      rank.run_for(10ms);
      return rank.finish();
    }
    rank.ready(summand("never"));
    rank.coordinator().flush();
    rank.run_until([&] { return !rank.record().left.empty(); });
    return rank.finish();
  });
  for (const Record& r : records) {
    CHECK(r.problem == "");
    CHECK(r.buckets.empty());
    CHECK(r.closed == 1);
  }
  CHECK(records[0].left.front().second == 2);
  CHECK(records[3].left.front().second == 2);
}
