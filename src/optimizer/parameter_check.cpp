#include "optimizer/parameter_check.hpp"

#include <fmt/format.h>

#include <string_view>
#include <unordered_set>
#include <vector>

#include "ringlet/collectives.hpp"

namespace ringlet::optimizer {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("optimizer: parameter \"{}\": {}", name, why));
}

void check_view(const std::string& name, const char* part, const TensorView& view) {
  if (view.dtype != DType::float32) {
    refuse(name, fmt::format("its {} is {}; only float32 is trained", part, to_string(view.dtype)));
  }
  if (!view.device.is_host()) {
    refuse(name, fmt::format("its {} is on device {}; only host memory is trained", part, view.device.ordinal));
  }
  if (view.data == nullptr && view.elements() != 0) refuse(name, fmt::format("its {} has no memory", part));
  if (view.read_only) refuse(name, fmt::format("its {} is read-only", part));
}

/// One line a parameter. Names come last and may hold anything but a line's end.
std::string describe(std::span<const Parameter> parameters) {
  std::string text;
  for (const Parameter& parameter : parameters) {
    text += fmt::format("{} {}\n", to_string(parameter.value.shape), parameter.name);
  }
  return text;
}

std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    result.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return result;
}

[[noreturn]] void throw_first_difference(std::string_view ours, std::string_view theirs, std::size_t rank) {
  const auto a = lines(ours);
  const auto b = lines(theirs);
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  const auto entry = [i](const std::vector<std::string_view>& list) { return i < list.size() ? list[i] : "missing"; };
  throw Error(
      ErrorCode::mismatch,
      fmt::format(
          "optimizer: the ranks' parameters differ: number {} is \"{}\" on rank 0 and \"{}\" on rank {} ({} and {} "
          "parameters); every rank must build the same model",
          i, entry(a), entry(b), rank, a.size(), b.size()));
}

}  // namespace

void check_parameters(std::span<const Parameter> parameters) {
  std::unordered_set<std::string_view> names;
  for (const Parameter& parameter : parameters) {
    if (parameter.name.empty()) throw Error(ErrorCode::invalid_argument, "optimizer: a parameter has no name");
    if (parameter.name.find('\n') != std::string::npos) refuse(parameter.name, "a name is one line");
    if (!names.insert(parameter.name).second) refuse(parameter.name, "two parameters have this name");
    check_view(parameter.name, "value", parameter.value);
    check_view(parameter.name, "gradient", parameter.gradient);
    if (parameter.value.shape != parameter.gradient.shape) {
      refuse(parameter.name, fmt::format("its value is {}, its gradient {}", to_string(parameter.value.shape),
                                         to_string(parameter.gradient.shape)));
    }
  }
}

void check_same_on_every_rank(std::span<const Parameter> parameters, const std::string& name) {
  const std::string text = describe(parameters);
  const TensorView ours(reinterpret_cast<const std::uint8_t*>(text.data()), Shape{text.size()});
  const OwnedTensor all = allgather(ours, {.name = name});
  const std::string_view texts(reinterpret_cast<const char*>(all.memory.data()), all.memory.size());
  const std::string_view first = texts.substr(0, all.splits.at(0));
  std::size_t offset = 0;
  for (std::size_t rank = 0; rank < all.splits.size(); ++rank) {
    const std::string_view theirs = texts.substr(offset, all.splits[rank]);
    if (theirs != first) throw_first_difference(first, theirs, rank);
    offset += all.splits[rank];
  }
}

}  // namespace ringlet::optimizer
