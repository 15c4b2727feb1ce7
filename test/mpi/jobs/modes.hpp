#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>

#include "ringlet/hvd.hpp"

/// Programs in one: each mode is a job that goes wrong in its way, or must not. What the ranks say is judged by
/// expect.py, which the ctest entries wrap around mpirun; a mode's own checks throw.
namespace ringlet::test {

struct Mode {
  const char* name;
  int (*run)();  ///< gives the exit status
};

std::span<const Mode> lost_rank_modes();
std::span<const Mode> disagreement_modes();
std::span<const Mode> setting_modes();
std::span<const Mode> own_mpi_modes();

constexpr int kCulprit = 1;

/// "rank 2 heard: text", in one piece.
inline void hear(int rank, const std::string& text) {
  const std::string line = fmt::format("rank {} heard: {}\n", rank, text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

inline void expect(bool good, const std::string& what) {
  if (!good) throw std::runtime_error("not as expected: " + what);
}

/// The text of the hvd::Error that `call` must throw.
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const hvd::Error& e) {
    return e.what();
  }
  throw std::runtime_error("not as expected: no error");
}

/// One exact all-reduce and its check: the job works.
inline void expect_a_working_job(const std::string& name = "works") {
  std::vector<float> values(300, static_cast<float>(hvd::rank() + 1));
  hvd::allreduce(values, {.name = name, .op = hvd::ReduceOp::sum});
  const int p = hvd::size();
  for (const float v : values) expect(v == static_cast<float>(p * (p + 1) / 2), fmt::format("a sum of {}", v));
}

}  // namespace ringlet::test
