#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "ringlet/optimizer.hpp"

namespace ringlet::train {

/// What the command line chooses.
struct TrainOptions {
  std::string compression;  // a spec; empty: the rules of RINGLET_COMPRESSION
  std::string model = "cnn";
  std::size_t epochs = 4;
  std::size_t batch = 16;  // images a rank and step
  SgdOptions sgd{.learning_rate = 0.08};
  std::string schedule = "linear";  // ends with steps too small to leave the optimum again: final accuracies compare
  bool momentum_before = false;
  std::size_t accumulate = 1;
  std::uint64_t seed = 1;
  std::string data = "/usr/share/datasets/fashion-mnist";
  std::size_t limit = 0;  // training images; 0: all
  std::string json;       // file; empty: none
  bool quiet = false;
};

/// Declares the options on `app`, which writes them into `options` as it parses.
void add_options(CLI::App& app, TrainOptions& options);

}  // namespace ringlet::train
