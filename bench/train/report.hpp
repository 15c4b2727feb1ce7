#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "train/options.hpp"

namespace ringlet::train {

/// What one epoch came to. Times are seconds of the training loop, bytes what it moved; evaluation is in neither. Both
/// are a rank's, on average over the ranks; the last four times are the library's worker's and overlap with each other
/// and with the rest.
struct EpochReport {
  std::size_t epoch = 0;   ///< from 1
  double loss = 0;         ///< mean over the training images, each before its step
  double accuracy = 0;     ///< fraction of the test images, after the epoch
  std::size_t images = 0;  ///< of all ranks
  double seconds = 0;
  double compute_seconds = 0;  ///< forward, backward, handing gradients over
  double waiting_seconds = 0;  ///< in step(): what computing did not hide, and the update
  double negotiation_seconds = 0;
  double encode_seconds = 0;
  double wire_seconds = 0;
  double decode_seconds = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t dense_bytes = 0;
  std::uint64_t weights_hash = 0;

  double images_per_second() const noexcept { return seconds > 0 ? static_cast<double>(images) / seconds : 0.0; }
  /// Bytes of a dense fp32 ring over bytes sent, everything counted; 0 when nothing was sent.
  double ratio() const noexcept {
    return bytes_sent == 0 ? 0.0 : static_cast<double>(dense_bytes) / static_cast<double>(bytes_sent);
  }
};

/// Three lines for one epoch.
std::string describe(const EpochReport& report, const TrainOptions& options);
/// One line for the run.
std::string summarise(std::span<const EpochReport> reports, const TrainOptions& options, int ranks);
/// (Over)writes options.json with one object an epoch. Error{backend} when that fails.
void write_json(std::span<const EpochReport> reports, const TrainOptions& options, int ranks);

}  // namespace ringlet::train
