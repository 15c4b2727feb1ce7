#include "collective/schedules.hpp"

namespace ringlet::collective {
namespace {

Task<> run_lane(const Exchange& x, std::size_t lane) {
  const auto ranks = static_cast<std::size_t>(x.net.size());
  const auto me = static_cast<std::size_t>(x.net.rank());
  const Slots slots(x.pool, ranks, largest_wire(x.operand));
  Transfers sends(ranks), receives(ranks);
  std::vector<std::span<const std::byte>> wires(ranks);
  const auto chunks = x.operand.layout().chunks();
  for (std::size_t c = lane; c < chunks.size(); c += x.lanes) {
    const std::size_t bytes = x.operand.wire_bytes(chunks[c]);
    for (std::size_t i = 1; i < ranks; ++i) {
      const std::size_t from = (me + ranks - i) % ranks;
      receives.recv(from, x.net, static_cast<int>(from), x.lane_tag(lane, 0), slots.at(from, bytes));
      wires[from] = slots.at(from, bytes);
    }
    wires[me] = x.operand.outgoing(chunks[c], Stage::contribution, 0, slots.at(me, bytes));
    for (std::size_t i = 1; i < ranks; ++i) {
      const std::size_t to = (me + i) % ranks;
      sends.send(to, x.net, static_cast<int>(to), x.lane_tag(lane, 0), wires[me]);
    }
    for (std::size_t from = 0; from < ranks; ++from) {
      if (from != me) require_size(x.net, static_cast<int>(from), bytes, co_await receives.take(from));
    }
    co_await sends.take_all();
    x.operand.accept_all(chunks[c], wires);
  }
}

}  // namespace

Task<> all_gather(const Exchange& x) {
  x.operand.begin(false);
  TaskScope lanes(&x.alarm);
  for (std::size_t lane = 0; lane < x.lanes; ++lane) lanes.spawn(run_lane(x, lane));
  co_await lanes.join();
}

}  // namespace ringlet::collective
