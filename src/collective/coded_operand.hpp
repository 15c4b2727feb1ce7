#pragma once

#include <chrono>
#include <vector>

#include "collective/operand.hpp"

namespace ringlet::collective {

/// One tensor of an encoded bucket.
struct CodedTensor {
  const float* input = nullptr;  ///< this rank's gradient
  float* residual = nullptr;     ///< with error feedback: what earlier encodings lost; else null
  float* output = nullptr;       ///< may be `input`'s memory
  std::uint64_t hash = 0;
  std::uint64_t step = 0;
};

/// Time spent in codecs, by the clock of this process.
struct CodecTimes {
  std::chrono::nanoseconds encode{0};
  std::chrono::nanoseconds decode{0};
};

/// A bucket of fp32 tensors that travel through a Codec; sums are formed in fp32. Nothing is packed: each piece is
/// encoded from its own tensor's memory into the message and decoded from it.
///
/// With error feedback a tensor's residual array is its running value: it takes the gradient in at the start, is
/// encoded from, and is left holding what the encoding lost. At the owner of a part the running value becomes the sum,
/// and is left holding what the encoding of the sum lost. So what was applied plus all ranks' residuals is always the
/// sum of the gradients, in every exchange.
class CodedOperand final : public Operand {
 public:
  struct Config {
    const compress::Codec* codec = nullptr;
    double prescale = 1.0;
    double factor = 1.0;  ///< on the decoded sum: 1/P for an average, times postscale
    std::uint64_t seed = 0;
    int ranks = 1;
    int rank = 0;
  };

  /// `tensors[i]` has `extents[i].elements` elements.
  void open(std::span<const Extent> extents, std::span<const CodedTensor> tensors, std::size_t chunk_bytes,
            const Config& config);
  const CodecTimes& times() const noexcept { return times_; }

  void begin(bool hop_by_hop) override;
  bool encodes() const noexcept override { return true; }
  std::size_t wire_bytes(const Chunk& chunk) const noexcept override;
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
  std::size_t pair_bytes(const Chunk& chunk) const noexcept override { return 2 * wire_bytes(chunk); }
  void accept_pair(const Chunk& chunk, std::span<const std::byte> pair) override;
  void settle(const Chunk& chunk) override;

 private:
  struct Place;  // one piece: its tensor, its site, its bytes within the chunk's wire
  template <class F>
  void each_piece(const Chunk& chunk, Stage stage, F f) const;
  void encode(const Place& at, float* values, std::span<std::byte> wire) const;

  std::vector<CodedTensor> tensors_;
  std::vector<std::size_t> elements_;
  std::vector<float*> running_;  // by tensor: the residual, or the output, or (never written) the input
  Config config_;
  bool feedback_ = false;
  CodecTimes times_;
};

}  // namespace ringlet::collective
