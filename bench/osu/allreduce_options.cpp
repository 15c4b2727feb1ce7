#include "osu/allreduce_options.hpp"

#include <algorithm>
#include <charconv>

namespace ringlet::osu {
namespace {

/// "65536", "64k", "64M", "1g".
std::optional<std::size_t> read_bytes(const std::string& text) {
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{}) return std::nullopt;
  const std::string unit(rest, end);
  if (unit.empty()) return value;
  if (unit == "k" || unit == "K") return value << 10;
  if (unit == "m" || unit == "M") return value << 20;
  if (unit == "g" || unit == "G") return value << 30;
  return std::nullopt;
}

void read_sizes(const std::string& text, AllreduceBenchOptions& options) {
  const auto colon = text.find(':');
  const auto smallest =
      colon == std::string::npos ? std::optional(options.smallest) : read_bytes(text.substr(0, colon));
  const auto largest = read_bytes(colon == std::string::npos ? text : text.substr(colon + 1));
  if (!smallest || !largest || *largest < *smallest) {
    throw CLI::ValidationError("-m", "\"" + text + "\": expected [MIN:]MAX in bytes, such as 4:64M");
  }
  options.smallest = std::max(*smallest, sizeof(float));
  options.largest = *largest;
}

}  // namespace

void add_options(CLI::App& app, AllreduceBenchOptions& options) {
  app.set_version_flag("-v,--version",
                       std::string("# OSU MPI Allreduce Latency Test v7.4 (format); ringlet_allreduce 0.1.0"));
  app.add_option_function<std::string>(
         "-m,--message-size", [&options](const std::string& text) { read_sizes(text, options); },
         "[MIN:]MAX bytes; sizes double; default 4:1M")
      ->type_name("[MIN:]MAX");
  app.add_option("-i,--iterations", options.iterations, "Timed calls a size; default 1000 up to 8 KiB, else 100")
      ->check(CLI::PositiveNumber);
  app.add_option("-x,--warmup", options.warmup, "Calls before them; default 100 up to 8 KiB, else 10")
      ->check(CLI::NonNegativeNumber);
  app.add_option_function<std::string>(
         "-M,--mem-limit",
         [&options](const std::string& text) {
           const auto bytes = read_bytes(text);
           if (!bytes) throw CLI::ValidationError("-M", "\"" + text + "\": expected a size such as 1G");
           options.memory_limit = *bytes;
         },
         "Most bytes of buffers a rank; larger sizes are left out; default 512M")
      ->type_name("BYTES");
  app.add_option("-T,--type", "Datatype: mpi_float")->check(CLI::IsMember({"mpi_float"}));
  app.add_flag("-c,--validation", options.validate, "Check results; the exit status is 1 if one is wrong");
  app.add_flag("-f,--full", options.full, "Print minimum, maximum and iterations");
  app.add_flag("-l,--in-place", options.in_place, "Reduce in place (MPI: MPI_IN_PLACE)");
  app.add_option("--spec", options.specs, "Compression, one table each; may be repeated; default none");
  app.add_flag("!--no-mpi", options.rivals, "Leave out plain MPI_Allreduce");
  app.add_option("--json", options.json, "File that rank 0 writes every row to");
}

}  // namespace ringlet::osu
