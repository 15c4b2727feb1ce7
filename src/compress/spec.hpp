#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet::compress {

/// `name(key=value, ...)`: the parsed form, values as written. Methods read their arguments through an ArgReader.
struct MethodCall {
  std::string name;
  std::vector<std::pair<std::string, std::string>> args;  // in the order written
};

/// Parses `a(x=1)|b`: one call a stage. Throws Error{invalid_argument} that shows the text, the position and what was
/// expected.
std::vector<MethodCall> parse_spec(std::string_view text);

}  // namespace ringlet::compress
