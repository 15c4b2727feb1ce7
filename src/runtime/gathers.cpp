#include <fmt/format.h>

#include <array>
#include <cstring>
#include <numeric>

#include "base/reduction.hpp"
#include "collective/bytes.hpp"
#include "runtime/bucket.hpp"

namespace ringlet::runtime {
namespace {

constexpr std::size_t kBroadcastChunk = std::size_t{512} << 10;

/// Bytes of one row: everything but the first dimension. A scalar is one row.
std::size_t row_bytes(const TensorView& tensor) {
  std::size_t bytes = size_of(tensor.dtype);
  for (std::size_t d = 1; d < tensor.shape.dims(); ++d) bytes *= tensor.shape[d];
  return bytes;
}

std::size_t rows_of(const TensorView& tensor) { return tensor.shape.dims() == 0 ? 1 : tensor.shape[0]; }

/// Where a result of `rows` rows goes: the caller's output, or the handle. A caller's output of another size is
/// refused, but only after the exchange, in which the other ranks count on this one.
std::span<std::byte> result_memory(TensorEntry& entry, const std::vector<std::size_t>& rows) {
  const std::size_t total = std::accumulate(rows.begin(), rows.end(), std::size_t{0});
  const Operation& op = entry.operation;
  OwnedTensor& result = entry.handle->result;
  result.dtype = op.input.dtype;
  result.shape = op.input.shape.dims() == 0 ? Shape{total} : op.input.shape;
  result.shape[0] = total;
  result.splits = rows;
  const std::size_t bytes = total * row_bytes(op.input);
  if (op.output.data != nullptr && op.output.bytes() == bytes) return {static_cast<std::byte*>(op.output.data), bytes};
  result.memory.resize(bytes);
  return result.memory;
}

void require_output(const TensorEntry& entry, std::span<const std::byte> memory) {
  const TensorView& output = entry.operation.output;
  if (output.data == nullptr || output.data == memory.data() || memory.empty()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} \"{}\": the output holds {} bytes and the result has {}; pass no output and take() the "
                          "result from the handle",
                          to_string(entry.request.kind), entry.request.name, output.bytes(), memory.size()));
}

std::vector<std::span<std::byte>> slice(std::span<std::byte> memory, const std::vector<std::size_t>& rows,
                                        std::size_t row) {
  std::vector<std::span<std::byte>> slices;
  std::size_t begin = 0;
  for (const std::size_t count : rows) {
    slices.push_back(memory.subspan(begin, count * row));
    begin += count * row;
  }
  return slices;
}

std::span<const std::byte> input_bytes(const TensorEntry& entry) {
  return {static_cast<const std::byte*>(entry.operation.input.data), entry.operation.input.bytes()};
}

}  // namespace

Task<> run_allgather(const BucketServices& s, TensorEntry& entry, transport::Tag tag) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(s.net.size()));
  co_await collective::gather_sizes(s.net, rows_of(entry.operation.input), counts, tag);
  const std::vector<std::size_t> rows(counts.begin(), counts.end());
  const auto memory = result_memory(entry, rows);
  const auto slices = slice(memory, rows, row_bytes(entry.operation.input));
  const auto own = input_bytes(entry);
  const auto me = static_cast<std::size_t>(s.net.rank());
  if (!own.empty() && slices[me].data() != own.data()) std::memcpy(slices[me].data(), own.data(), own.size());
  co_await collective::gather_bytes(s.net, slices, tag + 1);
  require_output(entry, memory);
}

Task<> run_broadcast(const BucketServices& s, TensorEntry& entry, transport::Tag tag) {
  const Operation& op = entry.operation;
  const auto own = input_bytes(entry);
  auto* target = static_cast<std::byte*>(op.output.data != nullptr ? op.output.data : op.input.data);
  if (s.net.rank() == op.root && target != own.data() && !own.empty()) std::memcpy(target, own.data(), own.size());
  co_await collective::broadcast(s.net, op.root, {target, own.size()}, kBroadcastChunk, tag);
}

Task<> run_reduce_scatter(const BucketServices& s, TensorEntry& entry, transport::Tag tag) {
  const auto ranks = static_cast<std::size_t>(s.net.size());
  const auto me = static_cast<std::size_t>(s.net.rank());
  const coordinator::Request& request = entry.request;
  const std::size_t row = row_bytes(entry.operation.input);
  const std::size_t total = rows_of(entry.operation.input);
  std::vector<std::size_t> rows(ranks);
  for (std::size_t r = 0; r < ranks; ++r) rows[r] = total / ranks + (r < total % ranks ? 1 : 0);

  auto own = input_bytes(entry);
  Buffer scaled;
  if (request.prescale != 1.0 && !own.empty()) {
    scaled = s.pool.take(own.size());
    std::memcpy(scaled.bytes().data(), own.data(), own.size());
    scale(request.dtype, scaled.bytes().data(), own.size() / size_of(request.dtype), request.prescale);
    own = scaled.bytes();
  }
  std::vector<std::span<const std::byte>> outgoing;
  std::size_t begin = 0;
  for (const std::size_t count : rows) {
    outgoing.push_back(own.subspan(begin, count * row));
    begin += count * row;
  }
  const std::size_t part = rows[me] * row;
  const collective::Slots slots(s.pool, ranks, (part + 63) / 64 * 64);
  std::vector<std::span<std::byte>> incoming;
  for (std::size_t r = 0; r < ranks; ++r) incoming.push_back(slots.at(r, part));
  co_await collective::all_to_all(s.net, outgoing, incoming, tag);

  const auto memory = result_memory(entry, {rows[me]});
  std::vector<const void*> sources;
  for (const auto& values : incoming) sources.push_back(values.data());
  const std::size_t elements = part / size_of(request.dtype);
  if (request.op == ReduceOp::average) {
    sum_pairwise_average(request.dtype, sources, memory.data(), elements);
  } else {
    sum_pairwise(request.dtype, request.op, sources, memory.data(), elements);
  }
  if (request.postscale != 1.0) scale(request.dtype, memory.data(), elements, request.postscale);
  require_output(entry, memory);
}

Task<> run_alltoall(const BucketServices& s, TensorEntry& entry, transport::Tag tag) {
  const auto ranks = static_cast<std::size_t>(s.net.size());
  const std::size_t row = row_bytes(entry.operation.input);
  const std::vector<std::size_t>& splits = entry.operation.splits;
  std::vector<std::uint64_t> out_counts(splits.begin(), splits.end());
  std::vector<std::uint64_t> in_counts(ranks);
  std::vector<std::span<const std::byte>> outgoing;
  std::vector<std::span<std::byte>> incoming;
  for (std::size_t r = 0; r < ranks; ++r) {
    outgoing.push_back(std::as_bytes(std::span(&out_counts[r], 1)));
    incoming.push_back(std::as_writable_bytes(std::span(&in_counts[r], 1)));
  }
  co_await collective::all_to_all(s.net, outgoing, incoming, tag);

  const std::vector<std::size_t> rows(in_counts.begin(), in_counts.end());
  const auto memory = result_memory(entry, rows);
  incoming = slice(memory, rows, row);
  const auto own = input_bytes(entry);
  std::size_t begin = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    outgoing[r] = own.subspan(begin, splits[r] * row);
    begin += splits[r] * row;
  }
  co_await collective::all_to_all(s.net, outgoing, incoming, tag + 1);
  require_output(entry, memory);
}

}  // namespace ringlet::runtime
