#include "collective/raw_operand.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/reduction.hpp"

namespace ringlet::collective {
namespace {
constexpr std::size_t kCacheLine = 64;
}

void RawOperand::open(std::span<const Extent> tensors, std::size_t chunk_bytes, const Config& config,
                      const std::byte* input, std::byte* output) {
  config_ = config;
  item_ = size_of(config.dtype);
  input_ = running_ = input;
  output_ = output;
  layout_.build(tensors, {config.ranks, kCacheLine / item_, std::max<std::size_t>(chunk_bytes / item_, 1)});
}

void RawOperand::begin(bool hop_by_hop) {
  divided_ = !hop_by_hop && config_.op == ReduceOp::average;
  if (!hop_by_hop) return;
  if (input_ != output_ && layout_.elements() > 0) std::memcpy(output_, input_, layout_.elements() * item_);
  running_ = output_;
}

std::span<const std::byte> RawOperand::outgoing(const Chunk& chunk, Stage, std::uint32_t, std::span<std::byte>) {
  return running(chunk);
}

void RawOperand::combine(const Chunk& chunk, std::span<const std::byte> incoming, bool from_above) {
  const auto values = result(chunk);
  std::array<const void*, 2> sources{values.data(), incoming.data()};
  if (!from_above) std::swap(sources[0], sources[1]);
  sum_pairwise(config_.dtype, config_.op, sources, values.data(), chunk.elements);
}

void RawOperand::combine_all(const Chunk& chunk, std::span<const std::span<const std::byte>> wires) {
  std::array<const void*, 64> few{};
  std::vector<const void*> many;
  std::span<const void*> sources(few.data(), std::min(wires.size(), few.size()));
  if (wires.size() > few.size()) sources = (many.resize(wires.size()), std::span(many));
  for (std::size_t r = 0; r < wires.size(); ++r) {
    sources[r] = static_cast<int>(r) == config_.rank ? running(chunk).data() : wires[r].data();
  }
  if (divided_) {
    sum_pairwise_average(config_.dtype, sources, result(chunk).data(), chunk.elements);
  } else {
    sum_pairwise(config_.dtype, config_.op, sources, result(chunk).data(), chunk.elements);
  }
}

void RawOperand::finish(std::span<std::byte> values) const {
  const std::size_t elements = values.size() / item_;
  if (config_.op == ReduceOp::average && !divided_) divide(config_.dtype, values.data(), elements, config_.ranks);
  if (config_.postscale != 1.0) scale(config_.dtype, values.data(), elements, config_.postscale);
}

std::span<const std::byte> RawOperand::publish(const Chunk& chunk, std::span<std::byte>) {
  finish(result(chunk));
  return result(chunk);
}

std::span<std::byte> RawOperand::landing(const Chunk& chunk, std::span<std::byte>) { return result(chunk); }

void RawOperand::accept(const Chunk&, std::span<const std::byte>) {}  // it landed where it belongs

void RawOperand::accept_all(const Chunk& chunk, std::span<const std::span<const std::byte>> wires) {
  combine_all(chunk, wires);
  finish(result(chunk));
}

std::span<const std::byte> RawOperand::outgoing_shared(const Chunk& chunk, std::uint32_t, int, std::span<std::byte>) {
  return result(chunk);
}

void RawOperand::merge(const Chunk& chunk, std::span<const std::byte> lower, std::span<const std::byte> upper) {
  const std::array<const void*, 2> sources{lower.data(), upper.data()};
  sum_pairwise(config_.dtype, config_.op, sources, result(chunk).data(), chunk.elements);
}

std::span<const std::byte> RawOperand::outgoing_pair(const Chunk& chunk, std::span<const std::byte>) {
  return result(chunk);
}

void RawOperand::accept_pair(const Chunk& chunk, std::span<const std::byte> pair) {
  std::memcpy(result(chunk).data(), pair.data(), pair.size());
}

void RawOperand::settle(const Chunk& chunk) { finish(result(chunk)); }

}  // namespace ringlet::collective
