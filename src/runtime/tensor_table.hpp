#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compress/compressor.hpp"
#include "coordinator/coordinator.hpp"
#include "runtime/handle_state.hpp"
#include "runtime/runtime.hpp"

namespace ringlet::runtime {

using coordinator::TensorId;

/// One collective between its call and its completion.
struct TensorEntry {
  Operation operation;
  coordinator::Request request;
  std::shared_ptr<const compress::Compressor> compressor;  ///< null: exact
  std::shared_ptr<HandleState> handle;
  std::chrono::steady_clock::time_point enqueued;
  std::uint64_t hash = 0;  ///< of the name
  bool planned = false;    ///< in a bucket already; the worker's
};

/// The collectives in flight, by name and by number. The callers' threads add; the worker drains, reads entries and
/// removes them.
class TensorTable {
 public:
  /// Error{invalid_argument} when the name is in flight already; what close() was given after it.
  TensorId add(TensorEntry entry);
  /// Nothing can be added any more, because of `why`.
  void close(const Error& why);
  /// Appends the numbers added since the last call, in the order of the calls.
  void drain(std::vector<TensorId>& added);
  /// Stays valid until remove().
  TensorEntry& at(TensorId id);
  /// Frees name and number; the handle is the caller's to complete.
  TensorEntry remove(TensorId id);
  /// The numbers in use.
  std::vector<TensorId> ids() const;
  std::size_t in_flight() const;

 private:
  mutable std::mutex mutex_;
  std::deque<TensorEntry> entries_;  // references survive growth
  std::vector<bool> used_;
  std::vector<TensorId> free_;
  std::vector<TensorId> added_;
  std::unordered_map<std::string, TensorId> by_name_;
  std::optional<Error> closed_;
};

}  // namespace ringlet::runtime
