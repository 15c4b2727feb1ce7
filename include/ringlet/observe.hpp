#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "ringlet/export.hpp"

namespace ringlet {

/// What this rank did since init(), or since the snapshot it is compared with. Bytes are payload as handed to the
/// transport, scales, indices and negotiation included; times are this rank's worker thread's, in seconds, and may
/// overlap.
struct Counters {
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t control_bytes_sent = 0;  ///< the part of bytes_sent that is negotiation
  std::uint64_t dense_bytes = 0;         ///< what an uncompressed fp32 ring would have sent for the same all-reduces
  std::uint64_t messages_sent = 0;
  std::uint64_t tensors = 0;         ///< collectives completed
  std::uint64_t buckets = 0;         ///< exchanges they were fused into
  std::uint64_t fused_tensors = 0;   ///< tensors that shared their exchange with another
  std::uint64_t cache_hits = 0;      ///< tensors negotiated by their cached number
  std::uint64_t cache_misses = 0;    ///< tensors negotiated by a full request
  std::uint64_t residual_bytes = 0;  ///< memory that error feedback holds now
  double negotiation_seconds = 0;    ///< from enqueue to plan, summed over tensors
  double encode_seconds = 0;
  double decode_seconds = 0;
  double wire_seconds = 0;                            ///< exchanges' duration less encoding and decoding
  std::map<std::string, std::uint64_t> uncompressed;  ///< reason -> tensors that a spec named but that went exact
  std::map<std::string, std::uint64_t> exchanges;     ///< "scatter_reduce/qsgd(bits=4)" -> buckets

  /// Sent bytes of a dense fp32 ring over sent bytes: above 1 is a saving. 0 when nothing was sent.
  double ratio() const noexcept {
    return bytes_sent == 0 ? 0.0 : static_cast<double>(dense_bytes) / static_cast<double>(bytes_sent);
  }
};

/// The difference `later - earlier` of two snapshots (residual_bytes is `later`'s).
RINGLET_EXPORT Counters operator-(const Counters& later, const Counters& earlier);

/// A snapshot of this rank's counters. Threads: any.
RINGLET_EXPORT Counters counters();

}  // namespace ringlet
