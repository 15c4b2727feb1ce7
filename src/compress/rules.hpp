#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compress/registry.hpp"

namespace ringlet::compress {

/// `pattern=spec; pattern=spec; ...` (or a bare spec, which is `*=spec`): the first pattern that matches a tensor's
/// name decides. Patterns know `*` and `?`. Immutable after construction; any thread.
class Rules {
 public:
  Rules() = default;
  /// Throws Error{invalid_argument} for a rule that does not parse or a spec the registry refuses.
  Rules(std::string_view text, const Registry& registry);

  /// The compressor for `name`; null when no rule matches or the rule says none.
  std::shared_ptr<const Compressor> match(std::string_view name) const;
  bool empty() const noexcept { return rules_.empty(); }

 private:
  struct Rule {
    std::string pattern;
    std::shared_ptr<const Compressor> compressor;
  };
  std::vector<Rule> rules_;
};

}  // namespace ringlet::compress
