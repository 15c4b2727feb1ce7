#pragma once

#include "collective/operand.hpp"
#include "ringlet/collectives.hpp"

namespace ringlet::collective {

/// A bucket whose elements travel as they are, of any dtype, under any op. The bytes on the wire are the values' own
/// memory.
class RawOperand final : public Operand {
 public:
  struct Config {
    DType dtype = DType::float32;
    ReduceOp op = ReduceOp::sum;
    double postscale = 1.0;  ///< on the result, after an average's division
    int ranks = 1;
    int rank = 0;
  };

  /// `input` and `output` hold the bucket in the layout's packed order (one tensor: its own order) and may be the same
  /// memory. The layout is built here, at grains of a cache line.
  void open(std::span<const Extent> tensors, std::size_t chunk_bytes, const Config& config, const std::byte* input,
            std::byte* output);

  void begin(bool hop_by_hop) override;
  bool encodes() const noexcept override { return false; }
  std::size_t wire_bytes(const Chunk& chunk) const noexcept override { return chunk.elements * item_; }
  std::span<const std::byte> outgoing(const Chunk& chunk, Stage stage, std::uint32_t hop,
                                      std::span<std::byte> scratch) override;
  void combine(const Chunk& chunk, std::span<const std::byte> incoming, bool from_above) override;
  void combine_all(const Chunk& chunk, std::span<const std::span<const std::byte>> wires) override;
  std::span<const std::byte> publish(const Chunk& chunk, std::span<std::byte> scratch) override;
  std::span<std::byte> landing(const Chunk& chunk, std::span<std::byte> scratch) override;
  void accept(const Chunk& chunk, std::span<const std::byte> wire) override;
  void accept_all(const Chunk& chunk, std::span<const std::span<const std::byte>> wires) override;
  std::span<const std::byte> outgoing_shared(const Chunk& chunk, std::uint32_t hop, int group_leader,
                                             std::span<std::byte> scratch) override;
  void merge(const Chunk& chunk, std::span<const std::byte> lower, std::span<const std::byte> upper) override;
  std::span<const std::byte> outgoing_pair(const Chunk& chunk, std::span<const std::byte> pair) override;
  std::size_t pair_bytes(const Chunk& chunk) const noexcept override { return wire_bytes(chunk); }
  void accept_pair(const Chunk& chunk, std::span<const std::byte> pair) override;
  void settle(const Chunk& chunk) override;

 private:
  std::span<const std::byte> running(const Chunk& chunk) const noexcept {
    return {running_ + chunk.offset * item_, chunk.elements * item_};
  }
  std::span<std::byte> result(const Chunk& chunk) const noexcept {
    return {output_ + chunk.offset * item_, chunk.elements * item_};
  }
  /// The factors that come after the sum. Integers under average divide where they are summed, in 64 bits, and not
  /// here.
  void finish(std::span<std::byte> values) const;

  Config config_;
  std::size_t item_ = 1;
  const std::byte* input_ = nullptr;
  const std::byte* running_ = nullptr;
  std::byte* output_ = nullptr;
  bool divided_ = false;  // combine_all and accept_all divided already
};

}  // namespace ringlet::collective
