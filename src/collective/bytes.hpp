#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/task.hpp"
#include "collective/exchange.hpp"

/// Collectives that move bytes and combine nothing. Each uses the tags [tag, tag + kTagsPerExchange).
namespace ringlet::collective {

/// `bytes` of rank `root` reach everybody.
/// Steps  ceil(log2 P), pipelined in chunks.  Sent by the root  log2 P times the bytes at most.  Binomial tree (Thakur
///        et al. 2005).
Task<> broadcast(Transport& net, int root, std::span<std::byte> bytes, std::size_t chunk_bytes, Tag tag);

/// Everybody's number reaches everybody: `sizes[r]` is rank r's.
Task<> gather_sizes(Transport& net, std::uint64_t mine, std::span<std::uint64_t> sizes, Tag tag);

/// `all[r]` receives rank r's bytes; all[own rank] is this rank's contribution, in place. Sizes are known to all.
/// Steps  1 of P-1 messages.  Sent per rank  (P-1) times its own bytes.
Task<> gather_bytes(Transport& net, std::span<const std::span<std::byte>> all, Tag tag);

/// `outgoing[r]` reaches rank r, whose bytes for this rank arrive in `incoming[r]`. Sizes are known to both.
/// Steps  1 of P-1 messages.
Task<> all_to_all(Transport& net, std::span<const std::span<const std::byte>> outgoing,
                  std::span<const std::span<std::byte>> incoming, Tag tag);

}  // namespace ringlet::collective
