#include "collective/coded_operand.hpp"

#include <algorithm>

#include "collective/timed.hpp"

namespace ringlet::collective {
struct CodedOperand::Place {
  std::size_t tensor;
  std::size_t offset;  // first element within the tensor
  std::size_t elements;
  std::size_t wire_offset;  // first byte within the chunk's wire
  std::size_t wire_bytes;
  compress::Site site;
};

void CodedOperand::open(std::span<const Extent> extents, std::span<const CodedTensor> tensors, std::size_t chunk_bytes,
                        const Config& config) {
  config_ = config;
  feedback_ = config.codec->error_feedback();
  times_ = {};
  tensors_.assign(tensors.begin(), tensors.end());
  elements_.clear();
  for (const Extent& extent : extents) elements_.push_back(extent.elements);
  // A cache line's worth of elements at least, so that parts of tiny grains still make useful messages.
  const std::size_t grain = (16 + config.codec->grain() - 1) / config.codec->grain() * config.codec->grain();
  layout_.build(extents, {config.ranks, grain, std::max<std::size_t>(chunk_bytes / sizeof(float), 1)});
}

void CodedOperand::begin(bool hop_by_hop) {
  running_.clear();
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const CodedTensor& tensor = tensors_[t];
    const std::size_t n = elements_[t];
    const auto prescale = static_cast<float>(config_.prescale);
    if (feedback_) {
      for (std::size_t i = 0; i < n; ++i) tensor.residual[i] += prescale * tensor.input[i];
      running_.push_back(tensor.residual);
    } else if (hop_by_hop || config_.prescale != 1.0) {
      for (std::size_t i = 0; i < n; ++i) tensor.output[i] = prescale * tensor.input[i];
      running_.push_back(tensor.output);
    } else {
      running_.push_back(const_cast<float*>(tensor.input));
    }
  }
}

std::size_t CodedOperand::wire_bytes(const Chunk& chunk) const noexcept {
  std::size_t bytes = 0;
  for (const Piece& piece : layout_.pieces(chunk)) bytes += config_.codec->wire_bytes(piece.elements);
  return bytes;
}

template <class F>
void CodedOperand::each_piece(const Chunk& chunk, Stage stage, F f) const {
  std::size_t wire_offset = 0;
  for (const Piece& piece : layout_.pieces(chunk)) {
    const CodedTensor& tensor = tensors_[piece.tensor];
    compress::Site site;
    site.seed = config_.seed;
    site.tensor = tensor.hash;
    site.step = tensor.step;
    site.rank = static_cast<std::uint32_t>(config_.rank);
    site.stage = stage;
    site.ranks = config_.ranks;
    site.offset = piece.tensor_offset;
    const std::size_t bytes = config_.codec->wire_bytes(piece.elements);
    f(Place{piece.tensor, piece.tensor_offset, piece.elements, wire_offset, bytes, site});
    wire_offset += bytes;
  }
}

void CodedOperand::encode(const Place& at, float* values, std::span<std::byte> wire) const {
  const auto out = wire.subspan(at.wire_offset, at.wire_bytes);
  if (feedback_) {
    config_.codec->encode_feedback({values, at.elements}, at.site, out);
  } else {
    config_.codec->encode({values, at.elements}, at.site, out);
  }
}

std::span<const std::byte> CodedOperand::outgoing(const Chunk& chunk, Stage stage, std::uint32_t hop,
                                                  std::span<std::byte> scratch) {
  const Timed timed(times_.encode);
  each_piece(chunk, stage, [&](Place at) {
    at.site.hop = hop;
    encode(at, running_[at.tensor] + at.offset, scratch);
  });
  return scratch;
}

void CodedOperand::combine(const Chunk& chunk, std::span<const std::byte> incoming, bool) {
  const Timed timed(times_.decode);
  each_piece(chunk, Stage::partial_sum, [&](const Place& at) {
    config_.codec->decode_add(incoming.subspan(at.wire_offset, at.wire_bytes), at.site,
                              {running_[at.tensor] + at.offset, at.elements});
  });
}

void CodedOperand::combine_all(const Chunk& chunk, std::span<const std::span<const std::byte>> wires) {
  const Timed timed(times_.decode);
  each_piece(chunk, Stage::contribution, [&](const Place& at) {
    float* sum = feedback_ ? running_[at.tensor] : tensors_[at.tensor].output;
    sum += at.offset;
    const float* own = running_[at.tensor] + at.offset;
    if (sum != own) std::copy_n(own, at.elements, sum);
    for (std::size_t r = 0; r < wires.size(); ++r) {
      if (static_cast<int>(r) == config_.rank) continue;
      config_.codec->decode_add(wires[r].subspan(at.wire_offset, at.wire_bytes), at.site, {sum, at.elements});
    }
  });
}

std::span<const std::byte> CodedOperand::publish(const Chunk& chunk, std::span<std::byte> scratch) {
  {
    const Timed timed(times_.encode);
    each_piece(chunk, Stage::result, [&](const Place& at) {
      float* sum = feedback_ ? running_[at.tensor] : tensors_[at.tensor].output;
      encode(at, sum + at.offset, scratch);
    });
  }
  accept(chunk, scratch);
  return scratch;
}

std::span<std::byte> CodedOperand::landing(const Chunk&, std::span<std::byte> scratch) { return scratch; }

void CodedOperand::accept(const Chunk& chunk, std::span<const std::byte> wire) {
  const Timed timed(times_.decode);
  each_piece(chunk, Stage::result, [&](const Place& at) {
    config_.codec->decode(wire.subspan(at.wire_offset, at.wire_bytes), at.site, static_cast<float>(config_.factor),
                          {tensors_[at.tensor].output + at.offset, at.elements});
  });
}

void CodedOperand::accept_all(const Chunk& chunk, std::span<const std::span<const std::byte>> wires) {
  {
    const Timed timed(times_.decode);
    each_piece(chunk, Stage::contribution, [&](const Place& at) {
      const std::span<float> sum(tensors_[at.tensor].output + at.offset, at.elements);
      config_.codec->decode(wires[0].subspan(at.wire_offset, at.wire_bytes), at.site, 1.0F, sum);
      for (const auto& wire : wires.subspan(1)) {
        config_.codec->decode_add(wire.subspan(at.wire_offset, at.wire_bytes), at.site, sum);
      }
    });
  }
  settle(chunk);
}

std::span<const std::byte> CodedOperand::outgoing_shared(const Chunk& chunk, std::uint32_t hop, int group_leader,
                                                         std::span<std::byte> scratch) {
  const Timed timed(times_.encode);
  each_piece(chunk, Stage::partial_sum, [&](Place at) {
    at.site.hop = hop + 1;  // 0 is what a rank outside the butterfly hands in
    at.site.rank = static_cast<std::uint32_t>(group_leader);
    if (hop == 0) {
      encode(at, running_[at.tensor] + at.offset, scratch);
      return;
    }
    float* sum = tensors_[at.tensor].output + at.offset;
    encode(at, sum, scratch);  // merge() overwrites what this leaves
    if (feedback_ && group_leader == config_.rank) {
      float* residual = tensors_[at.tensor].residual + at.offset;
      for (std::size_t i = 0; i < at.elements; ++i) residual[i] += sum[i];
    }
  });
  return scratch;
}

void CodedOperand::merge(const Chunk& chunk, std::span<const std::byte> lower, std::span<const std::byte> upper) {
  const Timed timed(times_.decode);
  each_piece(chunk, Stage::partial_sum, [&](const Place& at) {
    const std::span<float> sum(tensors_[at.tensor].output + at.offset, at.elements);
    config_.codec->decode(lower.subspan(at.wire_offset, at.wire_bytes), at.site, 1.0F, sum);
    config_.codec->decode_add(upper.subspan(at.wire_offset, at.wire_bytes), at.site, sum);
  });
}

std::span<const std::byte> CodedOperand::outgoing_pair(const Chunk&, std::span<const std::byte> pair) { return pair; }

void CodedOperand::accept_pair(const Chunk& chunk, std::span<const std::byte> pair) {
  const std::size_t half = pair.size() / 2;
  merge(chunk, pair.first(half), pair.subspan(half));
}

void CodedOperand::settle(const Chunk& chunk) {
  if (config_.factor == 1.0) return;
  const auto factor = static_cast<float>(config_.factor);
  for (const Piece& piece : layout_.pieces(chunk)) {
    float* values = tensors_[piece.tensor].output + piece.tensor_offset;
    for (std::size_t i = 0; i < piece.elements; ++i) values[i] *= factor;
  }
}

}  // namespace ringlet::collective
