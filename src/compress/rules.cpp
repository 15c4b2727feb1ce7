#include "compress/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compress/text.hpp"
#include "ringlet/error.hpp"

namespace ringlet::compress {
namespace {

// Greedy matching that goes back to the last '*' only: linear in practice, quadratic at worst.
bool glob_match(std::string_view pattern, std::string_view name) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t p = 0, n = 0, star = kNone, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (star != kNone) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == kNone;
}

}  // namespace

Rules::Rules(std::string_view text, const Registry& registry) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = find_outside(text, ";", begin);
    const std::string_view rule = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    if (rule.empty()) continue;
    const std::size_t equals = find_outside(rule, "=");
    const bool bare = equals == rule.size();
    const std::string_view pattern = bare ? "*" : trimmed(rule.substr(0, equals));
    const std::string_view spec = bare ? rule : trimmed(rule.substr(equals + 1));
    if (pattern.empty() || spec.empty()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("compression rule \"{}\": expected pattern=spec, such as *.bias=none", rule));
    }
    rules_.push_back({std::string(pattern), registry.make(spec)});
  }
}

std::shared_ptr<const Compressor> Rules::match(std::string_view name) const {
  const auto rule =
      std::find_if(rules_.begin(), rules_.end(), [&](const Rule& r) { return glob_match(r.pattern, name); });
  return rule == rules_.end() ? nullptr : rule->compressor;
}

}  // namespace ringlet::compress
