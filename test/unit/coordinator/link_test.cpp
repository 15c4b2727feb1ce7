#include "coordinator/link.hpp"

#include <cstring>

#include "support/catch.hpp"
#include "support/transport_suite.hpp"
#include "transport/inproc.hpp"

using namespace ringlet;
using namespace ringlet::test;
using coordinator::Link;

namespace {

void put(Link& link, std::span<const std::byte> bytes) {
  link.outbox().insert(link.outbox().end(), bytes.begin(), bytes.end());
}

Task<> receive_into(Link& link, std::vector<std::vector<std::byte>>& messages, std::size_t count) {
  while (messages.size() < count) {
    const auto message = co_await link.receive();
    messages.emplace_back(message.begin(), message.end());
  }
}

Task<> receive_error(Link& link, std::string& text) {
  try {
    co_await link.receive();
  } catch (const Error& e) {
    text = e.code() == ErrorCode::malformed ? e.what() : "another code";
  }
}

/// A link's frame, as any sender may make it.
std::vector<std::byte> frame(int version, std::uint32_t length, std::uint32_t offset, std::size_t payload) {
  std::vector<std::byte> bytes(9 + payload);
  bytes[0] = static_cast<std::byte>(version);
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[1 + i] = static_cast<std::byte>(length >> (8 * i));
    bytes[5 + i] = static_cast<std::byte>(offset >> (8 * i));
  }
  return bytes;
}

/// What a link says to these frames.
std::string verdict(const std::vector<std::vector<std::byte>>& frames) {
  const auto nets = transport::inproc_transports(2);
  Link link(*nets[0], 1, 2, 1);
  std::string text;
  TaskScope scope;
  scope.spawn(receive_error(link, text));
  for (const auto& f : frames) {
    const auto sent = nets[1]->send(0, 1, f);
    nets[0]->progress();
    if (scope.running() == 0) break;
  }
  const std::string verdict = scope.running() > 0 ? "waits for more" : text;
  nets[0]->fail(Error(ErrorCode::internal, "over"));
  nets[0]->progress();
  return verdict;
}

}  // namespace

TEST_CASE("messages of any length arrive, and what is written meanwhile goes with the next") {
  const auto nets = transport::inproc_transports(2);
  Link sender(*nets[0], 1, 1, 2), receiver(*nets[1], 0, 2, 1);
  TaskScope scope;
  std::vector<std::vector<std::byte>> messages;
  for (const std::size_t size : {1u, 16374u, 16375u, 16376u, 32750u, 100'000u}) {
    const auto first = message(0, 1, 1, 1, size), second = message(0, 1, 1, 2, 10), third = message(0, 1, 1, 3, 5);
    CAPTURE(size);
    messages.clear();
    CHECK_FALSE(sender.wants_sending());
    put(sender, first);
    CHECK(sender.wants_sending());
    scope.spawn(sender.send_all());
    put(sender, second);
    put(sender, third);
    CHECK_FALSE(sender.wants_sending());
    scope.spawn(receive_into(receiver, messages, 2));
    for (int i = 0; i < 50; ++i) {
      nets[0]->progress();
      nets[1]->progress();
    }
    REQUIRE(messages.size() == 2);
    CHECK(messages[0] == first);
    auto both = second;
    both.insert(both.end(), third.begin(), third.end());
    CHECK(messages[1] == both);
    CHECK(scope.running() == 0);
  }
  CHECK_NOTHROW(scope.rethrow());
}

TEST_CASE("frames that do not fit together are refused") {
  CHECK(verdict({frame(1, 10, 0, 5), frame(1, 10, 5, 5)}) == "");
  CHECK(verdict({frame(1, 10, 0, 5)}) == "waits for more");
  CHECK(verdict({frame(1, 10, 0, 0)}) == "a frame of 9 bytes");
  CHECK(verdict({std::vector<std::byte>(3)}) == "a frame of 3 bytes");
  CHECK_THAT(verdict({frame(2, 10, 0, 5)}), Catch::StartsWith("protocol version 2, this is 1"));
  CHECK(verdict({frame(1, 10, 5, 5)}) == "bytes 5 to 10 of 10, want them from 0");
  CHECK(verdict({frame(1, 10, 0, 11)}) == "bytes 0 to 11 of 10, want them from 0");
  CHECK(verdict({frame(1, 10, 0, 5), frame(1, 10, 4, 5)}) == "bytes 4 to 9 of 10, want them from 5");
  CHECK(verdict({frame(1, 10, 0, 5), frame(1, 4, 5, 1)}) == "bytes 5 to 6 of 4, want them from 5");
  CHECK_THAT(verdict({frame(1, 0xffffffff, 0, 5)}), Catch::StartsWith("bytes 0 to 5 of 4294967295"));
  CHECK_THAT(verdict({std::vector<std::byte>(20000)}), Catch::Contains("room for 16384 only"));
}
