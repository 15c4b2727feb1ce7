#include "observe/counters.hpp"

#include <algorithm>
#include <string>

namespace ringlet {
namespace {

using Times = std::map<std::string, std::uint64_t>;

/// later - earlier, without what did not change.
Times difference(const Times& later, const Times& earlier) {
  Times result;
  for (const auto& [key, count] : later) {
    const auto before = earlier.find(key);
    const std::uint64_t change = before == earlier.end() ? count : count - before->second;
    if (change != 0) result.emplace(key, change);
  }
  return result;
}

}  // namespace

Counters operator-(const Counters& later, const Counters& earlier) {
  Counters d;
  d.bytes_sent = later.bytes_sent - earlier.bytes_sent;
  d.bytes_received = later.bytes_received - earlier.bytes_received;
  d.control_bytes_sent = later.control_bytes_sent - earlier.control_bytes_sent;
  d.dense_bytes = later.dense_bytes - earlier.dense_bytes;
  d.messages_sent = later.messages_sent - earlier.messages_sent;
  d.tensors = later.tensors - earlier.tensors;
  d.buckets = later.buckets - earlier.buckets;
  d.fused_tensors = later.fused_tensors - earlier.fused_tensors;
  d.cache_hits = later.cache_hits - earlier.cache_hits;
  d.cache_misses = later.cache_misses - earlier.cache_misses;
  d.residual_bytes = later.residual_bytes;
  d.negotiation_seconds = later.negotiation_seconds - earlier.negotiation_seconds;
  d.encode_seconds = later.encode_seconds - earlier.encode_seconds;
  d.decode_seconds = later.decode_seconds - earlier.decode_seconds;
  d.wire_seconds = later.wire_seconds - earlier.wire_seconds;
  d.uncompressed = difference(later.uncompressed, earlier.uncompressed);
  d.exchanges = difference(later.exchanges, earlier.exchanges);
  return d;
}

namespace observe {
namespace {

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

/// Adds one without making a string once the key is known: the steady state allocates nothing.
void count(Times& times, std::string_view key) {
  const auto found = std::find_if(times.begin(), times.end(), [&](const auto& entry) { return entry.first == key; });
  if (found != times.end()) {
    ++found->second;
  } else {
    times.emplace(key, 1);
  }
}

}  // namespace

void CounterBook::bucket(std::string_view exchange, std::uint64_t tensors, std::uint64_t dense_bytes) {
  const std::lock_guard lock(mutex_);
  ++counters_.buckets;
  counters_.tensors += tensors;
  if (tensors > 1) counters_.fused_tensors += tensors;
  counters_.dense_bytes += dense_bytes;
  count(counters_.exchanges, exchange);
}

void CounterBook::uncompressed(std::string_view reason) {
  const std::lock_guard lock(mutex_);
  count(counters_.uncompressed, reason);
}

void CounterBook::negotiated(std::chrono::nanoseconds time) {
  const std::lock_guard lock(mutex_);
  counters_.negotiation_seconds += seconds(time);
}

void CounterBook::times(std::chrono::nanoseconds total, std::chrono::nanoseconds encode,
                        std::chrono::nanoseconds decode) {
  const std::lock_guard lock(mutex_);
  counters_.encode_seconds += seconds(encode);
  counters_.decode_seconds += seconds(decode);
  counters_.wire_seconds += seconds(std::max(total - encode - decode, std::chrono::nanoseconds(0)));
}

void CounterBook::residual_bytes(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  counters_.residual_bytes = bytes;
}

void CounterBook::cache(std::uint64_t hits, std::uint64_t misses) {
  const std::lock_guard lock(mutex_);
  counters_.cache_hits = hits;
  counters_.cache_misses = misses;
}

Counters CounterBook::snapshot() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace observe
}  // namespace ringlet
