#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/buffer_pool.hpp"
#include "base/task.hpp"
#include "collective/operand.hpp"
#include "transport/transport.hpp"

namespace ringlet::collective {

using transport::Tag;
using transport::Transfer;
using transport::Transport;

/// Tags one exchange may use, from its first on: two for each lane.
constexpr std::size_t kMaxLanes = 4;
constexpr Tag kTagsPerExchange = 2 * kMaxLanes;

/// What every schedule of an all-reduce is given. Everything outlives the schedule; a chunk of each part is in the care
/// of one lane, and the lanes run at once, so that encoding, wire and decoding of different chunks overlap.
struct Exchange {
  Transport& net;
  Operand& operand;
  BufferPool& pool;
  Alarm& alarm;  ///< told when a lane fails while the others still wait
  Tag tag = 0;   ///< the first of kTagsPerExchange
  std::size_t lanes = 1;

  Tag lane_tag(std::size_t lane, Tag stage) const noexcept { return tag + static_cast<Tag>(2 * lane) + stage; }
};

/// A bank of transfers under way, one slot for each peer or part.
class Transfers {
 public:
  explicit Transfers(std::size_t slots) : slots_(slots) {}

  void send(std::size_t slot, Transport& net, int peer, Tag tag, std::span<const std::byte> bytes) {
    slots_[slot].emplace(net, Transfer::Direction::send, peer, tag, const_cast<std::byte*>(bytes.data()), bytes.size());
  }
  void recv(std::size_t slot, Transport& net, int peer, Tag tag, std::span<std::byte> bytes) {
    slots_[slot].emplace(net, Transfer::Direction::receive, peer, tag, bytes.data(), bytes.size());
  }
  bool pending(std::size_t slot) const noexcept { return slots_[slot].has_value(); }
  std::size_t size() const noexcept { return slots_.size(); }

  /// Waits for one slot and frees it; 0 bytes when it is free already.
  Task<std::size_t> take(std::size_t slot) {
    if (!slots_[slot]) co_return 0;
    Transfer& transfer = *slots_[slot];  // g++ 12 would copy what a dereference awaits
    const std::size_t moved = co_await transfer;
    slots_[slot].reset();
    co_return moved;
  }
  Task<> take_all() {
    for (auto& slot : slots_) {
      if (!slot) continue;
      Transfer& transfer = *slot;
      co_await transfer;
      slot.reset();
    }
  }

 private:
  std::vector<std::optional<Transfer>> slots_;
};

/// Equal pieces of one buffer, one for each slot.
class Slots {
 public:
  Slots(BufferPool& pool, std::size_t count, std::size_t bytes) : stride_(bytes), buffer_(pool.take(count * bytes)) {}
  std::span<std::byte> at(std::size_t slot, std::size_t bytes) const {
    return buffer_.bytes().subspan(slot * stride_, bytes);
  }

 private:
  std::size_t stride_;
  Buffer buffer_;
};

/// Room for the largest chunk on the wire, rounded up so that slots stay aligned.
inline std::size_t largest_wire(const Operand& operand) {
  std::size_t most = 0;
  for (const Chunk& chunk : operand.layout().chunks()) most = std::max(most, operand.wire_bytes(chunk));
  return (most + 63) / 64 * 64;
}

/// Throws Error{malformed} unless a message has the size that the layout promised.
void require_size(const Transport& net, int peer, std::size_t expected, std::size_t got);

}  // namespace ringlet::collective
