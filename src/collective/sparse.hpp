#pragma once

#include <cstdint>
#include <span>

#include "base/buffer_pool.hpp"
#include "base/task.hpp"
#include "collective/coded_operand.hpp"
#include "transport/transport.hpp"

namespace ringlet::collective {

/// A bucket of fp32 tensors of which each rank sends only some elements.
struct SparseBucket {
  const compress::Sparsifier* sparsifier = nullptr;
  std::span<const Extent> extents;
  std::span<const CodedTensor> tensors;  ///< `residual` holds what was not sent before, where there is error feedback
  double prescale = 1.0;
  double factor = 1.0;  ///< on the sum
  std::uint64_t seed = 0;
};

/// Everybody's selected elements reach everybody, who add them in rank order.
///
/// Wire     for each tensor a 32-bit length, then its encoding.  Steps  1.  Sent per rank  (P-1) times its own message.
/// Order    by rank, from zero.
/// Errors   malformed when a message is no encoding of these tensors.
/// Source   Renggli et al., SparCML, SC 2019 (their all-gather variant).
Task<> sparse_all_gather(transport::Transport& net, const SparseBucket& bucket, BufferPool& pool, transport::Tag tag,
                         CodecTimes& times);

}  // namespace ringlet::collective
