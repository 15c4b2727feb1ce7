#include "compress/residual_store.hpp"

#include <fmt/format.h>

#include "ringlet/error.hpp"

namespace ringlet::compress {

ResidualStore::Entry& ResidualStore::entry(const std::string& name) { return entries_[name]; }

std::span<float> ResidualStore::residual(Entry& entry, const std::string& name, std::size_t elements) {
  if (entry.residual.empty() && elements > 0) {
    entry.residual.resize(elements);
    bytes_ += elements * sizeof(float);
  }
  if (entry.residual.size() != elements) {
    throw Error(
        ErrorCode::mismatch,
        fmt::format("tensor '{}' has {} elements, but its error-feedback residual has {}: a tensor keeps its size, "
                    "or takes another name",
                    name, elements, entry.residual.size()));
  }
  return entry.residual;
}

}  // namespace ringlet::compress
