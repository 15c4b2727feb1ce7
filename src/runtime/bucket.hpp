#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/buffer_pool.hpp"
#include "base/settings.hpp"
#include "base/task.hpp"
#include "collective/coded_operand.hpp"
#include "collective/raw_operand.hpp"
#include "collective/selector.hpp"
#include "compress/residual_store.hpp"
#include "observe/counters.hpp"
#include "runtime/tensor_table.hpp"
#include "transport/transport.hpp"

namespace ringlet::runtime {

/// What every bucket needs of its runtime. All of it belongs to the worker thread.
struct BucketServices {
  transport::Transport& net;
  BufferPool& pool;
  compress::ResidualStore& residuals;
  observe::CounterBook& book;
  const collective::Selector& selector;
  const Settings& settings;
};

/// Tensors exchanged together: opens them (packs what is small, leaves what is large in place), runs the exchange, and
/// puts the results where they belong. Kept and reused by the executor, so that its memory is.
class Bucket {
 public:
  /// Exchanges `entries`, which stay valid until the task ends. `tag`: the first of collective::kTagsPerExchange.
  Task<> run(const BucketServices& services, std::span<TensorEntry* const> entries, transport::Tag tag, Alarm& alarm);

 private:
  Task<> allreduce(const BucketServices& s, std::span<TensorEntry* const> entries, transport::Tag tag, Alarm& alarm);
  Task<> plain(const BucketServices& s, std::span<TensorEntry* const> entries, transport::Tag tag, Alarm& alarm);
  Task<> encoded(const BucketServices& s, std::span<TensorEntry* const> entries, transport::Tag tag, Alarm& alarm);
  void alone(std::span<TensorEntry* const> entries) const;
  void measure(std::span<TensorEntry* const> entries);
  void pack(std::span<TensorEntry* const> entries, std::span<std::byte> packed) const;
  void unpack(std::span<TensorEntry* const> entries, std::span<const std::byte> packed) const;
  void open_coded(const BucketServices& s, std::span<TensorEntry* const> entries);
  void close_coded(const BucketServices& s, std::span<TensorEntry* const> entries);

  collective::RawOperand raw_;
  collective::CodedOperand coded_;
  std::vector<collective::Extent> extents_;
  std::vector<collective::CodedTensor> tensors_;
  std::vector<Buffer> converted_;  // fp32 stand-ins for tensors of other dtypes
};

/// The collectives that are no all-reduce, one tensor each.
Task<> run_allgather(const BucketServices& s, TensorEntry& entry, transport::Tag tag);
Task<> run_broadcast(const BucketServices& s, TensorEntry& entry, transport::Tag tag);
Task<> run_reduce_scatter(const BucketServices& s, TensorEntry& entry, transport::Tag tag);
Task<> run_alltoall(const BucketServices& s, TensorEntry& entry, transport::Tag tag);

}  // namespace ringlet::runtime
