#pragma once

#include "base/task.hpp"
#include "collective/exchange.hpp"

namespace ringlet::collective {

/// Each rank sends part r of its values to rank r, which combines all of them in one go and sends the outcome to
/// everybody.
///
/// Steps    2, each of P-1 messages at once per chunk.  Sent per rank  2 (P-1)/P wire bytes.  Encodings  2 whatever P
///          is.
/// Order    canonical (see base/reduction.hpp's sum over ranks) for plain elements; owner first, then by rank, for
///          encoded ones.
/// Source   Rabenseifner, ICCS 2004 (reduce-scatter then all-gather), with direct exchanges as in SparCML and CGX.
Task<> scatter_reduce(const Exchange& x);

/// Partial sums travel round the ring, then the results do.
///
/// Steps    2 (P-1).  Sent per rank  2 (P-1)/P wire bytes.  Encodings  P on the longest path.
/// Order    for part r: r+1, r+2, ..., r.
/// Source   Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, JPDC 69 (2009).
Task<> ring(const Exchange& x);

/// Partial sums go down a binomial tree to rank 0, the result back up it.
///
/// Steps    2 ceil(log2 P).  Sent per rank  at most wire bytes up, and log2 P times them by rank 0.  Encodings  log2 P
///          + 1.
/// Order    canonical.
/// Source   Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, IJHPCA 19
///          (2005).
Task<> tree(const Exchange& x);

/// Partners at distance m/2, m/4, ..., 1 swap their whole running values (m: the largest power of two not above P; the
/// ranks beyond it hand theirs to a partner first and get the outcome last).
///
/// Steps    log2 P (+2).  Sent per rank  log2 P wire bytes.  Encodings  log2 P.
/// Order    canonical.
/// Source   Thakur, Rabenseifner and Gropp (2005), recursive doubling.
Task<> doubling(const Exchange& x);

/// Everybody sends everything to everybody and combines it by itself.
///
/// Steps    1.  Sent per rank  (P-1) wire bytes.  Encodings  1.  For small messages.
/// Order    canonical for plain elements, by rank for encoded ones.
Task<> all_gather(const Exchange& x);

}  // namespace ringlet::collective
