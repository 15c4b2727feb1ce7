// ringlet-train: data-parallel training of a small network on Fashion-MNIST, to see what a compression does to
// accuracy, bytes and time.
//
//     mpirun -np 4 ringlet-train --compression "qsgd(bits=4)"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <vector>

#include "ringlet/error.hpp"
#include "ringlet/runtime.hpp"
#include "train/dataset.hpp"
#include "train/options.hpp"
#include "train/progress_bar.hpp"
#include "train/report.hpp"
#include "train/trainer.hpp"

namespace {

using namespace ringlet::train;

/// The options, or none when help was asked for and given.
std::optional<TrainOptions> parse(int argc, char** argv) {
  TrainOptions options;
  CLI::App app("Data-parallel training on Fashion-MNIST with compressed gradients");
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    if (ringlet::rank() == 0) fmt::print("{}", app.help());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw ringlet::Error(ringlet::ErrorCode::invalid_argument, fmt::format("{} (try --help)", error.what()));
  }
  return options;
}

void train(const TrainOptions& options) {
  const bool first = ringlet::rank() == 0;
  std::vector<EpochReport> reports;
  if (first && !options.json.empty())
    write_json(reports, options, ringlet::size());  // a bad path is known now, not after training
  const Dataset dataset(options.data, options.limit);
  Trainer trainer(options, dataset);
  ProgressBar progress(first && !options.quiet);
  for (std::size_t epoch = 1; epoch <= options.epochs; ++epoch) {
    reports.push_back(trainer.run_epoch(epoch, progress));
    if (!first) continue;
    if (!options.quiet) fmt::print("{}\n", describe(reports.back(), options));
    std::fflush(stdout);
    if (!options.json.empty()) write_json(reports, options, ringlet::size());
  }
  if (first) fmt::print("{}\n", summarise(reports, options, ringlet::size()));
}

/// The cause first, here and on the other ranks.
void report_failure(const std::exception& error) {
  fmt::print(stderr, "rank {}: {}\n", ringlet::rank(), error.what());
  std::fflush(stderr);
  const auto* known = dynamic_cast<const ringlet::Error*>(&error);
  if (known != nullptr && known->code() == ringlet::ErrorCode::peer_lost) return;  // they know
  ringlet::abort(error.what());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    ringlet::init();
  } catch (const std::exception& error) {
    fmt::print(stderr, "ringlet-train: {}\n", error.what());
    return 1;
  }
  int status = 0;
  try {
    if (const auto options = parse(argc, argv)) train(*options);
  } catch (const std::exception& error) {
    status = 1;
    report_failure(error);
  }
  ringlet::shutdown();
  return status;
}
