// ringlet-info: what this build is, what it found on this machine, what may be set and what compressors there are.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "compress/registry.hpp"
#include "tools/info/build_info.hpp"
#include "tools/info/settings_page.hpp"

namespace {

using nlohmann::ordered_json;

constexpr const char* kUsage =
    "usage: ringlet-info [--settings [--markdown] | --compressors] [--json]\n"
    "  (nothing)      version, compiler, transports, cores, SIMD level\n"
    "  --settings     every environment variable, its default and its value now\n"
    "  --markdown     the table of docs/guide/settings.md\n"
    "  --compressors  every compressor a spec may name\n"
    "  --json         the same as JSON\n";

struct Arguments {
  bool settings = false, markdown = false, compressors = false, json = false, help = false;
  std::string wrong;
};

Arguments parse(const std::vector<std::string_view>& words) {
  Arguments a;
  for (const auto word : words) {
    if (word == "--settings")
      a.settings = true;
    else if (word == "--markdown")
      a.markdown = true;
    else if (word == "--compressors")
      a.compressors = true;
    else if (word == "--json")
      a.json = true;
    else if (word == "--help" || word == "-h")
      a.help = true;
    else
      a.wrong = fmt::format("{} is no option", word);
  }
  if (a.settings && a.compressors) a.wrong = "--settings and --compressors exclude each other";
  if (a.markdown && (!a.settings || a.json)) a.wrong = "--markdown is a form of --settings";
  return a;
}

std::string settings_json() {
  std::vector<std::string> warnings;
  const auto settings = ringlet::settings_from_environment(warnings);
  auto rows = ordered_json::array();
  for (const auto& row : ringlet::setting_rows()) {
    rows.push_back({{"name", row.name},
                    {"alias", row.alias},
                    {"default", row.default_value},
                    {"value", row.print(settings)},
                    {"unit", row.unit},
                    {"accepts", row.values},
                    {"meaning", row.meaning}});
  }
  return ordered_json{{"settings", rows}, {"warnings", warnings}}.dump(2) + "\n";
}

std::string compressors_text() {
  std::string text;
  const ringlet::compress::Registry registry;
  for (const auto& method : registry.methods()) {
    text += fmt::format("{}: {}\n", method.name, to_string(method.family));
    if (!method.parameters.empty()) text += fmt::format("    {}\n", method.parameters);
    if (!method.source.empty()) text += fmt::format("    {}\n", method.source);
  }
  return text;
}

std::string compressors_json() {
  auto methods = ordered_json::array();
  const ringlet::compress::Registry registry;
  for (const auto& method : registry.methods()) {
    methods.push_back({{"name", method.name},
                       {"family", to_string(method.family)},
                       {"parameters", method.parameters},
                       {"source", method.source}});
  }
  return ordered_json{{"compressors", methods}}.dump(2) + "\n";
}

std::string build_text() {
  const auto info = ringlet::info::build_info();
  std::string text = fmt::format(
      "ringlet {}\nbuild       {}, {}{}\ncores       {}\nsimd        {}\n", info.version, info.compiler,
      info.build_type, info.sanitizers.empty() ? "" : ", sanitizers: " + info.sanitizers, info.cores, info.simd);
  for (const auto& b : info.back_ends) {
    text +=
        fmt::format("{:<12}{}{}\n", b.name, b.found, b.compiled && !b.usable ? " (not usable in this process)" : "");
  }
  return text;
}

std::string build_json() {
  const auto info = ringlet::info::build_info();
  auto back_ends = ordered_json::array();
  for (const auto& b : info.back_ends) {
    back_ends.push_back({{"name", b.name}, {"compiled", b.compiled}, {"usable", b.usable}, {"found", b.found}});
  }
  return ordered_json{{"version", info.version},       {"compiler", info.compiler}, {"build_type", info.build_type},
                      {"sanitizers", info.sanitizers}, {"cores", info.cores},       {"simd", info.simd},
                      {"back_ends", back_ends}}
             .dump(2) +
         "\n";
}

std::string answer(const Arguments& a) {
  if (a.help) return kUsage;
  if (a.settings)
    return a.markdown ? ringlet::info::settings_markdown() : a.json ? settings_json() : ringlet::info::settings_text();
  if (a.compressors) return a.json ? compressors_json() : compressors_text();
  return a.json ? build_json() : build_text();
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse({argv + 1, argv + argc});
  if (!arguments.wrong.empty()) {
    fmt::print(stderr, "ringlet-info: {}\n{}", arguments.wrong, kUsage);
    return 2;
  }
  try {
    fmt::print("{}", answer(arguments));
  } catch (const std::exception& e) {
    fmt::print(stderr, "ringlet-info: {}\n", e.what());
    return 1;
  }
  return 0;
}
