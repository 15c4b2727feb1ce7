#include "transport/inproc.hpp"

#include <chrono>
#include <thread>

#include "support/catch.hpp"
#include "support/transport_suite.hpp"

using namespace ringlet;
using namespace ringlet::test;
using namespace std::chrono_literals;
using transport::inproc_transports;
using transport::Transfer;

namespace {

/// Awaits one transfer and keeps what came of it.
struct Outcome {
  bool done = false;
  std::size_t moved = 0;
  std::string error;
};

Task<> receive(Transport& net, int from, Tag tag, std::span<std::byte> room, Outcome& outcome) {
  try {
    outcome.moved = co_await net.recv(from, tag, room);
  } catch (const Error& e) {
    outcome.error = e.what();
  }
  outcome.done = true;
}

Task<> send(Transport& net, int to, Tag tag, std::span<const std::byte> bytes, Outcome& outcome) {
  try {
    outcome.moved = co_await net.send(to, tag, bytes);
  } catch (const Error& e) {
    outcome.error = e.what();
  }
  outcome.done = true;
}

}  // namespace

TEST_CASE("inproc passes the transport suite") {
  const auto ranks = GENERATE(2, 3, 4, 5, 8);
  for (const TransportCheck& check : transport_checks()) {
    CAPTURE(ranks, check.name);
    const auto make = [](int p) { return inproc_transports(p); };
    REQUIRE(run_check(check, ranks, make) == std::vector<std::string>(static_cast<std::size_t>(ranks)));
  }
}

TEST_CASE("inproc: one rank alone") {
  const auto nets = inproc_transports(1);
  REQUIRE(nets.size() == 1);
  CHECK(nets[0]->size() == 1);
  CHECK_FALSE(nets[0]->progress());
  CHECK(nets[0]->wakes_on_arrival());
  CHECK(std::string(nets[0]->name()) == "inproc");
}

TEST_CASE("inproc: hosts are runs of consecutive ranks") {
  CHECK(inproc_transports(5)[4]->host_of(4) == 0);
  const auto nets = inproc_transports(5, 2);
  CHECK(nets[0]->host_of(0) == 0);
  CHECK(nets[3]->host_of(1) == 0);
  CHECK(nets[0]->host_of(2) == 1);
  CHECK(nets[0]->host_of(4) == 2);
}

TEST_CASE("inproc: a send completes only when it is received") {
  const auto nets = inproc_transports(2);
  const auto bytes = message(0, 1, 70, 0, 8);
  std::vector<std::byte> room(8);
  Outcome sent, received;
  TaskScope scope;
  scope.spawn(send(*nets[0], 1, 70, bytes, sent));
  CHECK_FALSE(nets[0]->progress());
  CHECK_FALSE(sent.done);
  scope.spawn(receive(*nets[1], 0, 70, room, received));
  CHECK(received.done);  // its side came second: nothing to wait for
  CHECK_FALSE(sent.done);
  CHECK(nets[0]->progress());
  CHECK(sent.done);
  CHECK(room == bytes);
}

TEST_CASE("inproc: too long a message is an error that names ranks, tag and both sizes") {
  const auto nets = inproc_transports(2);
  const auto bytes = message(0, 1, 70, 0, 9);
  std::vector<std::byte> room(8);
  Outcome sent, received;
  TaskScope scope;
  scope.spawn(receive(*nets[1], 0, 70, room, received));
  scope.spawn(send(*nets[0], 1, 70, bytes, sent));
  nets[1]->progress();
  CHECK(sent.moved == 9);
  CHECK(received.error == "rank 1: the message of rank 0 with tag 70 has 9 bytes, but there is room for 8 only");
  CHECK(nets[1]->traffic().data_received == 0);
}

TEST_CASE("inproc: there are no messages to oneself or to ranks that do not exist") {
  const auto nets = inproc_transports(2);
  const int peer = GENERATE(-1, 0, 2);
  Outcome sent;
  TaskScope scope;
  scope.spawn(send(*nets[0], peer, 70, {}, sent));
  CHECK(sent.error ==
        "rank 0 cannot exchange messages with rank " + std::to_string(peer) + ": the others are 0 to 1 without 0");
}

TEST_CASE("inproc: a withdrawn transfer is forgotten") {
  const auto nets = inproc_transports(2);
  const auto first = message(0, 1, 70, 0, 8), second = message(0, 1, 70, 1, 8);
  std::vector<std::byte> room(8), untouched(8);
  Outcome sent, received;
  TaskScope scope;
  SECTION("a send nobody asked for") {
    { const Transfer given_up = nets[0]->send(1, 70, first); }
    scope.spawn(send(*nets[0], 1, 70, second, sent));
    scope.spawn(receive(*nets[1], 0, 70, room, received));
  }
  SECTION("a receive that nothing came for") {
    { const Transfer given_up = nets[1]->recv(0, 70, untouched); }
    scope.spawn(receive(*nets[1], 0, 70, room, received));
    scope.spawn(send(*nets[0], 1, 70, second, sent));
  }
  SECTION("a receive that was matched, but not yet seen to be") {
    {
      const Transfer given_up = nets[1]->recv(0, 70, untouched);
      scope.spawn(send(*nets[0], 1, 70, untouched, sent));
    }
    scope.spawn(receive(*nets[1], 0, 70, room, received));
    scope.spawn(send(*nets[0], 1, 70, second, sent));
  }
  nets[0]->progress();
  nets[1]->progress();
  CHECK(sent.done);
  CHECK(received.done);
  CHECK(room == second);
  CHECK(untouched == std::vector<std::byte>(8));
}

TEST_CASE("inproc: fail() ends every wait with its cause, and every later one") {
  const auto nets = inproc_transports(3);
  std::vector<std::byte> room(8);
  std::vector<Outcome> outcomes(4);
  TaskScope scope;
  scope.spawn(receive(*nets[0], 1, 70, room, outcomes[0]));
  scope.spawn(receive(*nets[0], 2, 71, room, outcomes[1]));
  scope.spawn(send(*nets[0], 2, 72, room, outcomes[2]));
  nets[0]->fail(Error(ErrorCode::peer_lost, "rank 2: gone"));
  CHECK(nets[0]->failed());
  CHECK_FALSE(outcomes[0].done);
  nets[0]->wait(1h);  // there is something to do: returns at once
  CHECK(nets[0]->progress());
  scope.spawn(receive(*nets[0], 1, 73, room, outcomes[3]));
  nets[0]->fail(Error(ErrorCode::internal, "a second cause"));
  for (const Outcome& o : outcomes) CHECK(o.error == "rank 2: gone");
  // The others do not see what was cancelled: their messages wait for ever.
  Outcome other;
  scope.spawn(send(*nets[1], 0, 70, room, other));
  nets[1]->progress();
  CHECK_FALSE(other.done);
  nets[1]->fail(Error(ErrorCode::internal, "end of the test"));
  nets[1]->progress();
}

TEST_CASE("inproc: messages to a transport that is gone never complete") {
  auto nets = inproc_transports(2);
  std::vector<std::byte> room(8);
  Outcome sent;
  TaskScope scope;
  nets[1].reset();
  scope.spawn(send(*nets[0], 1, 70, room, sent));
  nets[0]->progress();
  CHECK_FALSE(sent.done);
  nets[0]->fail(Error(ErrorCode::peer_lost, "rank 1: gone"));
  nets[0]->progress();
  CHECK(sent.error == "rank 1: gone");
}

TEST_CASE("inproc: wait() ends on wake(), also on one that came before, and on arrival") {
  const auto nets = inproc_transports(2);
  nets[0]->wake();
  nets[0]->wait(1h);
  {
    const std::jthread waker([&] { nets[0]->wake(); });
    nets[0]->wait(1h);
  }
  std::vector<std::byte> room(8);
  Outcome sent, received;
  TaskScope scope;
  scope.spawn(receive(*nets[0], 1, 70, room, received));
  {
    const std::jthread sender(
        [&] { drive(*nets[1], send(*nets[1], 0, 70, std::as_bytes(std::span("1234567")), sent)); });
    while (!received.done) {
      nets[0]->wait(1h);
      nets[0]->progress();
    }
  }
  CHECK(received.moved == 8);
  CHECK(sent.moved == 8);
  nets[0]->wait(1ms);  // nothing to wait for: time ends it
  nets[0]->wake();
  nets[0]->wait(std::chrono::nanoseconds::max());  // no overflow
}

TEST_CASE("inproc: transfers are withdrawn while the other side matches them") {
  const auto nets = inproc_transports(2);
  constexpr int kRounds = 3000;
  run_ranks(2, [&](int rank) {
    Transport& net = *nets[static_cast<std::size_t>(rank)];
    std::vector<std::byte> room(64);
    for (int i = 0; i < kRounds; ++i) {
      if (rank == 0) {
        const Transfer t = net.send(1, 70, room);
      } else {
        const Transfer t = net.recv(0, 70, room);
      }
      net.progress();
    }
    return 0;
  });
  SUCCEED("the sanitizers have nothing to say");
}
