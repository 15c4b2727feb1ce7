#include "tools/info/settings_page.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/settings.hpp"
#include "support/catch.hpp"

using namespace ringlet;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const auto begin = text.find(from), end = text.find(to);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  return text.substr(begin + from.size(), end - begin - from.size());
}

}  // namespace

TEST_CASE("the guide's table is what `ringlet-info --settings --markdown` prints") {
  std::ifstream file(RINGLET_SETTINGS_PAGE);
  REQUIRE(file);
  std::stringstream page;
  page << file.rdbuf();
  CHECK(between(page.str(), "<!-- settings: begin -->\n", "<!-- settings: end -->") == info::settings_markdown());
}

TEST_CASE("the text shows every row, what is set, and what is misspelt") {
  ::setenv("RINGLET_TIMEOUT", "1500ms", 1);
  ::setenv("RINGLET_TIMEOUTS", "1", 1);
  const std::string text = info::settings_text();
  ::unsetenv("RINGLET_TIMEOUT");
  ::unsetenv("RINGLET_TIMEOUTS");
  for (const SettingRow& row : setting_rows()) {
    CAPTURE(row.name);
    CHECK(contains(text, row.name + "\n"));
    CHECK(contains(text, row.meaning));
    CHECK((row.alias.empty() || contains(text, "also " + row.alias)));
  }
  CHECK(contains(text, "default 60s, now 1500ms"));
  CHECK(contains(text, "did you mean RINGLET_TIMEOUT?"));
}
