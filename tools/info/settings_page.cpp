#include "tools/info/settings_page.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/settings.hpp"

namespace ringlet::info {
namespace {

/// A cell's text: bars would end the cell.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

std::string quoted(const std::string& text) { return text.empty() ? "" : fmt::format("`{}`", cell(text)); }

}  // namespace

std::string settings_text() {
  std::vector<std::string> warnings;
  const Settings settings = settings_from_environment(warnings);
  std::string text;
  for (const SettingRow& row : setting_rows()) {
    text += fmt::format("{}\n    {}\n    accepts {}{}\n    default {}", row.name, row.meaning, row.values,
                        row.unit.empty() ? "" : fmt::format(" (a plain number is in {})", row.unit),
                        row.default_value.empty() ? "(empty)" : row.default_value);
    if (const auto value = row.print(settings); value != row.default_value) text += fmt::format(", now {}", value);
    text += row.alias.empty() ? "\n" : fmt::format("\n    also {}\n", row.alias);
  }
  for (const auto& warning : warnings) text += fmt::format("warning: {}\n", warning);
  return text;
}

std::string settings_markdown() {
  std::string text = "| variable | default | accepts | a plain number is in | what it does | Horovod's name |\n";
  text += "|---|---|---|---|---|---|\n";
  for (const SettingRow& row : setting_rows()) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", row.name, quoted(row.default_value), cell(row.values),
                        row.unit, cell(row.meaning), quoted(row.alias));
  }
  return text;
}

}  // namespace ringlet::info
