#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ringlet/handle.hpp"
#include "ringlet/tensor.hpp"

/// The collectives. Every `x_async` returns at once; `x` is `x_async(...).wait()`.
///
/// Names    A tensor is known by its name, the same on every rank; one name may be in flight once. Without a name the
///          n-th unnamed call of a kind on one rank meets the n-th on the others, and is never compressed by rule.
///          Ranks may enqueue in any order.
/// Memory   belongs to the call until its handle completes. Views must be contiguous. Zero elements are legal
///          everywhere.
/// Errors   Error{invalid_argument} is thrown for what this rank alone can see (null data, a name in flight, an op the
///          dtype has not); what only the ranks together can see (mismatch, lost peer, timeout) comes out of the
///          Handle, with one text on every rank.
/// Threads  any; calls may overlap.
namespace ringlet {

/// How elements combine. `average` divides the sum by the number of ranks (integers: towards zero, summed in 64 bits).
enum class ReduceOp : std::uint8_t { average, sum, min, max, product };
RINGLET_EXPORT const char* to_string(ReduceOp op) noexcept;

struct AllreduceOptions {
  std::string name = {};
  ReduceOp op = ReduceOp::average;
  double prescale = 1.0;   ///< factor on every rank's input (floating dtypes only)
  double postscale = 1.0;  ///< factor on the result (floating dtypes only)
  std::string compression =
      {};                  ///< a spec such as "qsgd(bits=4)"; empty: the rules of RINGLET_COMPRESSION decide by name
  TensorView output = {};  ///< where the result goes; no data: in place
  int process_set = 0;     ///< 0: every rank
};

/// All-reduces `tensor`: shape, dtype and options equal on every rank; the same bits come out on every rank.
///
/// Cost     2 (P-1)/P bytes sent per byte of tensor and rank uncompressed; compressed as docs/guide/wire-format.md
///          says. Only floating tensors of at least 1,024 elements under average or sum are compressed; what was not,
///          and why, is counted.
/// Source   Rabenseifner, Optimization of collective reduction operations, ICCS 2004; Thakur et al., IJHPCA 19 (2005).
RINGLET_EXPORT Handle allreduce_async(TensorView tensor, const AllreduceOptions& options = {});
RINGLET_EXPORT void allreduce(TensorView tensor, const AllreduceOptions& options = {});

struct AllgatherOptions {
  std::string name = {};
  TensorView output = {};  ///< must hold exactly the result; no data: Handle::take() gives it
  int process_set = 0;
};

/// Concatenates the ranks' tensors along the first dimension, which may differ by rank; the other dimensions and the
/// dtype may not.
RINGLET_EXPORT Handle allgather_async(TensorView tensor, const AllgatherOptions& options = {});
RINGLET_EXPORT OwnedTensor allgather(TensorView tensor, const AllgatherOptions& options = {});

struct BroadcastOptions {
  std::string name = {};
  int root = 0;
  TensorView output = {};  ///< no data: in place
  int process_set = 0;
};

/// Copies the root's tensor to every rank. In place the root's memory may be read-only.
RINGLET_EXPORT Handle broadcast_async(TensorView tensor, const BroadcastOptions& options = {});
RINGLET_EXPORT void broadcast(TensorView tensor, const BroadcastOptions& options = {});

struct ReduceScatterOptions {
  std::string name = {};
  ReduceOp op = ReduceOp::average;
  double prescale = 1.0;
  double postscale = 1.0;
  TensorView output = {};  ///< must hold exactly this rank's rows; no data: Handle::take() gives them
  int process_set = 0;
};

/// Reduces, and leaves each rank its share of the rows (first dimension): n/P rows each, the first n mod P ranks one
/// more.
RINGLET_EXPORT Handle reduce_scatter_async(TensorView tensor, const ReduceScatterOptions& options = {});
RINGLET_EXPORT OwnedTensor reduce_scatter(TensorView tensor, const ReduceScatterOptions& options = {});

struct AlltoallOptions {
  std::string name = {};
  std::vector<std::size_t> splits =
      {};                  ///< rows for each rank, in rank order; empty: the first dimension in equal parts
  TensorView output = {};  ///< must hold exactly what arrives; no data: Handle::take() gives it, with its splits
  int process_set = 0;
};

/// Sends `splits[r]` rows to rank r and receives the rows the others have for this rank, in rank order.
RINGLET_EXPORT Handle alltoall_async(TensorView tensor, const AlltoallOptions& options = {});
RINGLET_EXPORT OwnedTensor alltoall(TensorView tensor, const AlltoallOptions& options = {});

struct BarrierOptions {
  std::string name = {};
  int process_set = 0;
};

/// Completes when every rank has called it.
RINGLET_EXPORT Handle barrier_async(const BarrierOptions& options = {});
RINGLET_EXPORT void barrier(const BarrierOptions& options = {});

}  // namespace ringlet
