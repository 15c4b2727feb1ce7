#include "compress/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/settings.hpp"
#include "compress/arguments.hpp"
#include "compress/methods/cast.hpp"
#include "compress/methods/none.hpp"
#include "compress/methods/qsgd.hpp"
#include "compress/methods/topk.hpp"
#include "compress/text.hpp"
#include "ringlet/error.hpp"

namespace ringlet::compress {

Registry::Registry() : methods_{none_method(), fp16_method(), bf16_method(), qsgd_method(), topk_method()} {}

void Registry::add(Method method) {
  const auto taken =
      std::find_if(methods_.begin(), methods_.end(), [&](const Method& m) { return m.name == method.name; });
  if (taken != methods_.end()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a compression method named '{}' is there already: choose another name", method.name));
  }
  methods_.push_back(std::move(method));
}

const Method& Registry::find(std::string_view name) const {
  const auto at = std::find_if(methods_.begin(), methods_.end(), [&](const Method& m) { return m.name == name; });
  if (at != methods_.end()) return *at;
  std::vector<std::string> names;
  for (const Method& method : methods_) names.push_back(method.name);
  throw Error(ErrorCode::invalid_argument,
              fmt::format("no compression method '{}'; did you mean '{}'?", name, nearest(name, names)));
}

std::shared_ptr<const Compressor> Registry::make(std::string_view spec) const {
  if (trimmed(spec).empty()) return nullptr;
  std::vector<MethodCall> calls = parse_spec(spec);
  if (calls.size() > 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("compression \"{}\" has {} stages; '{}' and '{}' cannot be chained: name one method", spec,
                            calls.size(), calls[0].name, calls[1].name));
  }
  const Method& method = find(calls[0].name);
  Arguments arguments(std::move(calls[0]));
  auto compressor = method.make(arguments);
  arguments.require_all_read();
  return compressor;
}

}  // namespace ringlet::compress
