#include <array>
#include <atomic>
#include <random>

#include "coordinator/messages.hpp"
#include "rank_driver.hpp"
#include "support/catch.hpp"
#include "support/transport_suite.hpp"

using namespace ringlet;
using namespace ringlet::test;

namespace {

/// Short times: a stall shows within a second, and nothing is asserted about how soon.
Settings hasty() {
  Settings settings;
  settings.timeout = 600ms;
  settings.stall_warning = 0ms;
  return settings;
}

/// Whether the root has warned of this yet; a slow machine may warn of a part first.
bool has_warned(RankDriver& rank, const std::string& of) {
  const auto& warnings = rank.record().warnings;
  return rank.rank() == 0 && !warnings.empty() && warnings.back().find(of) != std::string::npos;
}

std::string tensor(int i) { return "t" + std::to_string(100 + i); }

}  // namespace

TEST_CASE("an abort reaches every rank, with the rank and its reason, once") {
  const int p = GENERATE(1, 2, 3, 6, 8);
  for (int culprit = 0; culprit < p; ++culprit) {
    const auto records = run_job(p, test_settings(), [&](RankDriver& rank) {
      rank.ready(summand("a"));
      rank.run_until_idle();
      if (rank.rank() == culprit) rank.coordinator().abort(Error(ErrorCode::internal, "out of coffee"));
      rank.ready(summand("b"));
      rank.coordinator().flush();
      rank.run_until([] { return false; });
      rank.coordinator().abort(Error(ErrorCode::internal, "too late"));
      rank.coordinator().leave();
      return rank.wind_up();
    });
    CAPTURE(p, culprit);
    for (const Record& r : records) {
      CHECK(r.problem == "");
      CHECK(r.lost == std::vector<std::string>{"rank " + std::to_string(culprit) + ": out of coffee"});
      CHECK(r.lost_codes == std::vector<ErrorCode>{ErrorCode::peer_lost});
      CHECK(r.closed == 0);
    }
  }
}

TEST_CASE("all ranks abort at once: each hears one of them") {
  const int p = 8;
  const auto records = run_job(p, test_settings(), [&](RankDriver& rank) {
    rank.coordinator().abort(Error(ErrorCode::internal, "me"));
    rank.run_for(20ms);
    return rank.wind_up();
  });
  for (const Record& r : records) {
    REQUIRE(r.lost.size() == 1);
    CHECK_THAT(r.lost[0], Catch::EndsWith(": me"));
  }
}

TEST_CASE("an abort from inside a listener's call") {
  const auto records = run_job(3, test_settings(), [&](RankDriver& rank) {
    rank.on_bucket = [&](std::uint64_t) {
      if (rank.rank() == 1) rank.coordinator().abort(Error(ErrorCode::callback, "in the middle"));
    };
    rank.ready(summand("a"));
    rank.coordinator().flush();
    rank.run_until([] { return false; });
    return rank.wind_up();
  });
  for (const Record& r : records) {
    CHECK(r.problem == "");
    CHECK(r.lost == std::vector<std::string>{"rank 1: in the middle"});
  }
}

TEST_CASE("a transport that fails is told to the listener as it is") {
  const auto records = run_job(2, test_settings(), [&](RankDriver& rank) {
    rank.net().fail(Error(ErrorCode::backend, "the cable is gone"));
    rank.run_until([] { return false; });
    return rank.wind_up();
  });
  for (const Record& r : records) {
    CHECK(r.lost == std::vector<std::string>{"the cable is gone"});
    CHECK(r.lost_codes == std::vector<ErrorCode>{ErrorCode::backend});
  }
}

TEST_CASE("stalled tensors: one warning at the root, sorted and bounded, with the missing ranks") {
  const int p = 8;
  Settings settings = test_settings();
  settings.stall_warning = 200ms;
  std::atomic<bool> warned = false;
  const auto records = run_job(p, settings, [&](RankDriver& rank) {
    // Rank 3 has none of them, rank 6 (below rank 1) lacks one more.
    for (int i = 12; i >= 0; --i) {
      if (rank.rank() == 3 || (rank.rank() == 6 && i == 1)) continue;
      rank.ready(summand(tensor(i)));
    }
    rank.coordinator().flush();
    rank.run_until([&] {
      if (has_warned(rank, "\"t101\" waits for ranks 3, 6 (")) warned = true;
      return warned.load();
    });
    if (rank.rank() == 3) {
      for (int i = 0; i < 13; ++i) rank.ready(summand(tensor(i)));
    } else if (rank.rank() == 6) {
      rank.ready(summand(tensor(1)));
    }
    rank.run_until_idle();
    return rank.finish();
  });
  for (const Record& r : records) {
    CHECK(r.problem == "");
    CHECK(r.lost.empty());
    if (&r != &records[0]) CHECK(r.warnings.empty());
  }
  REQUIRE(!records[0].warnings.empty());
  const std::string& text = records[0].warnings.back();
  CAPTURE(text);
  CHECK_THAT(text, Catch::StartsWith("13 tensors are ready on some ranks only: \"t100\" waits for rank 3 (0."));
  CHECK_THAT(text, Catch::Contains("s); \"t101\" waits for ranks 3, 6 (0."));
  CHECK_THAT(text, Catch::Contains("s); \"t109\" waits for rank 3 ("));
  CHECK_THAT(text, !Catch::Contains("t110"));
  CHECK_THAT(text, Catch::EndsWith("; and 3 more tensors"));
}

TEST_CASE("a stalled tensor that only ranks far from the root have is known to the root") {
  Settings settings = test_settings();
  settings.stall_warning = 200ms;
  std::atomic<bool> warned = false;
  const auto records = run_job(8, settings, [&](RankDriver& rank) {
    if (rank.rank() == 6) rank.ready(summand("model_1_x"));
    if (rank.rank() == 4) rank.ready(summand("model_x"));
    rank.coordinator().flush();
    rank.run_until([&] {
      if (has_warned(rank, "\"model_1_x\"") && has_warned(rank, "\"model_x\"")) warned = true;
      return warned.load();
    });
    rank.run_for(5ms);
    return rank.wind_up();
  });
  REQUIRE(!records[0].warnings.empty());
  const std::string& text = records[0].warnings.back();
  CAPTURE(text);
  CHECK_THAT(text, Catch::Contains("\"model_1_x\" waits for ranks 0, 1, 2, 3, 4, 5, 7 ("));
  CHECK_THAT(text, Catch::Contains("\"model_x\" waits for ranks 0, 1, 2, 3, 5, 6, 7 ("));
}

TEST_CASE("warnings about a stall are repeated, but not more often than asked for") {
  Settings settings = test_settings();
  settings.stall_warning = 100ms;
  const auto records = run_job(2, settings, [&](RankDriver& rank) {
    if (rank.rank() == 0) rank.ready(summand("a"));
    rank.coordinator().flush();
    if (rank.rank() == 0)
      rank.run_until([&] { return rank.record().warnings.size() >= 3; });
    else
      rank.run_for(350ms);
    return rank.wind_up();
  });
  REQUIRE(records[0].warnings.size() == 3);
  CHECK_THAT(records[0].warnings[2],
             Catch::StartsWith("a tensor is ready on some ranks only: \"a\" waits for rank 1 ("));
}

TEST_CASE("a rank that lacks a tensor: every rank is told which and who, in time") {
  const int p = GENERATE(2, 3, 8), late = p - 1;
  const auto records = run_job(p, hasty(), [&](RankDriver& rank) {
    rank.ready(summand("a"));
    rank.run_until_idle();
    if (rank.rank() != late) rank.ready(summand("b"));
    rank.coordinator().flush();
    rank.run_until([] { return false; });
    return rank.wind_up();
  });
  CAPTURE(p);
  for (const Record& r : records) {
    CHECK(r.problem == "");
    REQUIRE(r.lost.size() == 1);
    CHECK(r.lost_codes[0] == ErrorCode::timeout);
    CHECK_THAT(r.lost[0], Catch::StartsWith("rank 0: no progress for 0."));
    CHECK_THAT(r.lost[0], Catch::Contains("\"b\" waits for rank " + std::to_string(late) + " ("));
  }
}

TEST_CASE("a rank that falls silent, wherever in the tree: all others give up") {
  const int p = 7, silent = GENERATE(0, 1, 3, 6);
  std::atomic<int> over = 0;
  const auto records = run_job(p, hasty(), [&](RankDriver& rank) {
    rank.ready(summand("a"));
    rank.run_until_idle();
    if (rank.rank() == silent) {
      while (over.load() < p - 1) std::this_thread::sleep_for(5ms);
      rank.net().fail(Error(ErrorCode::internal, "the test is over"));
      return rank.wind_up();
    }
    rank.ready(summand("b"));
    rank.coordinator().flush();
    rank.run_until([] { return false; });
    ++over;
    return rank.wind_up();
  });
  CAPTURE(silent);
  for (int r = 0; r < p; ++r) {
    if (r == silent) continue;
    const Record& record = records[static_cast<std::size_t>(r)];
    CAPTURE(r, record.lost);
    CHECK(record.problem == "");
    REQUIRE(record.lost.size() == 1);
    CHECK(record.lost_codes[0] == ErrorCode::timeout);
    const std::string who = "rank " + std::to_string(silent);
    if (silent == 0 || (silent == 1 && r > 4)) {
      // Those below rank 1 may give up before they hear that it has.
      if (r <= 4 || silent == 1)
        CHECK_THAT(record.lost[0], Catch::Contains("no word from " + who + " (its parent) for 0."));
      CHECK_THAT(record.lost[0], Catch::EndsWith(", which \"b\" wait for"));
    } else if (silent == 1) {
      CHECK_THAT(record.lost[0], Catch::Contains("\"b\" waits for ranks 1, 5, 6 ("));  // nobody heard of those below
    } else {
      CHECK_THAT(record.lost[0], Catch::Contains("\"b\" waits for " + who + " ("));
    }
  }
}

TEST_CASE("a bucket that does not move is a timeout, one that moves is not") {
  const bool moves = GENERATE(false, true);
  Settings settings = hasty();
  const auto records = run_job(2, settings, [&](RankDriver& rank) {
    rank.on_bucket = [](std::uint64_t) {};
    rank.ready(summand("a"));
    rank.ready(summand("b"));
    rank.run_until_idle();
    if (!moves) {
      rank.run_until([] { return false; });
      return rank.wind_up();
    }
    for (Tag tag = 100; tag < 140 && !rank.is_lost(); ++tag) {  // 1 s, well over the timeout
      suite::Rank self{rank.net()};
      TaskScope scope;
      scope.spawn(rank.rank() == 0 ? suite::send_message(self, 1, tag, 0, 8)
                                   : suite::expect_message(self, 0, tag, 0, 8, 8));
      rank.run_until([&] { return scope.running() == 0; });
      rank.run_for(25ms);
      if (scope.running() > 0) rank.net().fail(Error(ErrorCode::internal, "the test is over"));
      rank.net().progress();
    }
    rank.coordinator().bucket_done(0);
    return rank.finish();
  });
  for (const Record& r : records) {
    CAPTURE(r.lost);
    CHECK(r.problem == "");
    CHECK(r.lost.size() == (moves ? 0u : 1u));
    if (!moves) {
      CHECK_THAT(r.lost[0], Catch::Contains(": bucket 0 (\"a\" and 1 more tensors) has not moved for 0.") &&
                                Catch::Contains("every rank answers"));
    }
  }
}

TEST_CASE("a rank that stops in the middle of a bucket is named, and those below it are not") {
  const int ranks = GENERATE(3, 7);  // of 7, rank 1 has 5 and 6 below it
  std::atomic<int> told{0};
  const auto records = run_job(ranks, hasty(), [&](RankDriver& rank) {
    rank.on_bucket = [](std::uint64_t) {};
    rank.ready(summand("a"));
    rank.run_until_idle();
    if (rank.rank() == 1) {
      while (told < ranks - 1) std::this_thread::sleep_for(1ms);
    } else {
      rank.run_until([] { return false; });
      ++told;
    }
    return rank.wind_up();
  });
  for (const int rank : {0, 2}) {
    const Record& record = records[static_cast<std::size_t>(rank)];
    CHECK(record.problem == "");
    REQUIRE(record.lost.size() == 1);
    CHECK_THAT(record.lost[0], Catch::Contains("has not moved for") && Catch::Contains("; rank 1 does not answer"));
  }
}

TEST_CASE("silence is no reason to give up when nothing is pending") {
  Settings settings = hasty();
  const auto records = run_job(3, settings, [&](RankDriver& rank) {
    rank.ready(summand("a"));
    rank.run_until_idle();
    rank.run_for(800ms);
    rank.ready(summand("a"));
    rank.run_until_idle();
    return rank.finish();
  });
  for (const Record& r : records) {
    CHECK(r.problem == "");
    CHECK(r.lost.empty());
    CHECK(r.buckets.size() == 2);
  }
}

TEST_CASE("a neighbour that talks rubbish ends the job, and the text says who") {
  using coordinator::Item;
  struct Case {
    std::vector<Item> items;
    const char* text;
  };
  const std::vector<Case> cases{
      {{coordinator::SlotRun{0, 1}}, "slots 0 to 1, but there are 0"},
      {{coordinator::SlotRun{5, 4'000'000'000u}}, "slots 5 to 4000000005, but there are 0"},
      {{coordinator::Partial{coordinator::Slot{3}, 5, {}}}, "slots 3 to 4, but there are 0"},
      {{coordinator::Named{"x", {{Request{}, {{1, true}}}}}, coordinator::Named{"x", {{Request{}, {{1, true}}}}}},
       "\"x\" became ready twice"},
      {{coordinator::BucketEnd{}}, "a child sent what only a parent sends"},
      {{coordinator::Left{1}, coordinator::Left{1}}, "rank 1 has left twice"},
  };
  for (const Case& c : cases) {
    const auto nets = transport::inproc_transports(2);
    RankDriver root(*nets[0], test_settings());
    std::vector<std::byte> frame(9);
    for (const Item& item : c.items) coordinator::write(frame, item);
    frame[0] = std::byte{1};
    frame[1] = static_cast<std::byte>(frame.size() - 9);
    const auto sent = nets[1]->send(0, 1, frame);
    root.run_until([] { return false; }, 5s);
    CAPTURE(c.text);
    const Record record = root.wind_up();
    REQUIRE(record.lost.size() == 1);
    CHECK(record.lost_codes[0] == ErrorCode::malformed);
    CHECK_THAT(record.lost[0], Catch::EndsWith(c.text));
  }
}

TEST_CASE("a parent that talks rubbish ends the job too") {
  using coordinator::Item;
  struct Case {
    std::vector<Item> items;
    const char* text;
  };
  const std::vector<Case> cases{
      {{coordinator::SlotRun{0, 1}}, "slots 0 to 1, but there are 0"},
      {{coordinator::Update{0}}, "slots 0 to 1, but there are 0"},
      {{coordinator::Uncached{"y"}}, "\"y\" is planned, but not ready here"},
      {{coordinator::Assign{"y"}}, "\"y\" is planned, but not ready here"},
      {{coordinator::Assign{"x"}, coordinator::Assign{"x"}}, "\"x\" has a slot already"},
      {{coordinator::Failure{"y", "no"}}, "\"y\" is planned, but not ready here"},
      {{coordinator::BucketEnd{}}, "a bucket without tensors"},
      {{coordinator::Partial{"x", 5, {}}}, "a parent sent what only a child sends"},
  };
  for (const Case& c : cases) {
    const auto nets = transport::inproc_transports(2);
    RankDriver child(*nets[1], test_settings());
    child.ready(summand("x"));
    std::vector<std::byte> frame(9);
    for (const Item& item : c.items) coordinator::write(frame, item);
    frame[0] = std::byte{1};
    frame[1] = static_cast<std::byte>(frame.size() - 9);
    const auto sent = nets[0]->send(1, 2, frame);
    child.run_until([] { return false; }, 5s);
    CAPTURE(c.text);
    const Record record = child.wind_up();
    REQUIRE(record.lost.size() == 1);
    CHECK(record.lost_codes[0] == ErrorCode::malformed);
    CHECK_THAT(record.lost[0], Catch::EndsWith(c.text));
  }
}

TEST_CASE("random messages from a neighbour are survived") {
  std::mt19937 random(99);
  for (int round = 0; round < 300; ++round) {
    const auto nets = transport::inproc_transports(2);
    const int self = round % 2;
    RankDriver rank(*nets[static_cast<std::size_t>(self)], test_settings());
    for (const char* name : {"a", "b"}) rank.ready(summand(name));
    std::vector<std::byte> frame(9);
    // Rubbish made of good items: gets deeper than noise would.
    const std::vector<coordinator::Item> items{coordinator::Named{"a", {{Request{}, {{1, true}}}}},
                                               coordinator::Partial{"b", random(), {{1, false}}},
                                               coordinator::Assign{"a"},
                                               coordinator::SlotRun{0, 1},
                                               coordinator::Failure{"b", "text"},
                                               coordinator::BucketEnd{},
                                               coordinator::Left{1},
                                               coordinator::Left{0},
                                               coordinator::Closed{},
                                               coordinator::Alive{},
                                               coordinator::Here{1}};
    for (auto count = 1 + random() % 6; count > 0; --count) coordinator::write(frame, items[random() % items.size()]);
    if (round % 3 == 0) frame[9 + random() % (frame.size() - 9)] = static_cast<std::byte>(random());
    frame[0] = std::byte{1};
    frame[1] = static_cast<std::byte>(frame.size() - 9);
    const auto sent = nets[static_cast<std::size_t>(1 - self)]->send(self, self == 0 ? 1 : 2, frame);
    rank.coordinator().flush();
    for (int i = 0; i < 3; ++i) rank.net().progress();
    nets[static_cast<std::size_t>(self)]->fail(Error(ErrorCode::internal, "the test is over"));
    const Record record = rank.wind_up();
    CHECK(record.lost.size() <= 1);
    CHECK(record.problem == "");
  }
}
