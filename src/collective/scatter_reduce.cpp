#include "collective/schedules.hpp"

namespace ringlet::collective {
namespace {

/// One lane's memory: what arrives and what is encoded, a slot for each rank.
struct Lane {
  Lane(const Exchange& x, std::size_t number)
      : lane(number),
        ranks(static_cast<std::size_t>(x.net.size())),
        me(static_cast<std::size_t>(x.net.rank())),
        inbox(x.pool, ranks, largest_wire(x.operand)),
        outbox(x.pool, x.operand.encodes() ? ranks : 0, largest_wire(x.operand)),
        sends(ranks),
        receives(ranks),
        wires(ranks) {}

  std::span<std::byte> encode_room(const Exchange& x, std::size_t rank, const Chunk& chunk) const {
    return x.operand.encodes() ? outbox.at(rank, x.operand.wire_bytes(chunk)) : std::span<std::byte>{};
  }

  std::size_t lane, ranks, me;
  Slots inbox, outbox;
  Transfers sends, receives;
  std::vector<std::span<const std::byte>> wires;
};

const Chunk* chunk_of(const Exchange& x, std::size_t rank, std::size_t round) {
  const auto part = x.operand.layout().part(static_cast<int>(rank));
  return round < part.size() ? &part[round] : nullptr;
}

/// Every rank's values of this round's chunks reach their owners; this rank combines those of its own.
Task<> scatter(const Exchange& x, Lane& l, std::size_t round) {
  const Chunk* mine = chunk_of(x, l.me, round);
  const Tag tag = x.lane_tag(l.lane, 0);
  const std::size_t expected = mine != nullptr ? x.operand.wire_bytes(*mine) : 0;
  for (std::size_t i = 1; i < l.ranks && mine != nullptr; ++i) {
    const std::size_t from = (l.me + l.ranks - i) % l.ranks;
    l.receives.recv(from, x.net, static_cast<int>(from), tag, l.inbox.at(from, expected));
  }
  for (std::size_t i = 1; i < l.ranks; ++i) {
    const std::size_t to = (l.me + i) % l.ranks;
    const Chunk* chunk = chunk_of(x, to, round);
    if (chunk == nullptr) continue;
    const auto bytes = x.operand.outgoing(*chunk, Stage::contribution, 0, l.encode_room(x, to, *chunk));
    l.sends.send(to, x.net, static_cast<int>(to), tag, bytes);
  }
  for (std::size_t from = 0; from < l.ranks && mine != nullptr; ++from) {
    l.wires[from] = {};
    if (from == l.me) continue;
    require_size(x.net, static_cast<int>(from), expected, co_await l.receives.take(from));
    l.wires[from] = l.inbox.at(from, expected);
  }
  co_await l.sends.take_all();  // results land where these values lie
  if (mine != nullptr) x.operand.combine_all(*mine, l.wires);
}

/// Every owner's outcome reaches everybody.
Task<> gather(const Exchange& x, Lane& l, std::size_t round) {
  const Tag tag = x.lane_tag(l.lane, 1);
  for (std::size_t i = 1; i < l.ranks; ++i) {
    const std::size_t from = (l.me + l.ranks - i) % l.ranks;
    const Chunk* chunk = chunk_of(x, from, round);
    if (chunk == nullptr) continue;
    const auto room = x.operand.landing(*chunk, l.inbox.at(from, x.operand.wire_bytes(*chunk)));
    l.receives.recv(from, x.net, static_cast<int>(from), tag, room);
    l.wires[from] = room;
  }
  if (const Chunk* mine = chunk_of(x, l.me, round); mine != nullptr) {
    const auto bytes = x.operand.publish(*mine, l.encode_room(x, l.me, *mine));
    for (std::size_t i = 1; i < l.ranks; ++i) {
      const std::size_t to = (l.me + i) % l.ranks;
      l.sends.send(to, x.net, static_cast<int>(to), tag, bytes);
    }
  }
  for (std::size_t i = 1; i < l.ranks; ++i) {
    const std::size_t from = (l.me + l.ranks - i) % l.ranks;
    const Chunk* chunk = chunk_of(x, from, round);
    if (chunk == nullptr) continue;
    require_size(x.net, static_cast<int>(from), x.operand.wire_bytes(*chunk), co_await l.receives.take(from));
    x.operand.accept(*chunk, l.wires[from]);
  }
  co_await l.sends.take_all();
}

Task<> run_lane(const Exchange& x, std::size_t number) {
  Lane lane(x, number);
  for (std::size_t round = number; round < x.operand.layout().rounds(); round += x.lanes) {
    co_await scatter(x, lane, round);
    co_await gather(x, lane, round);
  }
}

}  // namespace

Task<> scatter_reduce(const Exchange& x) {
  x.operand.begin(false);
  TaskScope lanes(&x.alarm);
  for (std::size_t lane = 0; lane < x.lanes; ++lane) lanes.spawn(run_lane(x, lane));
  co_await lanes.join();
}

}  // namespace ringlet::collective
