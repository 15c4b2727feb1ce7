#include "collective/schedules.hpp"

namespace ringlet::collective {
namespace {

/// Chunk number `round` of every part, all the way round: P-1 steps that combine and P-1 that pass on.
Task<> run_round(const Exchange& x, std::size_t lane, std::size_t round, const Slots& out, const Slots& in) {
  const int ranks = x.net.size();
  const int me = x.net.rank();
  const int next = (me + 1) % ranks;
  const int previous = (me + ranks - 1) % ranks;
  const Layout& layout = x.operand.layout();
  const auto chunk_at = [&](int part) -> const Chunk* {
    const auto chunks = layout.part(((part % ranks) + ranks) % ranks);
    return round < chunks.size() ? &chunks[round] : nullptr;
  };
  Transfers sends(1), receives(1);
  const Tag tag = x.lane_tag(lane, 0);

  for (int step = 1; step < ranks; ++step) {
    if (const Chunk* chunk = chunk_at(me - step); chunk != nullptr) {
      const auto hop = static_cast<std::uint32_t>(step);
      sends.send(0, x.net, next, tag,
                 x.operand.outgoing(*chunk, Stage::partial_sum, hop, out.at(0, x.operand.wire_bytes(*chunk))));
    }
    if (const Chunk* chunk = chunk_at(me - step - 1); chunk != nullptr) {
      const std::size_t bytes = x.operand.wire_bytes(*chunk);
      receives.recv(0, x.net, previous, tag, in.at(0, bytes));
      require_size(x.net, previous, bytes, co_await receives.take(0));
      x.operand.combine(*chunk, in.at(0, bytes), false);
    }
    co_await sends.take_all();
  }

  // The wires travel on unchanged, so that every rank decodes the owner's bytes. Two slots in turn: one leaves while
  // one arrives.
  std::span<const std::byte> wire;
  if (const Chunk* mine = chunk_at(me); mine != nullptr)
    wire = x.operand.publish(*mine, out.at(0, x.operand.wire_bytes(*mine)));
  for (int step = 0; step < ranks - 1; ++step) {
    if (chunk_at(me - step) != nullptr) sends.send(0, x.net, next, tag, wire);
    wire = {};
    if (const Chunk* chunk = chunk_at(me - step - 1); chunk != nullptr) {
      const std::size_t bytes = x.operand.wire_bytes(*chunk);
      const Slots& slots = step % 2 == 0 ? in : out;
      const auto room = x.operand.landing(*chunk, slots.at(step % 2 == 0 ? 0 : 1, bytes));
      receives.recv(0, x.net, previous, tag, room);
      require_size(x.net, previous, bytes, co_await receives.take(0));
      x.operand.accept(*chunk, room);
      wire = room;
    }
    co_await sends.take_all();
  }
}

Task<> run_lane(const Exchange& x, std::size_t lane) {
  const Slots out(x.pool, 2, largest_wire(x.operand));
  const Slots in(x.pool, 1, largest_wire(x.operand));
  for (std::size_t round = lane; round < x.operand.layout().rounds(); round += x.lanes) {
    co_await run_round(x, lane, round, out, in);
  }
}

}  // namespace

Task<> ring(const Exchange& x) {
  x.operand.begin(true);
  TaskScope lanes(&x.alarm);
  for (std::size_t lane = 0; lane < x.lanes; ++lane) lanes.spawn(run_lane(x, lane));
  co_await lanes.join();
}

}  // namespace ringlet::collective
