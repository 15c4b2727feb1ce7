#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ringlet::osu {

/// What ringlet_allreduce was asked for; the letters are those of OSU's collective benchmarks.
struct AllreduceBenchOptions {
  std::size_t smallest = 4;  // bytes
  std::size_t largest = std::size_t{1} << 20;
  std::optional<std::size_t> iterations;  // by size when not given
  std::optional<std::size_t> warmup;
  std::size_t memory_limit = std::size_t{512} << 20;
  std::vector<std::string> specs{"none"};
  std::string json;
  bool validate = false;
  bool full = false;
  bool in_place = false;
  bool rivals = true;

  std::size_t iterations_of(std::size_t bytes) const { return iterations.value_or(is_small(bytes) ? 1000 : 100); }
  std::size_t warmup_of(std::size_t bytes) const { return warmup.value_or(is_small(bytes) ? 100 : 10); }

 private:
  static bool is_small(std::size_t bytes) { return bytes <= 8192; }
};

void add_options(CLI::App& app, AllreduceBenchOptions& options);

}  // namespace ringlet::osu
