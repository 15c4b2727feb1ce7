#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringlet::compress {

/// `name(key=value, ...)`: the parsed form, values as written. Methods read their arguments through Arguments.
struct MethodCall {
  std::string name;
  std::vector<std::pair<std::string, std::string>> args;  // in the order written
};

/// Parses `a(x=1)|b`: one call a stage. Throws Error{invalid_argument} that shows the text, the position and what was
/// expected.
std::vector<MethodCall> parse_spec(std::string_view text);

}  // namespace ringlet::compress
