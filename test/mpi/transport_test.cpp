#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "mpi/mpi_transport.hpp"
#include "support/catch.hpp"
#include "support/transport_suite.hpp"

using namespace ringlet;
using namespace ringlet::test;
using namespace std::chrono_literals;
using mpi::MpiTransport;
using mpi::MpiTransportOptions;
using transport::Transfer;

namespace {

std::unique_ptr<MpiTransport> make(const MpiTransportOptions& options = {}) {
  return std::make_unique<MpiTransport>(mpi::Bootstrap::join(), mpi::duplicate(MPI_COMM_WORLD), options);
}

/// Awaits one transfer and keeps what came of it.
struct Outcome {
  bool done = false;
  std::size_t moved = 0;
  std::string error;
  ErrorCode code{};
};

Task<> receive(Transport& net, int from, Tag tag, std::span<std::byte> room, Outcome& outcome) {
  try {
    outcome.moved = co_await net.recv(from, tag, room);
  } catch (const Error& e) {
    outcome.error = e.what();
    outcome.code = e.code();
  }
  outcome.done = true;
}

Task<> send(Transport& net, int to, Tag tag, std::span<const std::byte> bytes, Outcome& outcome) {
  try {
    outcome.moved = co_await net.send(to, tag, bytes);
  } catch (const Error& e) {
    outcome.error = e.what();
    outcome.code = e.code();
  }
  outcome.done = true;
}

Task<> exchange(suite::Rank& rank, Tag tag, std::size_t size, int rounds) {
  const int p = rank.net.size(), next = (rank.net.rank() + 1) % p, previous = (rank.net.rank() + p - 1) % p;
  TaskScope scope;
  for (int i = 0; i < rounds; ++i) {
    scope.spawn(suite::expect_message(rank, previous, tag, i, size, size + 100));
    scope.spawn(suite::send_message(rank, next, tag, i, size));
  }
  co_await scope.join();
}

/// MPICH 4.0 ends the job itself on too long a message: MPI_Testsome calls the error handler of MPI_COMM_WORLD, which
/// is not ours.
bool library_reports_truncation() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, ' ');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return text.find("MPICH") == std::string::npos;
}

int last(const Transport& net) { return net.size() - 1; }

}  // namespace

TEST_CASE("mpi passes the transport suite") {
  // A block of 1 GiB is what programs get; of 7 bytes, nearly every message is of a built type.
  const auto block = GENERATE(std::size_t{1} << 30, std::size_t{7});
  const auto net = make({.block = block});
  if (net->size() == 1) return;
  for (const TransportCheck& check : transport_checks()) {
    if (check.body == suite::too_small && !library_reports_truncation()) continue;
    CAPTURE(block, check.name);
    CHECK(run_check(check, *net) == "");
  }
}

TEST_CASE("mpi: a transport knows its place") {
  const auto net = make();
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(net->size() == size);
  CHECK(net->rank() == rank);
  CHECK(std::string(net->name()) == "mpi");
  CHECK_FALSE(net->wakes_on_arrival());
  CHECK(net->allows_background_thread());  // the test's main asks for MPI_THREAD_MULTIPLE
  CHECK(net->background_reason() == "");
  for (int r = 0; r < size; ++r) CHECK(net->host_of(r) == 0);
  CHECK_FALSE(net->progress());
}

TEST_CASE("mpi: the transport's rank is that of the user's communicator") {
  MPI_Comm reversed = MPI_COMM_NULL;
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  {
    const auto net = mpi::transport_on(reversed);
    CHECK(net->rank() == size - 1 - rank);
    suite::Rank me{*net};
    if (size > 1) drive(*net, exchange(me, 100, 1000, 3));
    CHECK(me.problem == "");
  }
  MPI_Comm_free(&reversed);
}

TEST_CASE("mpi: 8 MiB both ways, with and without blocks") {
  const auto block = GENERATE(std::size_t{1} << 30, std::size_t{1'000'003}, std::size_t{8} << 20);
  const auto net = make({.block = block});
  if (net->size() == 1) return;
  suite::Rank me{*net};
  drive(*net, exchange(me, 90, std::size_t{8} << 20, 2));
  CHECK(me.problem == "");
}

TEST_CASE("mpi: many outstanding requests, received in the opposite order") {
  const auto net = make();
  if (net->size() == 1) return;
  constexpr int kMessages = 500;
  const int next = (net->rank() + 1) % net->size(), previous = (net->rank() + last(*net)) % net->size();
  std::vector<std::vector<std::byte>> rooms(kMessages), messages(kMessages);
  std::vector<Outcome> received(kMessages), sent(kMessages);
  TaskScope scope;
  for (std::size_t i = 0; i < kMessages; ++i) {
    rooms[i].resize(2000);
    scope.spawn(receive(*net, previous, static_cast<Tag>(100 + i), rooms[i], received[i]));
  }
  for (std::size_t i = kMessages; i-- > 0;) {
    messages[i] = message(net->rank(), next, static_cast<Tag>(100 + i), 0, i * 3);
    scope.spawn(send(*net, next, static_cast<Tag>(100 + i), messages[i], sent[i]));
  }
  for (const auto end = Transport::Clock::now() + 20s; scope.running() > 0 && Transport::Clock::now() < end;)
    net->progress();
  REQUIRE(scope.running() == 0);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kMessages; ++i) {
    rooms[i].resize(received[i].moved);
    wrong += rooms[i] != message(previous, net->rank(), static_cast<Tag>(100 + i), 0, i * 3);
  }
  CHECK(wrong == 0);
}

TEST_CASE("mpi: too long a message is an error that names ranks, tag and both sizes") {
  const auto block = GENERATE(std::size_t{1} << 30, std::size_t{7});
  const auto size = GENERATE(std::size_t{9}, std::size_t{300'000});
  const auto net = make({.block = block});
  if (net->size() == 1 || !library_reports_truncation()) return;
  const auto bytes = message(0, last(*net), 70, 0, size);
  std::vector<std::byte> memory(
      size);  // Open MPI's single copy moves all of a large message before it finds the room too small
  const auto room = std::span(memory).first(size - 1);
  Outcome sent, received;
  if (net->rank() == 0) drive(*net, send(*net, last(*net), 70, bytes, sent));
  if (net->rank() == last(*net)) {
    drive(*net, receive(*net, 0, 70, room, received));
    CHECK(received.code == ErrorCode::malformed);
    CHECK(received.error ==
          fmt::format("rank {}: the message of rank 0 with tag 70 has {} bytes, but there is room for {} only",
                      net->rank(), size, size - 1));
    CHECK(net->traffic().data_received == 0);
  }
}

TEST_CASE("mpi: there are no messages to oneself or to ranks that do not exist") {
  const auto net = make();
  for (const int peer : {-1, net->rank(), net->size()}) {
    Outcome sent;
    TaskScope scope;
    scope.spawn(send(*net, peer, 70, {}, sent));
    CHECK(sent.done);
    CHECK(sent.code == ErrorCode::internal);
    CHECK_THAT(sent.error, Catch::Contains("cannot exchange messages with rank " + std::to_string(peer)));
  }
}

TEST_CASE("mpi: a tag that MPI does not take is an error of that transfer") {
  const auto net = make();
  if (net->size() == 1) return;
  Outcome sent;
  TaskScope scope;
  scope.spawn(send(*net, net->rank() == 0 ? 1 : 0, static_cast<Tag>(-5), {}, sent));
  CHECK(sent.code == ErrorCode::backend);
  CHECK_THAT(sent.error, Catch::Contains("sending 0 bytes to rank"));
  CHECK_FALSE(net->progress());
}

TEST_CASE("mpi: a withdrawn receive is forgotten, those around it are not") {
  const auto net = make();
  if (net->size() == 1) return;
  suite::Rank me{*net};
  std::vector<std::byte> untouched(64), before(64), after(64);
  const int next = (net->rank() + 1) % net->size(), previous = (net->rank() + last(*net)) % net->size();
  Outcome first, second;
  TaskScope scope;
  scope.spawn(receive(*net, previous, 71, before, first));
  {
    const Transfer given_up = net->recv(previous, 70, untouched);
    scope.spawn(receive(*net, previous, 72, after, second));
    net->progress();
  }
  MPI_Barrier(MPI_COMM_WORLD);  // nobody sends before all have withdrawn
  drive(*net, exchange(me, 70, 64, 1));
  CHECK(me.problem == "");
  CHECK(untouched == std::vector<std::byte>(64));
  const auto a = message(net->rank(), next, 71, 0, 64), b = message(net->rank(), next, 72, 0, 64);
  Outcome sent_a, sent_b;
  scope.spawn(send(*net, next, 72, b, sent_b));
  scope.spawn(send(*net, next, 71, a, sent_a));
  for (const auto end = Transport::Clock::now() + 20s; scope.running() > 0 && Transport::Clock::now() < end;)
    net->progress();
  REQUIRE(scope.running() == 0);
  CHECK(before == message(previous, net->rank(), 71, 0, 64));
  CHECK(after == message(previous, net->rank(), 72, 0, 64));
}

TEST_CASE("mpi: receives are withdrawn from among others, some of them done") {
  const auto net = make();
  if (net->size() == 1) return;
  constexpr std::size_t kCount = 10;
  const int next = (net->rank() + 1) % net->size(), previous = (net->rank() + last(*net)) % net->size();
  std::vector<std::vector<std::byte>> rooms(kCount, std::vector<std::byte>(32)), sent;
  std::array<std::optional<Transfer>, kCount> transfers;
  for (std::size_t i = 0; i < kCount; ++i) {
    transfers[i].emplace(*net, Transfer::Direction::receive, previous, static_cast<Tag>(80 + i), rooms[i].data(), 32);
    sent.push_back(message(net->rank(), next, static_cast<Tag>(80 + i), 0, 32));
  }
  const auto exchange_these = [&](std::initializer_list<std::size_t> which) {
    std::vector<Outcome> outcomes(which.size());
    TaskScope scope;
    for (const std::size_t i : which) {
      scope.spawn(send(*net, next, static_cast<Tag>(80 + i), sent[i], outcomes[i - *which.begin()]));
    }
    const auto all_done = [&] {
      return std::all_of(which.begin(), which.end(), [&](auto i) { return transfers[i]->done(); });
    };
    const auto end = Transport::Clock::now() + 20s;
    while (!(all_done() && scope.running() == 0) && Transport::Clock::now() < end) net->progress();
    return all_done() && scope.running() == 0;
  };
  REQUIRE(exchange_these({0, 1, 2}));
  transfers[5].reset();
  transfers[9].reset();
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(exchange_these({3, 4}));
  CHECK(exchange_these({6, 7, 8}));
  for (std::size_t i = 0; i < kCount; ++i) {
    const bool withdrawn = i == 5 || i == 9;
    CAPTURE(i);
    CHECK(rooms[i] ==
          (withdrawn ? std::vector<std::byte>(32) : message(previous, net->rank(), static_cast<Tag>(80 + i), 0, 32)));
  }
}

TEST_CASE("mpi: withdrawing sends that nobody receives takes the patience once, not each time") {
  const auto net = make({.patience = 200ms});
  if (net->size() == 1) return;
  const std::vector<std::byte> large(1 << 20);  // no library buffers that much
  const auto begin = Transport::Clock::now();
  if (net->rank() == 0) {
    for (int i = 0; i < 20; ++i) {
      const Transfer given_up = net->send(1, 70, large);
      net->progress();
    }
  }
  CHECK(Transport::Clock::now() - begin < 2s);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_FALSE(net->failed());
}

TEST_CASE("mpi: fail() ends every wait with its cause, and every later one, within the patience") {
  const auto net = make({.patience = 300ms});
  if (net->size() == 1) return;
  const int peer = net->rank() == 0 ? 1 : 0;
  std::vector<std::byte> room(8), large(4 << 20);
  std::vector<Outcome> outcomes(5);
  TaskScope scope;
  scope.spawn(receive(*net, peer, 70, room, outcomes[0]));
  scope.spawn(receive(*net, peer, 71, room, outcomes[1]));
  scope.spawn(send(*net, peer, 72, large, outcomes[2]));
  scope.spawn(receive(*net, peer, 73, large, outcomes[3]));
  const auto begin = Transport::Clock::now();
  net->fail(Error(ErrorCode::peer_lost, "rank 9: gone"));
  CHECK(Transport::Clock::now() - begin < 2s);
  CHECK(net->failed());
  CHECK_FALSE(outcomes[0].done);
  CHECK(net->progress());
  scope.spawn(receive(*net, peer, 74, room, outcomes[4]));
  net->fail(Error(ErrorCode::internal, "a second cause"));
  for (const Outcome& o : outcomes) CHECK(o.error == "rank 9: gone");
  MPI_Barrier(MPI_COMM_WORLD);  // MPI itself still works
}

TEST_CASE("mpi: a transport goes although its peers sent what it never received") {
  const auto begin = Transport::Clock::now();
  {
    const auto net = make({.patience = 200ms});
    const std::vector<std::byte> small(100), large(1 << 20);
    std::vector<Outcome> outcomes(2);
    TaskScope scope;
    if (net->size() > 1) {
      const int next = (net->rank() + 1) % net->size();
      scope.spawn(send(*net, next, 70, small, outcomes[0]));
      scope.spawn(send(*net, next, 70, large, outcomes[1]));
      net->fail(Error(ErrorCode::internal, "the end"));
      net->progress();
    }
    if (net->rank() == 0) std::this_thread::sleep_for(300ms);  // the others are gone by then
  }
  CHECK(Transport::Clock::now() - begin < 4s);
  int one = 1, sum = 0, size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size);
}

TEST_CASE("mpi: wait() ends on wake(), also on one that came before, and after its time") {
  const auto net = make();
  net->wake();
  net->wait(1h);
  {
    const std::jthread waker([&] { net->wake(); });
    net->wait(std::chrono::nanoseconds::max());
  }
  const auto begin = Transport::Clock::now();
  net->wait(20ms);
  CHECK(Transport::Clock::now() - begin >= 20ms);
}

TEST_CASE("mpi: the user's own traffic is not disturbed") {
  const auto net = make();
  if (net->size() == 1) return;
  suite::Rank me{*net};
  TaskScope scope;
  const int next = (net->rank() + 1) % net->size(), previous = (net->rank() + last(*net)) % net->size();
  scope.spawn(exchange(me, 70, 100'000, 20));
  // The same peer, tag and size on the user's communicator, and a collective, while ours is in flight
  std::vector<int> mine(25'000, net->rank()), theirs(25'000, -1);
  MPI_Sendrecv(mine.data(), 25'000, MPI_INT, next, 70, theirs.data(), 25'000, MPI_INT, previous, 70, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  std::vector<int> sums(1000, 0), ones(1000, 1);
  MPI_Allreduce(ones.data(), sums.data(), 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(theirs == std::vector<int>(25'000, previous));
  CHECK(sums == std::vector<int>(1000, net->size()));
  for (const auto end = Transport::Clock::now() + 20s; scope.running() > 0 && Transport::Clock::now() < end;)
    net->progress();
  REQUIRE(scope.running() == 0);
  CHECK(me.problem == "");
}

TEST_CASE("mpi: a thread of ours drives while the user's thread calls MPI") {
  const auto net = make();
  if (net->size() == 1) return;
  suite::Rank me{*net};
  std::string thrown;
  {
    const std::jthread driver([&] {
      try {
        drive(*net, exchange(me, 70, 50'000, 50));
      } catch (const std::exception& e) {
        thrown = e.what();
      }
    });
    int wrong = 0;
    for (int i = 0; i < 200; ++i) {
      int one = i, sum = 0;
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      wrong += sum != i * net->size();
    }
    CHECK(wrong == 0);
  }
  CHECK(thrown == "");
  CHECK(me.problem == "");
}
