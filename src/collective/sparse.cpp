#include "collective/sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "collective/exchange.hpp"
#include "collective/timed.hpp"

namespace ringlet::collective {
namespace {

constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);

std::size_t largest_message(const SparseBucket& bucket) {
  std::size_t bytes = 0;
  for (const Extent& extent : bucket.extents)
    bytes += kLengthBytes + bucket.sparsifier->max_wire_bytes(extent.elements);
  return bytes;
}

compress::Site site_of(const SparseBucket& bucket, std::size_t t, int rank, int ranks) {
  compress::Site site;
  site.seed = bucket.seed;
  site.tensor = bucket.tensors[t].hash;
  site.step = bucket.tensors[t].step;
  site.rank = static_cast<std::uint32_t>(rank);
  site.ranks = ranks;
  return site;
}

/// Selects from every tensor (what error feedback kept comes in first) and writes this rank's message; returns its
/// bytes.
std::size_t encode_all(const SparseBucket& bucket, int rank, int ranks, std::span<std::byte> message) {
  std::size_t used = 0;
  const auto prescale = static_cast<float>(bucket.prescale);
  for (std::size_t t = 0; t < bucket.tensors.size(); ++t) {
    const CodedTensor& tensor = bucket.tensors[t];
    const std::size_t n = bucket.extents[t].elements;
    float* values = tensor.residual != nullptr ? tensor.residual : tensor.output;
    if (tensor.residual != nullptr) {
      for (std::size_t i = 0; i < n; ++i) values[i] += prescale * tensor.input[i];
    } else {
      for (std::size_t i = 0; i < n; ++i) values[i] = prescale * tensor.input[i];
    }
    const auto room = message.subspan(used + kLengthBytes, bucket.sparsifier->max_wire_bytes(n));
    const auto length =
        static_cast<std::uint32_t>(bucket.sparsifier->encode({values, n}, site_of(bucket, t, rank, ranks), room));
    std::memcpy(message.data() + used, &length, kLengthBytes);
    used += kLengthBytes + length;
  }
  return used;
}

/// Adds one rank's message to the outputs.
void decode_all(const SparseBucket& bucket, int from, int ranks, std::span<const std::byte> message) {
  for (std::size_t t = 0; t < bucket.tensors.size(); ++t) {
    std::uint32_t length = 0;
    if (message.size() >= kLengthBytes) std::memcpy(&length, message.data(), kLengthBytes);
    if (message.size() < kLengthBytes || message.size() - kLengthBytes < length) {
      throw Error(ErrorCode::malformed, fmt::format("a sparse message from rank {} ends within tensor {} of {}", from,
                                                    t + 1, bucket.tensors.size()));
    }
    bucket.sparsifier->decode_add(message.subspan(kLengthBytes, length), site_of(bucket, t, from, ranks),
                                  {bucket.tensors[t].output, bucket.extents[t].elements});
    message = message.subspan(kLengthBytes + length);
  }
}

}  // namespace

Task<> sparse_all_gather(transport::Transport& net, const SparseBucket& bucket, BufferPool& pool, transport::Tag tag,
                         CodecTimes& times) {
  const auto ranks = static_cast<std::size_t>(net.size());
  const auto me = static_cast<std::size_t>(net.rank());
  const std::size_t room = (largest_message(bucket) + 63) / 64 * 64;
  const Slots slots(pool, ranks, room);
  Transfers sends(ranks), receives(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r != me) receives.recv(r, net, static_cast<int>(r), tag, slots.at(r, room));
  }
  std::vector<std::span<const std::byte>> messages(ranks);
  {
    const Timed timed(times.encode);
    messages[me] = slots.at(me, room).first(encode_all(bucket, net.rank(), net.size(), slots.at(me, room)));
  }
  for (std::size_t i = 1; i < ranks; ++i) {
    const std::size_t to = (me + i) % ranks;
    sends.send(to, net, static_cast<int>(to), tag, messages[me]);
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r != me) messages[r] = slots.at(r, room).first(co_await receives.take(r));
  }
  co_await sends.take_all();

  const Timed timed(times.decode);
  for (std::size_t t = 0; t < bucket.tensors.size(); ++t)
    std::fill_n(bucket.tensors[t].output, bucket.extents[t].elements, 0.0F);
  for (std::size_t r = 0; r < ranks; ++r) decode_all(bucket, static_cast<int>(r), net.size(), messages[r]);
  if (bucket.factor == 1.0) co_return;
  const auto factor = static_cast<float>(bucket.factor);
  for (std::size_t t = 0; t < bucket.tensors.size(); ++t) {
    for (std::size_t i = 0; i < bucket.extents[t].elements; ++i) bucket.tensors[t].output[i] *= factor;
  }
}

}  // namespace ringlet::collective
