#pragma once

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/task.hpp"
#include "ringlet/error.hpp"
#include "support/ranks.hpp"
#include "transport/transport.hpp"

/// What every Transport must do, written as one rank sees it: a check is given this rank's transport, runs on all ranks
/// at once, and returns what it found wrong, or nothing. In one process run_check() gives each rank a thread; under
/// mpirun each process calls the check for itself. Checks leave no message behind, so that they may follow each other
/// on one transport.
namespace ringlet::test {

using transport::Tag;
using transport::Transport;

/// Drives `net` until `task` has ended; throws what it threw. A task that hangs fails with Error{timeout} after
/// `limit`.
inline void drive(Transport& net, Task<> task, std::chrono::seconds limit = std::chrono::seconds(30)) {
  TaskScope scope;
  scope.spawn(std::move(task));
  const auto end = Transport::Clock::now() + limit;
  while (scope.running() > 0) {
    if (net.progress()) continue;
    if (Transport::Clock::now() > end) net.fail(Error(ErrorCode::timeout, "the task did not end"));
    net.wait(net.wakes_on_arrival() ? std::chrono::milliseconds(100) : std::chrono::milliseconds(0));
  }
  scope.rethrow();
}

/// `size` bytes that only this (from, to, tag, index) has.
inline std::vector<std::byte> message(int from, int to, Tag tag, int index, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::uint32_t state = static_cast<std::uint32_t>(from * 7919 + to * 104729 + static_cast<int>(tag) * 31 + index) | 1u;
  for (std::byte& b : bytes) {
    state = state * 1664525u + 1013904223u;
    b = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

namespace suite {

/// What a check needs in every coroutine. Outlives them.
struct Rank {
  Transport& net;
  std::string problem = {};

  void expect(bool good, const std::string& what) {
    if (!good && problem.empty()) problem = fmt::format("rank {}: {}", net.rank(), what);
  }
};

inline Task<> send_message(Rank& rank, int to, Tag tag, int index, std::size_t size) {
  const auto bytes = message(rank.net.rank(), to, tag, index, size);
  const std::size_t moved = co_await rank.net.send(to, tag, bytes);
  rank.expect(moved == size, fmt::format("send to {} tag {} moved {} of {} bytes", to, tag, moved, size));
}

/// Offers `room` bytes and expects the message of `size`.
inline Task<> expect_message(Rank& rank, int from, Tag tag, int index, std::size_t size, std::size_t room) {
  std::vector<std::byte> bytes(room);
  const std::size_t moved = co_await rank.net.recv(from, tag, bytes);
  bytes.resize(moved);
  rank.expect(
      bytes == message(from, rank.net.rank(), tag, index, size),
      fmt::format("message {} from {} tag {}: {} bytes, want {}, or other contents", index, from, tag, moved, size));
}

/// Rank 0 sends each other rank a run of messages of one tag, all posted at once; they arrive in order.
inline Task<> ordered(Rank& rank) {
  constexpr int kMessages = 50;
  TaskScope scope;
  for (int i = 0; i < kMessages; ++i) {
    const auto size = static_cast<std::size_t>(1 + i % 7);
    if (rank.net.rank() != 0) scope.spawn(expect_message(rank, 0, 100, i, size, 16));
    for (int to = 1; rank.net.rank() == 0 && to < rank.net.size(); ++to)
      scope.spawn(send_message(rank, to, 100, i, size));
  }
  co_await scope.join();
}

/// Streams of different tags do not hold each other up: the receiver asks in the opposite order of the sender.
inline Task<> many_tags(Rank& rank) {
  constexpr int kTags = 40;
  TaskScope scope;
  for (int i = 0; i < kTags; ++i) {
    const auto sent = static_cast<Tag>(200 + i), awaited = static_cast<Tag>(200 + kTags - 1 - i);
    if (rank.net.rank() == 0) scope.spawn(send_message(rank, rank.net.size() - 1, sent, 0, 33));
    if (rank.net.rank() == rank.net.size() - 1) scope.spawn(expect_message(rank, 0, awaited, 0, 33, 33));
  }
  co_await scope.join();
}

/// The smallest and largest tags and the empty message work; a message may be smaller than the room for it.
inline Task<> edges(Rank& rank) {
  const int next = (rank.net.rank() + 1) % rank.net.size(),
            previous = (rank.net.rank() + rank.net.size() - 1) % rank.net.size();
  constexpr std::array<Tag, 3> kTags{0, transport::kFirstDataTag, transport::kMaxTag};
  constexpr std::array<std::size_t, 4> kSizes{0, 1, 4096, 300'001};
  for (const Tag tag : kTags) {
    for (const std::size_t size : kSizes) {
      TaskScope scope;
      scope.spawn(send_message(rank, next, tag, 1, size));
      scope.spawn(expect_message(rank, previous, tag, 1, size, size + 5));
      co_await scope.join();
    }
  }
  TaskScope scope;
  scope.spawn(send_message(rank, next, 300, 2, 0));
  scope.spawn(expect_message(rank, previous, 300, 2, 0, 0));
  co_await scope.join();
}

inline Task<> receive_too_small(Rank& rank) {
  std::array<std::byte, 10> room{};
  try {
    co_await rank.net.recv(0, 77, room);
    rank.expect(false, "a message of 11 bytes went into 10");
  } catch (const Error& e) {
    rank.expect(e.code() == ErrorCode::malformed, fmt::format("too small a receive threw \"{}\"", e.what()));
  }
}

/// Too long a message fails its receiver with Error{malformed}, not its sender; the stream goes on.
inline Task<> too_small(Rank& rank) {
  const int last = rank.net.size() - 1;
  if (rank.net.rank() == 0) {
    co_await send_message(rank, last, 77, 0, 11);
    co_await send_message(rank, last, 77, 1, 10);
  } else if (rank.net.rank() == last) {
    co_await receive_too_small(rank);
    co_await expect_message(rank, 0, 77, 1, 10, 10);
  }
}

inline Task<> one_to_all(Rank& rank, int from_round) {
  for (int round = from_round; round < from_round + 20; ++round) {
    TaskScope scope;
    for (int peer = 0; peer < rank.net.size(); ++peer) {
      if (peer == rank.net.rank()) continue;
      for (Tag tag = 64; tag < 67; ++tag) {
        const auto size = [&](int from, int to) {
          return static_cast<std::size_t>((from * 131 + to * 57 + round * 17) % 2000);
        };
        scope.spawn(expect_message(rank, peer, tag, round, size(peer, rank.net.rank()), 2000));
        scope.spawn(send_message(rank, peer, tag, round, size(rank.net.rank(), peer)));
      }
    }
    co_await scope.join();
  }
}

/// Everybody sends everybody messages of mixed sizes on several tags, for many rounds; two such at once.
inline Task<> all_to_all(Rank& rank) {
  co_await one_to_all(rank, 0);
  co_await one_to_all(rank, 1000);
}

/// Counters tell control from data, and count payload.
inline Task<> traffic(Rank& rank) {
  const auto& t = rank.net.traffic();
  const auto read = [&] {
    return std::array{t.control_sent.load(), t.control_received.load(), t.data_sent.load(), t.data_received.load(),
                      t.messages_sent.load()};
  };
  const auto before = read();
  const int next = (rank.net.rank() + 1) % rank.net.size(),
            previous = (rank.net.rank() + rank.net.size() - 1) % rank.net.size();
  TaskScope scope;
  scope.spawn(send_message(rank, next, transport::kFirstDataTag - 1, 0, 100));
  scope.spawn(send_message(rank, next, transport::kFirstDataTag, 0, 1000));
  scope.spawn(expect_message(rank, previous, transport::kFirstDataTag - 1, 0, 100, 500));
  scope.spawn(expect_message(rank, previous, transport::kFirstDataTag, 0, 1000, 5000));
  co_await scope.join();
  const auto after = read();
  constexpr std::array<std::uint64_t, 5> kMoved{100, 100, 1000, 1000, 2};
  for (std::size_t i = 0; i < kMoved.size(); ++i) {
    rank.expect(after[i] - before[i] == kMoved[i], fmt::format("counter {} moved by {}", i, after[i] - before[i]));
  }
}

}  // namespace suite

struct TransportCheck {
  const char* name;
  Task<> (*body)(suite::Rank& rank);
};

/// All of them need two ranks or more.
inline std::span<const TransportCheck> transport_checks() {
  static constexpr std::array<TransportCheck, 6> kChecks{{{"messages of one tag arrive in order", suite::ordered},
                                                          {"tags are independent", suite::many_tags},
                                                          {"edge sizes and tags", suite::edges},
                                                          {"too small a receive", suite::too_small},
                                                          {"all to all", suite::all_to_all},
                                                          {"traffic counters", suite::traffic}}};
  return kChecks;
}

/// Runs one check as this rank; returns what is wrong, or nothing.
inline std::string run_check(const TransportCheck& check, Transport& net) {
  suite::Rank rank{net};
  try {
    drive(net, check.body(rank));
  } catch (const std::exception& e) {
    rank.expect(false, fmt::format("threw: {}", e.what()));
  }
  return rank.problem;
}

using MakeTransports = std::function<std::vector<std::unique_ptr<Transport>>(int ranks)>;

/// Runs one check with a thread a rank; returns what each rank found wrong.
inline std::vector<std::string> run_check(const TransportCheck& check, int ranks, const MakeTransports& make) {
  const auto nets = make(ranks);
  return run_ranks(ranks, [&](int rank) { return run_check(check, *nets[static_cast<std::size_t>(rank)]); });
}

}  // namespace ringlet::test
