#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet {

/// Everything a user may set, typed and with its default. Tests fill one in by hand; programs get it from the environment.
struct Settings {
  std::string compression;                             // RINGLET_COMPRESSION: rules by tensor name
  std::string transport = "auto";                      // RINGLET_TRANSPORT
  std::string exchange;                                // RINGLET_EXCHANGE: overrides of the selection table
  std::size_t fusion_threshold = std::size_t{64} << 20;  // RINGLET_FUSION_THRESHOLD, bytes
  std::size_t fusion_copy_limit = std::size_t{1} << 18;  // RINGLET_FUSION_COPY_LIMIT, bytes: larger tensors travel in place
  std::size_t buckets_in_flight = 4;                   // RINGLET_BUCKETS_IN_FLIGHT
  std::size_t cache_capacity = 16384;                  // RINGLET_CACHE_CAPACITY, tensors
  std::chrono::microseconds cycle_time{0};             // RINGLET_CYCLE_TIME, ms: wait so long to batch more; 0: plan at once
  std::chrono::milliseconds timeout{60000};            // RINGLET_TIMEOUT, s
  std::chrono::milliseconds stall_warning{20000};      // RINGLET_STALL_WARNING, s; 0: none
  std::uint64_t seed = 0;                              // RINGLET_SEED
  std::string progress = "auto";                       // RINGLET_PROGRESS: auto | thread | call
  std::string mpi_thread_level = "multiple";           // RINGLET_MPI_THREAD_LEVEL, when init() starts MPI
  std::string log_level = "warning";                   // RINGLET_LOG_LEVEL
};

/// One row of the table that docs/guide/settings.md and `ringlet-info --settings` print.
struct SettingRow {
  std::string name;           // RINGLET_...
  std::string alias;          // HOROVOD_... of the same meaning, or empty
  std::string default_value;
  std::string unit;           // "bytes", "s", "ms", ... or empty
  std::string meaning;
  std::function<void(Settings&, std::string_view)> parse;  // throws Error{invalid_argument}
  std::function<std::string(const Settings&)> print;
};

const std::vector<SettingRow>& setting_rows();

/// Reads the environment. Unknown RINGLET_* names and values that do not parse are Error{invalid_argument} or warnings as the guide
/// says: a bad value is an error that names variable, value and what was expected; an unknown name is a warning, appended to `warnings`,
/// with the nearest known one.
Settings settings_from_environment(std::vector<std::string>& warnings);

/// The entry of `known` with the smallest edit distance to `word`: what an error message suggests.
std::string nearest(std::string_view word, std::span<const std::string> known);

}  // namespace ringlet
