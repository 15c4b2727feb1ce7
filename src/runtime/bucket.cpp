#include "runtime/bucket.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/convert.hpp"
#include "base/dtype.hpp"
#include "base/reduction.hpp"
#include "collective/sparse.hpp"

namespace ringlet::runtime {

using collective::Choice;
using collective::CodecTimes;
using collective::Schedule;
using coordinator::Kind;

namespace {

std::byte* output_of(const TensorEntry& entry) {
  const Operation& op = entry.operation;
  return static_cast<std::byte*>(op.output.data != nullptr ? op.output.data : op.input.data);
}

const std::byte* input_of(const TensorEntry& entry) {
  return static_cast<const std::byte*>(entry.operation.input.data);
}

/// What an uncompressed fp32 ring sends for these tensors.
std::uint64_t dense_bytes(std::span<const collective::Extent> extents, int ranks) {
  std::uint64_t elements = 0;
  for (const auto& extent : extents) elements += extent.elements;
  const auto p = static_cast<std::uint64_t>(ranks);
  return elements * sizeof(float) * 2 * (p - 1) / p;
}

/// Schedules that combine hop by hop cannot sum small integers in 64 bits, nor round halves once; those tensors take a
/// schedule in which one place sees all contributions.
Choice exact_choice(Choice choice, const coordinator::Request& request) {
  const bool hops =
      choice.schedule == Schedule::tree || choice.schedule == Schedule::doubling || choice.schedule == Schedule::ring;
  const bool half = request.dtype == DType::float16 || request.dtype == DType::bfloat16;
  const bool integer_average = request.op == ReduceOp::average && !is_floating(request.dtype);
  if (integer_average && hops) choice.schedule = Schedule::scatter_reduce;
  if (half && hops && choice.schedule != Schedule::ring) choice.schedule = Schedule::scatter_reduce;
  return choice;
}

}  // namespace

Task<> Bucket::run(const BucketServices& s, std::span<TensorEntry* const> entries, transport::Tag tag, Alarm& alarm) {
  TensorEntry& first = *entries.front();
  switch (first.request.kind) {
    case Kind::allreduce:
      return allreduce(s, entries, tag, alarm);
    case Kind::allgather:
      return run_allgather(s, first, tag);
    case Kind::broadcast:
      return run_broadcast(s, first, tag);
    case Kind::reduce_scatter:
      return run_reduce_scatter(s, first, tag);
    case Kind::alltoall:
      return run_alltoall(s, first, tag);
    case Kind::barrier:
      return {};  // that every rank was ready is all there is to it
  }
  throw Error(ErrorCode::internal, "no such kind of collective");
}

void Bucket::measure(std::span<TensorEntry* const> entries) {
  extents_.clear();
  for (const TensorEntry* entry : entries) extents_.push_back({entry->request.shape.elements(), entry->hash});
}

Task<> Bucket::allreduce(const BucketServices& s, std::span<TensorEntry* const> entries, transport::Tag tag,
                         Alarm& alarm) {
  measure(entries);
  if (s.net.size() == 1) {
    alone(entries);
    s.book.bucket("alone", entries.size(), 0);
  } else if (entries.front()->compressor != nullptr) {
    co_await encoded(s, entries, tag, alarm);
  } else {
    co_await plain(s, entries, tag, alarm);
  }
}

void Bucket::alone(std::span<TensorEntry* const> entries) const {
  for (const TensorEntry* entry : entries) {
    const std::size_t n = entry->request.shape.elements();
    const std::size_t bytes = n * size_of(entry->request.dtype);
    if (bytes > 0 && output_of(*entry) != input_of(*entry)) std::memcpy(output_of(*entry), input_of(*entry), bytes);
    const double factor = entry->request.prescale * entry->request.postscale;
    if (factor != 1.0) scale(entry->request.dtype, output_of(*entry), n, factor);
  }
}

Task<> Bucket::plain(const BucketServices& s, std::span<TensorEntry* const> entries, transport::Tag tag, Alarm& alarm) {
  const auto started = std::chrono::steady_clock::now();
  const TensorEntry& first = *entries.front();
  const coordinator::Request& request = first.request;
  std::size_t bytes = 0;
  for (const auto& extent : extents_) bytes += extent.elements * size_of(request.dtype);
  const Choice choice = exact_choice(s.selector.pick(false, bytes, s.net.size()), request);

  const bool packed = entries.size() > 1;
  const Buffer buffer = packed ? s.pool.take(bytes) : Buffer();
  std::byte* output = packed ? buffer.bytes().data() : output_of(first);
  const std::byte* input = packed ? output : input_of(first);
  if (!packed && request.prescale != 1.0) {
    if (input != output) std::memcpy(output, input, bytes);
    scale(request.dtype, output, bytes / size_of(request.dtype), request.prescale);
    input = output;
  }
  raw_.open(extents_, choice.chunk_bytes, {request.dtype, request.op, request.postscale, s.net.size(), s.net.rank()},
            input, output);
  if (packed) {
    pack(entries, buffer.bytes());
    if (request.prescale != 1.0) scale(request.dtype, output, bytes / size_of(request.dtype), request.prescale);
  }
  const collective::Exchange exchange{s.net, raw_, s.pool, alarm, tag, choice.lanes};
  co_await collective::run(choice.schedule, exchange);
  if (packed) unpack(entries, buffer.bytes());
  s.book.bucket(fmt::format("{}/none", to_string(choice.schedule)), entries.size(),
                is_floating(request.dtype) ? dense_bytes(extents_, s.net.size()) : 0);
  s.book.times(std::chrono::steady_clock::now() - started, {}, {});
}

void Bucket::pack(std::span<TensorEntry* const> entries, std::span<std::byte> packed) const {
  const std::size_t item = size_of(entries.front()->request.dtype);
  for (const auto& chunk : raw_.layout().chunks()) {
    std::byte* to = packed.data() + chunk.offset * item;
    for (const auto& piece : raw_.layout().pieces(chunk)) {
      std::memcpy(to, input_of(*entries[piece.tensor]) + piece.tensor_offset * item, piece.elements * item);
      to += piece.elements * item;
    }
  }
}

void Bucket::unpack(std::span<TensorEntry* const> entries, std::span<const std::byte> packed) const {
  const std::size_t item = size_of(entries.front()->request.dtype);
  for (const auto& chunk : raw_.layout().chunks()) {
    const std::byte* from = packed.data() + chunk.offset * item;
    for (const auto& piece : raw_.layout().pieces(chunk)) {
      std::memcpy(output_of(*entries[piece.tensor]) + piece.tensor_offset * item, from, piece.elements * item);
      from += piece.elements * item;
    }
  }
}

void Bucket::open_coded(const BucketServices& s, std::span<TensorEntry* const> entries) {
  tensors_.clear();
  for (std::size_t t = 0; t < entries.size(); ++t) {
    const TensorEntry& entry = *entries[t];
    auto& state = s.residuals.entry(entry.request.name);
    collective::CodedTensor tensor;
    tensor.hash = entry.hash;
    tensor.step = state.step++;
    if (entry.compressor->error_feedback()) {
      tensor.residual = s.residuals.residual(state, entry.request.name, extents_[t].elements).data();
    }
    if (entry.request.dtype == DType::float32) {
      tensor.input = reinterpret_cast<const float*>(input_of(entry));
      tensor.output = reinterpret_cast<float*>(output_of(entry));
    } else {
      converted_.push_back(s.pool.take(extents_[t].elements * sizeof(float)));
      const auto values = converted_.back().as<float>();
      to_float32(entry.request.dtype, input_of(entry), values);
      tensor.input = tensor.output = values.data();
    }
    tensors_.push_back(tensor);
  }
}

void Bucket::close_coded(const BucketServices& s, std::span<TensorEntry* const> entries) {
  for (std::size_t t = 0; t < entries.size(); ++t) {
    if (entries[t]->request.dtype == DType::float32) continue;
    from_float32(entries[t]->request.dtype, {tensors_[t].output, extents_[t].elements}, output_of(*entries[t]));
  }
  converted_.clear();
  s.book.residual_bytes(s.residuals.bytes());
}

Task<> Bucket::encoded(const BucketServices& s, std::span<TensorEntry* const> entries, transport::Tag tag,
                       Alarm& alarm) {
  const auto started = std::chrono::steady_clock::now();
  const coordinator::Request& request = entries.front()->request;
  const compress::Compressor& compressor = *entries.front()->compressor;
  open_coded(s, entries);
  const int ranks = s.net.size();
  const double factor = (request.op == ReduceOp::average ? 1.0 / ranks : 1.0) * request.postscale;
  const std::uint64_t seed = s.settings.seed;
  CodecTimes times;
  std::string exchange_name = "all_gather";
  if (compressor.family() == compress::Family::sparse) {
    const auto& sparsifier = dynamic_cast<const compress::Sparsifier&>(compressor);
    const collective::SparseBucket bucket{&sparsifier, extents_, tensors_, request.prescale, factor, seed};
    co_await collective::sparse_all_gather(s.net, bucket, s.pool, tag, times);
  } else {
    std::size_t bytes = 0;
    for (const auto& extent : extents_) bytes += extent.elements * sizeof(float);
    const Choice choice = s.selector.pick(true, bytes, ranks);
    const auto& codec = dynamic_cast<const compress::Codec&>(compressor);
    coded_.open(extents_, tensors_, choice.chunk_bytes, {&codec, request.prescale, factor, seed, ranks, s.net.rank()});
    const collective::Exchange exchange{s.net, coded_, s.pool, alarm, tag, choice.lanes};
    co_await collective::run(choice.schedule, exchange);
    times = coded_.times();
    exchange_name = to_string(choice.schedule);
  }
  close_coded(s, entries);
  s.book.bucket(fmt::format("{}/{}", exchange_name, compressor.spec()), entries.size(), dense_bytes(extents_, ranks));
  s.book.times(std::chrono::steady_clock::now() - started, times.encode, times.decode);
}

}  // namespace ringlet::runtime
