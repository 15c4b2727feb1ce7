#include <bit>

#include "collective/schedules.hpp"

namespace ringlet::collective {
namespace {

/// A rank beyond the power of two: hands its value in and takes the outcome.
Task<> outside(const Exchange& x, std::size_t lane, const Chunk& chunk, int partner, const Slots& slots) {
  const std::size_t bytes = x.operand.wire_bytes(chunk);
  Transfers transfer(1);
  transfer.send(0, x.net, partner, x.lane_tag(lane, 0),
                x.operand.outgoing(chunk, Stage::partial_sum, 0, slots.at(0, bytes)));
  co_await transfer.take(0);
  const std::size_t pair_bytes = x.operand.pair_bytes(chunk);
  transfer.recv(0, x.net, partner, x.lane_tag(lane, 1), slots.at(0, pair_bytes));
  require_size(x.net, partner, pair_bytes, co_await transfer.take(0));
  x.operand.accept_pair(chunk, slots.at(0, pair_bytes));
}

/// One hop: both partners end with the same running value. Both wires stay in `slots`, lower rank's first.
Task<> swap(const Exchange& x, std::size_t lane, const Chunk& chunk, int distance, std::uint32_t hop,
            const Slots& slots) {
  const int me = x.net.rank();
  const int partner = me ^ distance;
  const bool lower = me < partner;
  const std::size_t bytes = x.operand.wire_bytes(chunk);
  // After hops at larger distances, the ranks that agree with this one modulo 2 * distance hold what it holds.
  const int leader = me % (2 * distance);
  const auto pair = slots.at(0, 2 * bytes);
  const auto own = x.operand.outgoing_shared(chunk, hop, leader, pair.subspan(lower ? 0 : bytes, bytes));
  const auto other = pair.subspan(lower ? bytes : 0, bytes);
  Transfers transfer(2);
  transfer.recv(0, x.net, partner, x.lane_tag(lane, 0), other);
  transfer.send(1, x.net, partner, x.lane_tag(lane, 0), own);
  require_size(x.net, partner, bytes, co_await transfer.take(0));
  co_await transfer.take(1);
  if (lower) {
    x.operand.merge(chunk, own, other);
  } else {
    x.operand.merge(chunk, other, own);
  }
}

Task<> run_chunk(const Exchange& x, std::size_t lane, const Chunk& chunk, const Slots& slots) {
  const int ranks = x.net.size();
  const int me = x.net.rank();
  const int inside = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  const std::size_t bytes = x.operand.wire_bytes(chunk);
  if (me >= inside) {
    co_await outside(x, lane, chunk, me - inside, slots);
    x.operand.settle(chunk);
    co_return;
  }
  const bool has_partner = me + inside < ranks;
  Transfers transfer(1);
  if (has_partner) {
    transfer.recv(0, x.net, me + inside, x.lane_tag(lane, 0), slots.at(0, bytes));
    require_size(x.net, me + inside, bytes, co_await transfer.take(0));
    x.operand.combine(chunk, slots.at(0, bytes), true);
  }
  std::uint32_t hop = 0;
  for (int distance = inside / 2; distance >= 1; distance /= 2) co_await swap(x, lane, chunk, distance, hop++, slots);
  if (has_partner) {
    const std::size_t pair_bytes = x.operand.pair_bytes(chunk);
    transfer.send(0, x.net, me + inside, x.lane_tag(lane, 1), x.operand.outgoing_pair(chunk, slots.at(0, pair_bytes)));
    co_await transfer.take(0);
  }
  x.operand.settle(chunk);
}

Task<> run_lane(const Exchange& x, std::size_t lane) {
  std::size_t most = largest_wire(x.operand);
  for (const Chunk& chunk : x.operand.layout().chunks()) most = std::max(most, x.operand.pair_bytes(chunk));
  const Slots slots(x.pool, 2, most);
  const auto chunks = x.operand.layout().chunks();
  for (std::size_t i = lane; i < chunks.size(); i += x.lanes) co_await run_chunk(x, lane, chunks[i], slots);
}

}  // namespace

Task<> doubling(const Exchange& x) {
  x.operand.begin(true);
  TaskScope lanes(&x.alarm);
  for (std::size_t lane = 0; lane < x.lanes; ++lane) lanes.spawn(run_lane(x, lane));
  co_await lanes.join();
}

}  // namespace ringlet::collective
