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

/// Everything a user may set, typed and with its default. Tests fill one in by hand; programs get it from the
/// environment.
struct Settings {
  std::string compression;                               // RINGLET_COMPRESSION: rules by tensor name
  std::string transport = "auto";                        // RINGLET_TRANSPORT
  std::string exchange;                                  // RINGLET_EXCHANGE: overrides of the selection table
  std::size_t fusion_threshold = std::size_t{64} << 20;  // RINGLET_FUSION_THRESHOLD, bytes
  std::size_t fusion_copy_limit = std::size_t{1}
                                  << 18;     // RINGLET_FUSION_COPY_LIMIT, bytes: larger tensors travel in place
  std::size_t buckets_in_flight = 2;         // RINGLET_BUCKETS_IN_FLIGHT
  std::size_t cache_capacity = 16384;        // RINGLET_CACHE_CAPACITY, tensors
  std::chrono::microseconds cycle_time{0};   // RINGLET_CYCLE_TIME, ms: wait so long to batch more; 0: plan at once
  std::chrono::milliseconds timeout{60000};  // RINGLET_TIMEOUT, s
  std::chrono::milliseconds stall_warning{20000};  // RINGLET_STALL_WARNING, s; 0: none
  std::uint64_t seed = 0;                          // RINGLET_SEED
  std::string progress = "auto";                   // RINGLET_PROGRESS: auto | thread | call
  std::string mpi_thread_level = "multiple";       // RINGLET_MPI_THREAD_LEVEL, when init() starts MPI
  std::string log_level = "warning";               // RINGLET_LOG_LEVEL
};

/// One row of the table that docs/guide/settings.md and `ringlet-info --settings` print.
struct SettingRow {
  std::string name;   // RINGLET_...
  std::string alias;  // HOROVOD_... of the same meaning, or empty
  std::string default_value;
  std::string unit;    // of a plain number: "bytes", "s", "ms", ... or empty
  std::string values;  // what is accepted, as the guide and errors say it
  std::string meaning;
  std::string alias_ignored;  // the alias' value that means something Ringlet does not do: skipped with a warning
  std::function<void(Settings&, std::string_view)>
      parse;  // throws Error{invalid_argument}; the text leaves the name to the caller
  std::function<std::string(const Settings&)> print;
};

const std::vector<SettingRow>& setting_rows();

/// Reads the environment; RINGLET_X wins over its HOROVOD_ alias, and an empty value counts as unset. A value that does
/// not parse is Error{invalid_argument} naming variable, value and what was expected; an unknown RINGLET_* name is a
/// warning with the nearest known one, appended to `warnings`.
Settings settings_from_environment(std::vector<std::string>& warnings);

/// The entry of `known` with the smallest edit distance to `word`: what an error message suggests.
std::string nearest(std::string_view word, std::span<const std::string> known);

}  // namespace ringlet
