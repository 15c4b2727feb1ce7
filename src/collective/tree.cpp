#include <bit>

#include "collective/schedules.hpp"

namespace ringlet::collective {
namespace {

Task<> run_chunk(const Exchange& x, std::size_t lane, const Chunk& chunk, const Slots& slots) {
  const int ranks = x.net.size();
  const int me = x.net.rank();
  const std::size_t bytes = x.operand.wire_bytes(chunk);
  const int top = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  Transfers transfer(1);
  std::vector<int> below;  // ranks that hand this one their partial sums, in the order it takes them

  int parent = -1;
  for (int distance = top; distance >= 1 && parent < 0; distance /= 2) {
    if (me >= distance) {
      parent = me - distance;
    } else if (me + distance < ranks && me + distance < 2 * distance) {
      below.push_back(me + distance);
    }
  }
  for (const int child : below) {
    transfer.recv(0, x.net, child, x.lane_tag(lane, 0), slots.at(0, bytes));
    require_size(x.net, child, bytes, co_await transfer.take(0));
    x.operand.combine(chunk, slots.at(0, bytes), true);
  }

  std::span<const std::byte> wire;
  if (parent < 0) {
    wire = x.operand.publish(chunk, slots.at(1, bytes));
  } else {
    transfer.send(0, x.net, parent, x.lane_tag(lane, 0),
                  x.operand.outgoing(chunk, Stage::partial_sum, 0, slots.at(1, bytes)));
    co_await transfer.take(0);
    const auto room = x.operand.landing(chunk, slots.at(1, bytes));
    transfer.recv(0, x.net, parent, x.lane_tag(lane, 1), room);
    require_size(x.net, parent, bytes, co_await transfer.take(0));
    wire = room;
  }
  Transfers sends(below.size());
  for (std::size_t i = below.size(); i-- > 0;) sends.send(i, x.net, below[i], x.lane_tag(lane, 1), wire);
  if (parent >= 0) x.operand.accept(chunk, wire);
  co_await sends.take_all();
}

Task<> run_lane(const Exchange& x, std::size_t lane) {
  const Slots slots(x.pool, 2, largest_wire(x.operand));
  const auto chunks = x.operand.layout().chunks();
  for (std::size_t i = lane; i < chunks.size(); i += x.lanes) co_await run_chunk(x, lane, chunks[i], slots);
}

}  // namespace

Task<> tree(const Exchange& x) {
  x.operand.begin(true);
  TaskScope lanes(&x.alarm);
  for (std::size_t lane = 0; lane < x.lanes; ++lane) lanes.spawn(run_lane(x, lane));
  co_await lanes.join();
}

}  // namespace ringlet::collective
