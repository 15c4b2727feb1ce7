#include "coordinator/messages.hpp"

#include <limits>
#include <random>

#include "support/catch.hpp"

using namespace ringlet;
using namespace ringlet::coordinator;

namespace {

constexpr int kRanks = 9;

Request full_request() {
  Request r;
  r.kind = Kind::alltoall;
  r.dtype = DType::boolean;
  r.on_device = true;
  r.op = ReduceOp::product;
  r.root = 7;
  r.process_set = 3;
  r.prescale = 0.1;
  r.postscale = -3e300;
  r.compression = "topk(ratio=0.01)|golomb";
  r.group = "ring,packed";
  r.shape = {1, std::numeric_limits<std::size_t>::max(), 0, 300};
  return r;
}

std::vector<Item> every_item() {
  const std::string long_name(300, 'n');
  return {SlotRun{0, 1},
          SlotRun{7, 1},
          SlotRun{1023, 2},
          SlotRun{0, 16384},
          Named{"a", {{full_request(), {{0, true}}}}},
          Named{long_name, {{Request{}, {{1, false}, {8, true}}}, {full_request(), {{2, false}}}}},
          Partial{Slot{0}, 0, {}},
          Partial{"a name", 123'456'789, {{0, false}, {5, true}}},
          Uncached{long_name},
          Assign{"b"},
          Update{16383},
          BucketEnd{},
          Failure{Slot{12}, "text"},
          Failure{"name", std::string(5000, 'x')},
          Alive{},
          Here{8},
          Left{8},
          Abort{ErrorCode::timeout, "rank 3: no progress"},
          Closed{}};
}

std::vector<std::byte> bytes_of(const std::vector<Item>& items) {
  std::vector<std::byte> bytes;
  for (const Item& item : items) write(bytes, item);
  return bytes;
}

/// Reads all of `message`; false when it is refused. Throws for anything but a clean refusal.
bool is_accepted(std::span<const std::byte> message) {
  try {
    for (Reader reader(message, kRanks); !reader.done();) reader.read();
    return true;
  } catch (const Error& e) {
    if (e.code() != ErrorCode::malformed) throw;
    return false;
  }
}

}  // namespace

TEST_CASE("every item comes back as it was written") {
  const auto items = every_item();
  const auto bytes = bytes_of(items);
  std::vector<Item> read;
  for (Reader reader(bytes, kRanks); !reader.done();) read.push_back(reader.read());
  REQUIRE(read.size() == items.size());
  for (std::size_t i = 0; i < items.size(); ++i) CHECK(read[i].index() == items[i].index());
  CHECK(bytes_of(read) == bytes);  // what is written depends on every field
  const auto& named = std::get<Named>(read[5]);
  const Request& r = named.variants[1].request;
  CHECK(named.name == std::string(300, 'n'));
  CHECK(r.kind == Kind::alltoall);
  CHECK(r.dtype == DType::boolean);
  CHECK(r.on_device);
  CHECK(r.op == ReduceOp::product);
  CHECK(r.root == 7);
  CHECK(r.process_set == 3);
  CHECK(r.prescale == 0.1);
  CHECK(r.postscale == -3e300);
  CHECK(r.compression == "topk(ratio=0.01)|golomb");
  CHECK(r.group == "ring,packed");
  CHECK(r.shape == full_request().shape);
  CHECK(named.variants[0].ranks.size() == 2);
  CHECK(named.variants[0].ranks[1].rank == 8);
  CHECK(named.variants[0].ranks[1].subtree);
  CHECK_FALSE(named.variants[0].ranks[0].subtree);
  CHECK(std::get<SlotRun>(read[3]).count == 16384);
  CHECK(std::get<Partial>(read[7]).waited_ms == 123'456'789);
  CHECK(std::get<Abort>(read[17]).code == ErrorCode::timeout);
}

TEST_CASE("cached tensors take a byte or two") {
  CHECK(bytes_of({SlotRun{7, 1}}).size() == 1);
  CHECK(bytes_of({SlotRun{1000, 1}}).size() == 2);
  CHECK(bytes_of({SlotRun{0, 200}}).size() == 3);
}

TEST_CASE("a message that is cut off anywhere is refused, or ends between two items") {
  for (const Item& item : every_item()) {
    const auto bytes = bytes_of({item});
    for (std::size_t n = 1; n < bytes.size(); ++n) {
      // A heap block of just this size, so that the address sanitizer sees the first byte too many.
      const std::vector<std::byte> part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
      CHECK_FALSE(is_accepted(part));
    }
  }
}

TEST_CASE("impossible values are refused") {
  const auto refused = [](std::vector<int> values) {
    std::vector<std::byte> bytes;
    for (const int v : values) bytes.push_back(static_cast<std::byte>(v));
    return !is_accepted(bytes);
  };
  CHECK(refused({0x0e}));                                                                // a type that there is not
  CHECK(refused({0x9d, 0x01}));                                                          // rank 9 of 9 is here
  CHECK(refused({0x9a, 0x01}));                                                          // rank 9 of 9 has left
  CHECK(refused({0x0b, 0x00}));                                                          // error code 0
  CHECK(refused({0xab, 0x01, 0x00}));                                                    // error code 10
  CHECK(refused({0x02, 0x00}));                                                          // no variants
  CHECK(refused({0x02, 0x0a}));                                                          // more variants than ranks
  CHECK(refused({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}));          // 65 bits
  CHECK(refused({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}));    // and endless
  CHECK(refused({0x04, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}) == true);  // rubbish behind an empty name
  CHECK(refused({0xf4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}));          // a name of 2^60 bytes
  CHECK(refused({0xf0, 0xff, 0xff, 0xff, 0xff, 0x7f}));                                  // a slot beyond 32 bits
  CHECK(refused({0x03, 0x01, 0xff, 0xff, 0xff, 0xff, 0x0f}));                            // 2^32 ranks in no bytes
}

TEST_CASE("random and damaged messages are read or refused, never worse") {
  std::mt19937 random(12345);
  const auto good = bytes_of(every_item());
  int accepted = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> message;
    if (i % 2 == 0) {
      message.resize(random() % 60);
      for (std::byte& b : message) b = static_cast<std::byte>(random());
    } else {
      message = good;
      for (auto changes = 1 + random() % 4; changes > 0; --changes)
        message[random() % message.size()] = static_cast<std::byte>(random());
    }
    ++(is_accepted(message) ? accepted : refused);
  }
  CHECK(accepted > 0);
  CHECK(refused > 1000);
}
