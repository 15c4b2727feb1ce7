#include "base/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/parse_quantity.hpp"
#include "ringlet/error.hpp"

namespace ringlet {
namespace {

/// How one kind of setting is read and written.
struct Value {
  std::string values;
  std::string unit;
  std::function<void(Settings&, std::string_view)> parse;
  std::function<std::string(const Settings&)> print;
};

[[noreturn]] void refuse(std::string_view text, std::string_view expected) {
  throw Error(ErrorCode::invalid_argument, fmt::format("\"{}\": expected {}", text, expected));
}

Value text_value(std::string Settings::*field, std::string values) {
  return {std::move(values), "", [field](Settings& s, std::string_view text) { s.*field = text; },
          [field](const Settings& s) { return s.*field; }};
}

Value choice_value(std::string Settings::*field, std::vector<std::string> choices) {
  auto values = fmt::format("one of {}", fmt::join(choices, ", "));
  auto parse = [field, choices = std::move(choices), values](Settings& s, std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::find(choices.begin(), choices.end(), lower) == choices.end()) {
      refuse(text, fmt::format("{}; the nearest is {}", values, nearest(lower, choices)));
    }
    s.*field = lower;
  };
  return {values, "", std::move(parse), [field](const Settings& s) { return s.*field; }};
}

Value size_value(std::size_t Settings::*field) {
  const std::string values = "a size such as 64MiB, 64MB or 1048576";
  auto parse = [field, values](Settings& s, std::string_view text) {
    const auto size = parse_bytes(text);
    if (!size) refuse(text, values);
    s.*field = *size;
  };
  return {values, "bytes", std::move(parse), [field](const Settings& s) { return print_bytes(s.*field); }};
}

template <class Number>
Value count_value(Number Settings::*field, std::uint64_t least, std::uint64_t most) {
  const auto values = most == UINT64_MAX ? fmt::format("a whole number from {} on", least)
                                         : fmt::format("a whole number from {} to {}", least, most);
  auto parse = [=](Settings& s, std::string_view text) {
    const auto number = parse_whole(text);
    if (!number || *number < least || *number > most) refuse(text, values);
    s.*field = static_cast<Number>(*number);
  };
  return {values, "", std::move(parse), [field](const Settings& s) { return std::to_string(s.*field); }};
}

/// `unit` is that of a plain number; `zero` says what 0 does, and is empty where 0 is refused.
template <class Duration>
Value time_value(Duration Settings::*field, std::chrono::microseconds unit, std::string_view zero) {
  using Resolution = typename Duration::period;
  const bool may_be_zero = !zero.empty();
  const auto values =
      fmt::format("a time such as 20s or 500ms{}", may_be_zero ? fmt::format("; 0: {}", zero) : ", above 0");
  auto parse = [=](Settings& s, std::string_view text) {
    const auto seconds = parse_seconds(text, std::chrono::duration<double>(unit).count());
    if (!seconds || (*seconds == 0 && !may_be_zero)) refuse(text, values);
    const double counts = *seconds * static_cast<double>(Resolution::den) / static_cast<double>(Resolution::num);
    s.*field = Duration(counts > 0 && counts < 1 ? 1 : static_cast<typename Duration::rep>(std::llround(counts)));
  };
  return {values, unit == std::chrono::seconds(1) ? "s" : "ms", std::move(parse),
          [field](const Settings& s) { return print_time(s.*field); }};
}

SettingRow row(std::string name, std::string alias, std::string meaning, Value value, std::string alias_ignored = {}) {
  auto shown = value.print(Settings{});
  return {std::move(name),          std::move(alias),        std::move(shown),
          std::move(value.unit),    std::move(value.values), std::move(meaning),
          std::move(alias_ignored), std::move(value.parse),  std::move(value.print)};
}

std::vector<SettingRow> make_rows() {
  using namespace std::chrono_literals;
  using S = Settings;
  return {
      row("RINGLET_COMPRESSION", "",
          "which tensors are compressed, and how: rules by tensor name, the first that matches",
          text_value(&S::compression, "pattern=spec; pattern=spec; ... or one spec for all tensors")),
      row("RINGLET_TRANSPORT", "", "what carries the messages; auto: the best usable one, inproc: this process alone",
          text_value(&S::transport, "auto, inproc or a transport of this build")),
      row("RINGLET_EXCHANGE", "", "overrides rows of the table that picks an exchange by kind and size",
          text_value(&S::exchange, "rows such as plain 0-16k p2-8: all_gather lanes=1; encoded: ring chunk=1m")),
      row("RINGLET_FUSION_THRESHOLD", "HOROVOD_FUSION_THRESHOLD", "largest bucket of fused tensors; 0: none are fused",
          size_value(&S::fusion_threshold)),
      row("RINGLET_FUSION_COPY_LIMIT", "", "larger tensors are not copied into a bucket but travel in place",
          size_value(&S::fusion_copy_limit)),
      row("RINGLET_BUCKETS_IN_FLIGHT", "", "buckets exchanged at the same time",
          count_value(&S::buckets_in_flight, 1, 1024)),
      row("RINGLET_CACHE_CAPACITY", "HOROVOD_CACHE_CAPACITY",
          "tensors negotiated by number instead of by full request; 0: none",
          count_value(&S::cache_capacity, 0, 1U << 20)),
      row("RINGLET_CYCLE_TIME", "HOROVOD_CYCLE_TIME", "wait before planning, so that more tensors share a bucket",
          time_value(&S::cycle_time, 1ms, "plan at once")),
      row("RINGLET_TIMEOUT", "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS",
          "without progress for so long, pending collectives fail", time_value(&S::timeout, 1s, ""), "0"),
      row("RINGLET_STALL_WARNING", "HOROVOD_STALL_CHECK_TIME_SECONDS",
          "ranks that keep a tensor waiting so long are named in a warning",
          time_value(&S::stall_warning, 1s, "no warning")),
      row("RINGLET_SEED", "", "seed of all randomness in compression, the same on every rank",
          count_value(&S::seed, 0, UINT64_MAX)),
      row("RINGLET_PROGRESS", "",
          "who moves messages: a thread of ours, the program's calls, or (auto) the thread where MPI allows it",
          choice_value(&S::progress, {"auto", "thread", "call"})),
      row("RINGLET_MPI_THREAD_LEVEL", "", "thread level asked of MPI when init() is what starts it",
          choice_value(&S::mpi_thread_level, {"single", "funneled", "serialized", "multiple"})),
      row("RINGLET_LOG_LEVEL", "HOROVOD_LOG_LEVEL", "least important messages that are printed to stderr",
          choice_value(&S::log_level, {"trace", "debug", "info", "warning", "error", "fatal", "off"})),
  };
}

std::optional<std::string> variable(const std::string& name) {
  if (name.empty()) return std::nullopt;
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

void apply(const SettingRow& row, Settings& settings, const std::string& name, const std::string& value) {
  try {
    row.parse(settings, value);
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("{}={}", name, e.what()));
  }
}

void warn_unknown(std::vector<std::string>& warnings) {
  std::vector<std::string> known;
  for (const SettingRow& r : setting_rows()) known.push_back(r.name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string name(text.substr(0, text.find('=')));
    if (!name.starts_with("RINGLET_") || std::find(known.begin(), known.end(), name) != known.end()) continue;
    warnings.push_back(fmt::format("{} is not a setting of this version and is ignored; did you mean {}?", name,
                                   nearest(name, known)));
  }
}

}  // namespace

const std::vector<SettingRow>& setting_rows() {
  static const std::vector<SettingRow> rows = make_rows();
  return rows;
}

Settings settings_from_environment(std::vector<std::string>& warnings) {
  Settings settings;
  for (const SettingRow& r : setting_rows()) {
    if (const auto value = variable(r.name)) {
      apply(r, settings, r.name, *value);
    } else if (const auto horovod = variable(r.alias)) {
      if (!r.alias_ignored.empty() && *horovod == r.alias_ignored) {
        warnings.push_back(fmt::format("{}={} has no equal in ringlet and is ignored: {} stays {}", r.alias, *horovod,
                                       r.name, r.default_value));
      } else {
        apply(r, settings, r.alias, *horovod);
      }
    }
  }
  warn_unknown(warnings);
  return settings;
}

}  // namespace ringlet
