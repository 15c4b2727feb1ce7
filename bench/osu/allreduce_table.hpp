#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "osu/samples.hpp"
#include "osu/validation.hpp"

namespace ringlet::osu {

/// One line of the table: one size under one spec.
struct AllreduceRow {
  std::size_t bytes = 0;
  std::string spec;
  std::string exchange;  ///< what the counters call it
  int ranks = 1;
  std::size_t iterations = 0;
  Latency ours;
  std::uint64_t wire_bytes = 0;  ///< sent by a rank in a call, negotiation included, mean of the ranks
  std::optional<Verdict> verdict;
  std::optional<Latency> mpi;          ///< against the fair baseline, in turns with ours
  std::optional<Latency> mpi_default;  ///< with malloc as it comes

  /// GB/s as nccl-tests define them: bytes over time, and times 2 (P-1)/P, what a link must carry at least.
  double algorithm_bandwidth() const noexcept { return static_cast<double>(bytes) / ours.average * 1e-3; }
  double bus_bandwidth() const noexcept { return algorithm_bandwidth() * 2 * (ranks - 1) / ranks; }
};

/// Title, datatype and header as OSU 7.4 prints them, our columns to the right of its.
struct AllreduceColumns {
  bool full = false;
  bool validation = false;
  bool rivals = true;
};
void print_header(const AllreduceColumns& columns);
void print_row(const AllreduceRow& row, const AllreduceColumns& columns);

/// Throws std::runtime_error when the file cannot be written.
void write_json(const std::string& path, const std::vector<AllreduceRow>& rows);

}  // namespace ringlet::osu
