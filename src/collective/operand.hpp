#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "collective/layout.hpp"
#include "compress/compressor.hpp"

namespace ringlet::collective {

using compress::Stage;

/// What an all-reduce's schedules move: this rank's share of a bucket, as values that can be put on the wire and
/// combined with others'. Schedules are written once over it; whether elements travel as they are or encoded is the
/// operand's affair.
///
/// For each chunk a rank holds a *running* value (its own contribution at first) and a *result*. The order in which
/// values combine is a function of ranks alone, so every rank and every run gets the same bits.
class Operand {
 public:
  virtual ~Operand() = default;
  Operand() = default;
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;

  const Layout& layout() const noexcept { return layout_; }

  /// First of all. `hop_by_hop`: running values will be combined in place, one by one (everything but combine_all and
  /// accept_all).
  virtual void begin(bool hop_by_hop) = 0;

  /// Whether elements are encoded, so that schedules need memory for what they send.
  virtual bool encodes() const noexcept = 0;
  /// Bytes of an encoded chunk; equal on every rank.
  virtual std::size_t wire_bytes(const Chunk& chunk) const noexcept = 0;

  /// The running value of `chunk` as bytes to send: the memory itself, or encoded into `scratch` (wire_bytes() long).
  /// What the encoding loses is kept as this rank's residual, so the running value is gone afterwards where there is
  /// one. `hop` numbers encodings of one chunk by one rank within one exchange.
  virtual std::span<const std::byte> outgoing(const Chunk& chunk, Stage stage, std::uint32_t hop,
                                              std::span<std::byte> scratch) = 0;

  /// running = running (+) incoming, where `incoming` comes from a higher rank if `from_above`.
  virtual void combine(const Chunk& chunk, std::span<const std::byte> incoming, bool from_above) = 0;

  /// running = all ranks' contributions in the one canonical order; `wires[r]` is rank r's, this rank's own is empty
  /// and taken exact.
  virtual void combine_all(const Chunk& chunk, std::span<const std::span<const std::byte>> wires) = 0;

  /// The bytes of the final value of `chunk` for all others to take; sets this rank's own result to exactly what they
  /// will decode.
  virtual std::span<const std::byte> publish(const Chunk& chunk, std::span<std::byte> scratch) = 0;

  /// Where the bytes of a published chunk are best received: the result's own memory, or `scratch`.
  virtual std::span<std::byte> landing(const Chunk& chunk, std::span<std::byte> scratch) = 0;
  /// result = what another rank published.
  virtual void accept(const Chunk& chunk, std::span<const std::byte> wire) = 0;

  /// result = all ranks' contributions, own one included as the others decode it: for exchanges in which everybody sums
  /// everything.
  virtual void accept_all(const Chunk& chunk, std::span<const std::span<const std::byte>> wires) = 0;

  // Recursive doubling, in which both partners of a hop must end with the same bits.

  /// The running value as bytes for this hop's partner, as outgoing(); `group_leader` is the lowest of the ranks that
  /// hold the same running value (all of them encode it alike), and that rank alone keeps what is lost.
  virtual std::span<const std::byte> outgoing_shared(const Chunk& chunk, std::uint32_t hop, int group_leader,
                                                     std::span<std::byte> scratch) = 0;
  /// running = lower (+) upper, both as decoded; one of them is this rank's own outgoing_shared().
  virtual void merge(const Chunk& chunk, std::span<const std::byte> lower, std::span<const std::byte> upper) = 0;
  /// Bytes that let a rank outside the butterfly reach the same value: `pair` holds the last merge's two wires, lower
  /// first.
  virtual std::span<const std::byte> outgoing_pair(const Chunk& chunk, std::span<const std::byte> pair) = 0;
  virtual std::size_t pair_bytes(const Chunk& chunk) const noexcept = 0;
  virtual void accept_pair(const Chunk& chunk, std::span<const std::byte> pair) = 0;
  /// result = running, after the last merge.
  virtual void settle(const Chunk& chunk) = 0;

 protected:
  Layout layout_;
};

}  // namespace ringlet::collective
