#include "observe/counters.hpp"

#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "observe/counters_json.hpp"
#include "support/catch.hpp"

using namespace ringlet;
using namespace std::chrono_literals;

TEST_CASE("what is told is what the snapshot shows") {
  observe::CounterBook book;
  book.bucket("ring", 1, 100);
  book.bucket("scatter_reduce/qsgd(bits=4)", 3, 200);
  book.bucket("ring", 2, 50);
  book.uncompressed("integer dtype");
  book.uncompressed("integer dtype");
  book.negotiated(2ms);
  book.negotiated(3ms);
  book.times(10ms, 2ms, 1ms);
  book.times(1ms, 1ms, 1ms);  // overlapped: nothing is left for the wire
  book.residual_bytes(64);
  book.residual_bytes(32);
  book.cache(5, 6);

  const Counters c = book.snapshot();
  CHECK(c.buckets == 3);
  CHECK(c.tensors == 6);
  CHECK(c.fused_tensors == 5);
  CHECK(c.dense_bytes == 350);
  CHECK(c.exchanges == std::map<std::string, std::uint64_t>{{"ring", 2}, {"scatter_reduce/qsgd(bits=4)", 1}});
  CHECK(c.uncompressed == std::map<std::string, std::uint64_t>{{"integer dtype", 2}});
  CHECK(c.negotiation_seconds == Approx(0.005));
  CHECK(c.encode_seconds == Approx(0.003));
  CHECK(c.decode_seconds == Approx(0.002));
  CHECK(c.wire_seconds == Approx(0.007));
  CHECK(c.residual_bytes == 32);
  CHECK(c.cache_hits == 5);
  CHECK(c.cache_misses == 6);
}

TEST_CASE("a difference covers every counter, and keeps the later residual") {
  Counters early, late;
  std::uint64_t step = 1;
  for (auto field :
       {&Counters::bytes_sent, &Counters::bytes_received, &Counters::control_bytes_sent, &Counters::dense_bytes,
        &Counters::messages_sent, &Counters::tensors, &Counters::buckets, &Counters::fused_tensors,
        &Counters::cache_hits, &Counters::cache_misses, &Counters::residual_bytes}) {
    early.*field = step;
    late.*field = 3 * step;
    ++step;
  }
  for (auto field : {&Counters::negotiation_seconds, &Counters::encode_seconds, &Counters::decode_seconds,
                     &Counters::wire_seconds}) {
    early.*field = static_cast<double>(step);
    late.*field = 3.0 * static_cast<double>(step);
    ++step;
  }
  early.uncompressed = {{"small", 2}, {"same", 4}};
  late.uncompressed = {{"small", 5}, {"same", 4}, {"new", 1}};
  late.exchanges = {{"ring", 7}};

  const Counters d = late - early;
  step = 1;
  for (auto field : {&Counters::bytes_sent, &Counters::bytes_received, &Counters::control_bytes_sent,
                     &Counters::dense_bytes, &Counters::messages_sent, &Counters::tensors, &Counters::buckets,
                     &Counters::fused_tensors, &Counters::cache_hits, &Counters::cache_misses}) {
    CHECK(d.*field == 2 * step);
    ++step;
  }
  CHECK(d.residual_bytes == 3 * step++);
  for (auto field : {&Counters::negotiation_seconds, &Counters::encode_seconds, &Counters::decode_seconds,
                     &Counters::wire_seconds}) {
    CHECK(d.*field == 2.0 * static_cast<double>(step));
    ++step;
  }
  CHECK(d.uncompressed == std::map<std::string, std::uint64_t>{{"new", 1}, {"small", 3}});
  CHECK(d.exchanges == std::map<std::string, std::uint64_t>{{"ring", 7}});
}

TEST_CASE("threads may tell and ask at once") {
  observe::CounterBook book;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&book] {
      for (int i = 0; i < 1000; ++i) {
        book.bucket("ring", 2, 8);
        if (i % 100 == 0) book.snapshot();
      }
    });
  }
  threads.clear();
  CHECK(book.snapshot().tensors == 8000);
  CHECK(book.snapshot().exchanges.at("ring") == 4000);
}

TEST_CASE("the ratio is dense bytes over sent bytes, 0 when nothing was sent") {
  Counters c;
  CHECK(c.ratio() == 0.0);
  c.dense_bytes = 800;
  c.bytes_sent = 100;
  CHECK(c.ratio() == 8.0);
}

TEST_CASE("counters as JSON have the names of the struct") {
  Counters c;
  c.bytes_sent = 7;
  c.dense_bytes = 14;
  c.wire_seconds = 0.25;
  c.uncompressed = {{"name with \"quotes\"", 2}};
  const auto json = nlohmann::json::parse(observe::to_json(c));
  CHECK(json.size() == 18);
  CHECK(json.at("bytes_sent") == 7);
  CHECK(json.at("ratio") == 2.0);
  CHECK(json.at("wire_seconds") == 0.25);
  CHECK(json.at("uncompressed").at("name with \"quotes\"") == 2);
  CHECK(json.at("exchanges").empty());
}
