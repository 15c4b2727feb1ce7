#include <algorithm>
#include <numeric>
#include <utility>

#include "base/settings.hpp"

namespace ringlet {
namespace {

// Levenshtein: insertions, deletions and replacements that turn `a` into `b`, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> known) {
  const auto closer = [&](const std::string& a, const std::string& b) {
    return edit_distance(word, a) < edit_distance(word, b);
  };
  const auto best = std::min_element(known.begin(), known.end(), closer);
  return best == known.end() ? std::string() : *best;
}

}  // namespace ringlet
