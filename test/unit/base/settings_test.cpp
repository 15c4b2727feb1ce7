#include "base/settings.hpp"

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "ringlet/error.hpp"
#include "support/catch.hpp"

using namespace ringlet;
using namespace std::chrono_literals;

namespace {

/// Sets variables of the environment for its own life.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& variables) {
    for (const auto& [name, value] : variables) {
      ::setenv(name.c_str(), value.c_str(), 1);
      names_.push_back(name);
    }
  }
  ~Environment() {
    for (const auto& name : names_) ::unsetenv(name.c_str());
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::vector<std::string> names_;
};

struct Read {
  Settings settings;
  std::vector<std::string> warnings;
  std::string error;
};

Read read_environment(const std::map<std::string, std::string>& variables) {
  const Environment environment(variables);
  Read read;
  try {
    read.settings = settings_from_environment(read.warnings);
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::invalid_argument);
    read.error = e.what();
  }
  return read;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("every row prints its default, and parses it back to the same") {
  for (const SettingRow& row : setting_rows()) {
    CAPTURE(row.name);
    CHECK(row.name.starts_with("RINGLET_"));
    CHECK((row.alias.empty() || row.alias.starts_with("HOROVOD_")));
    CHECK_FALSE(row.meaning.empty());
    CHECK_FALSE(row.values.empty());
    CHECK(row.default_value == row.print(Settings{}));
    if (row.default_value.empty()) continue;  // text: empty is unset
    Settings settings;
    row.parse(settings, row.default_value);
    CHECK(row.print(settings) == row.default_value);
  }
}

TEST_CASE("every row but free text refuses garbage, and names variable, value and expectation") {
  for (const SettingRow& row : setting_rows()) {
    CAPTURE(row.name);
    const auto read = read_environment({{row.name, "gar bage"}});
    if (row.name == "RINGLET_COMPRESSION" || row.name == "RINGLET_TRANSPORT" || row.name == "RINGLET_EXCHANGE") {
      CHECK(row.print(read.settings) == "gar bage");  // whoever knows the compressors or transports refuses it
      continue;
    }
    CHECK(contains(read.error, row.name + "=\"gar bage\": expected " + row.values));
  }
}

TEST_CASE("values take the units people write") {
  const auto s = read_environment({{"RINGLET_FUSION_THRESHOLD", "64MB"},
                                   {"RINGLET_FUSION_COPY_LIMIT", "1KiB"},
                                   {"RINGLET_CYCLE_TIME", "5"},
                                   {"RINGLET_TIMEOUT", "1500ms"},
                                   {"RINGLET_STALL_WARNING", "3"},
                                   {"RINGLET_SEED", "18446744073709551615"},
                                   {"RINGLET_PROGRESS", "Thread"},
                                   {"RINGLET_LOG_LEVEL", "DEBUG"},
                                   {"RINGLET_COMPRESSION", "*.bias=none; *=qsgd(bits=4)"}})
                     .settings;
  CHECK(s.fusion_threshold == 64000000);
  CHECK(s.fusion_copy_limit == 1024);
  CHECK(s.cycle_time == 5ms);
  CHECK(s.timeout == 1500ms);
  CHECK(s.stall_warning == 3s);
  CHECK(s.seed == UINT64_MAX);
  CHECK(s.progress == "thread");
  CHECK(s.log_level == "debug");
  CHECK(s.compression == "*.bias=none; *=qsgd(bits=4)");
}

TEST_CASE("values outside a row's range are refused") {
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"RINGLET_TIMEOUT", "0"},
                                                        {"RINGLET_TIMEOUT", "-1"},
                                                        {"RINGLET_BUCKETS_IN_FLIGHT", "0"},
                                                        {"RINGLET_BUCKETS_IN_FLIGHT", "1025"},
                                                        {"RINGLET_CACHE_CAPACITY", "1048577"},
                                                        {"RINGLET_CACHE_CAPACITY", "16k"},
                                                        {"RINGLET_FUSION_THRESHOLD", "64M"},
                                                        {"RINGLET_SEED", "-1"}}) {
    CAPTURE(name, value);
    CHECK(contains(read_environment({{name, value}}).error, name + "=\"" + value + "\": expected"));
  }
  CHECK(contains(read_environment({{"RINGLET_PROGRESS", "tread"}}).error, "the nearest is thread"));
}

TEST_CASE("a time below the resolution is not rounded to 0, which would mean something else") {
  CHECK(read_environment({{"RINGLET_TIMEOUT", "1us"}}).settings.timeout == 1ms);
  CHECK(read_environment({{"RINGLET_STALL_WARNING", "1us"}}).settings.stall_warning == 1ms);
  CHECK(read_environment({{"RINGLET_STALL_WARNING", "0"}}).settings.stall_warning == 0ms);
}

TEST_CASE("an empty value is unset") {
  const auto read = read_environment({{"RINGLET_TIMEOUT", ""}});
  CHECK(read.error.empty());
  CHECK(read.settings.timeout == Settings{}.timeout);
}

TEST_CASE("Horovod's variables of the same meaning are honoured, ours win") {
  const auto s = read_environment({{"HOROVOD_FUSION_THRESHOLD", "1000"},
                                   {"HOROVOD_CYCLE_TIME", "2.5"},
                                   {"HOROVOD_CACHE_CAPACITY", "7"},
                                   {"HOROVOD_STALL_CHECK_TIME_SECONDS", "9"},
                                   {"HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", "33"},
                                   {"HOROVOD_LOG_LEVEL", "error"},
                                   {"RINGLET_CACHE_CAPACITY", "8"}})
                     .settings;
  CHECK(s.fusion_threshold == 1000);
  CHECK(s.cycle_time == 2500us);
  CHECK(s.cache_capacity == 8);
  CHECK(s.stall_warning == 9s);
  CHECK(s.timeout == 33s);
  CHECK(s.log_level == "error");
  CHECK(contains(read_environment({{"HOROVOD_CYCLE_TIME", "fast"}}).error, "HOROVOD_CYCLE_TIME=\"fast\""));
  CHECK(read_environment({{"HOROVOD_CYCLE_TIME", "fast"}, {"RINGLET_CYCLE_TIME", "1"}}).error.empty());
}

TEST_CASE("Horovod's 0 for no shutdown time means nothing here, and that is said") {
  const auto read = read_environment({{"HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", "0"}});
  CHECK(read.error.empty());
  CHECK(read.settings.timeout == Settings{}.timeout);
  REQUIRE(read.warnings.size() == 1);
  CHECK(contains(read.warnings[0], "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS=0"));
  CHECK(contains(read.warnings[0], "RINGLET_TIMEOUT stays 60s"));
}

TEST_CASE("an unknown name is a warning with the nearest known one") {
  const auto read = read_environment({{"RINGLET_FUSION_TRESHOLD", "1"}, {"HOROVOD_TIMELINE", "x"}});
  CHECK(read.error.empty());
  REQUIRE(read.warnings.size() == 1);
  CHECK(contains(read.warnings[0], "RINGLET_FUSION_TRESHOLD"));
  CHECK(contains(read.warnings[0], "did you mean RINGLET_FUSION_THRESHOLD?"));
}
