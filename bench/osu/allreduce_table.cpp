#include "osu/allreduce_table.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ringlet::osu {
namespace {

// OSU's: the size to the left in 10, iterations in 12, every other column in 18.
void title(const char* text) { fmt::print("{:>18}", text); }
void value(double x) { fmt::print("{:>18.2f}", x); }

void print_rival(const std::optional<Latency>& rival, double ours) {
  if (!rival) {
    fmt::print("{:>18}{:>9}", "-", "-");
  } else {
    fmt::print("{:>18.2f}{:>9.3f}", rival->median, ours / rival->median);
  }
}

nlohmann::json rival_json(const std::optional<Latency>& rival, const char* prefix, double ours) {
  if (!rival) return nlohmann::json::object();
  const std::string name(prefix);
  return {{name + "_latency_us", rival->average},
          {name + "_median_us", rival->median},
          {name + "_min_us", rival->minimum},
          {name + "_max_us", rival->maximum},
          {name + "_ratio", ours / rival->median}};
}

nlohmann::json to_json(const AllreduceRow& row) {
  nlohmann::json json{{"size", row.bytes},
                      {"spec", row.spec},
                      {"exchange", row.exchange},
                      {"ranks", row.ranks},
                      {"iterations", row.iterations},
                      {"latency_us", row.ours.average},
                      {"median_us", row.ours.median},
                      {"min_us", row.ours.minimum},
                      {"max_us", row.ours.maximum},
                      {"algbw", row.algorithm_bandwidth()},
                      {"busbw", row.bus_bandwidth()},
                      {"wire_bytes", row.wire_bytes},
                      {"validation", row.verdict ? nlohmann::json(to_string(*row.verdict)) : nlohmann::json()}};
  json.update(rival_json(row.mpi, "mpi", row.ours.median));
  json.update(rival_json(row.mpi_default, "mpi_default", row.ours.median));
  return json;
}

}  // namespace

void print_header(const AllreduceColumns& columns) {
  fmt::print("\n# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_FLOAT.\n{:<10}", "# Size");
  title("Avg Latency(us)");
  if (columns.full) {
    title("Min Latency(us)");
    title("Max Latency(us)");
    fmt::print("{:>12}", "Iterations");
  }
  if (columns.validation) title("Validation");
  title("Median(us)");
  fmt::print("{:>10}{:>10}{:>14}", "algbw", "busbw", "wire(B)");
  if (columns.rivals) fmt::print("{:>18}{:>9}{:>18}{:>9}", "MPI fair(us)", "Ratio", "MPI default(us)", "Ratio");
  fmt::print("\n");
}

void print_row(const AllreduceRow& row, const AllreduceColumns& columns) {
  fmt::print("{:<10}", row.bytes);
  value(row.ours.average);
  if (columns.full) {
    value(row.ours.minimum);
    value(row.ours.maximum);
    fmt::print("{:>12}", row.iterations);
  }
  if (columns.validation) title(row.verdict ? to_string(*row.verdict) : "-");
  value(row.ours.median);
  fmt::print("{:>10.3f}{:>10.3f}{:>14}", row.algorithm_bandwidth(), row.bus_bandwidth(), row.wire_bytes);
  if (columns.rivals) {
    print_rival(row.mpi, row.ours.median);
    print_rival(row.mpi_default, row.ours.median);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

void write_json(const std::string& path, const std::vector<AllreduceRow>& rows) {
  auto array = nlohmann::json::array();
  for (const AllreduceRow& row : rows) array.push_back(to_json(row));
  std::ofstream file(path);
  file << array.dump(2) << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace ringlet::osu
