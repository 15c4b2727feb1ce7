#include "train/report.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ringlet/error.hpp"

namespace ringlet::train {
namespace {

std::string shown_spec(const TrainOptions& options) {
  return options.compression.empty() ? "compression by rule" : options.compression;
}

std::string shown_ratio(double ratio) { return ratio == 0 ? "nothing sent" : fmt::format("ratio {:.2f}", ratio); }

nlohmann::ordered_json to_json(const EpochReport& report, const TrainOptions& options, int ranks) {
  return {{"epoch", report.epoch},
          {"accuracy", report.accuracy},
          {"loss", report.loss},
          {"ratio", report.ratio()},
          {"bytes_sent", report.bytes_sent},
          {"bytes_received", report.bytes_received},
          {"dense_bytes", report.dense_bytes},
          {"seconds", report.seconds},
          {"weights_hash", fmt::format("{:016x}", report.weights_hash)},
          {"images_per_second", report.images_per_second()},
          {"compute_seconds", report.compute_seconds},
          {"waiting_seconds", report.waiting_seconds},
          {"negotiation_seconds", report.negotiation_seconds},
          {"encode_seconds", report.encode_seconds},
          {"wire_seconds", report.wire_seconds},
          {"decode_seconds", report.decode_seconds},
          {"spec", options.compression},
          {"model", options.model},
          {"ranks", ranks}};
}

}  // namespace

std::string describe(const EpochReport& r, const TrainOptions& options) {
  return fmt::format(
      "epoch {}/{}: loss {:.4f}, test accuracy {:.2f} %, {:.0f} images/s\n"
      "  {:.2f} s = compute {:.2f} + waiting {:.2f}; worker: negotiation {:.2f}, encode {:.2f}, wire {:.2f}, decode "
      "{:.2f}\n"
      "  per rank: sent {:.3f} MB, received {:.3f} MB, dense fp32 would send {:.3f} MB: {}",
      r.epoch, options.epochs, r.loss, 100 * r.accuracy, r.images_per_second(), r.seconds, r.compute_seconds,
      r.waiting_seconds, r.negotiation_seconds, r.encode_seconds, r.wire_seconds, r.decode_seconds,
      static_cast<double>(r.bytes_sent) / 1e6, static_cast<double>(r.bytes_received) / 1e6,
      static_cast<double>(r.dense_bytes) / 1e6, shown_ratio(r.ratio()));
}

std::string summarise(std::span<const EpochReport> reports, const TrainOptions& options, int ranks) {
  EpochReport total;
  for (const EpochReport& report : reports) {
    total.seconds += report.seconds;
    total.images += report.images;
    total.bytes_sent += report.bytes_sent;
    total.dense_bytes += report.dense_bytes;
  }
  const EpochReport& last = reports.back();
  return fmt::format(
      "{}: {}, {} epoch(s), {} rank(s): test accuracy {:.2f} %, {}, {:.1f} s, {:.0f} images/s, weights {:016x} on "
      "every rank",
      shown_spec(options), options.model, reports.size(), ranks, 100 * last.accuracy, shown_ratio(total.ratio()),
      total.seconds, total.images_per_second(), last.weights_hash);
}

void write_json(std::span<const EpochReport> reports, const TrainOptions& options, int ranks) {
  auto array = nlohmann::ordered_json::array();
  for (const EpochReport& report : reports) array.push_back(to_json(report, options, ranks));
  std::ofstream file(options.json);
  file << array.dump(2) << '\n';
  file.flush();
  if (!file)
    throw Error(ErrorCode::backend,
                fmt::format("--json {}: cannot be written: {}", options.json, std::strerror(errno)));
}

}  // namespace ringlet::train
