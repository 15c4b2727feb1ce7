#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace ringlet::compress {

/// What error feedback remembers, by tensor name and never by bucket: one fp32 value per element and the number of
/// exchanges so far. One array serves both stages of a two-stage exchange: a rank's own contribution to the part it
/// owns is exact, so over that part the array holds what the encoding of the *sum* lost. The worker thread only.
class ResidualStore {
 public:
  struct Entry {
    std::uint64_t step = 0;
    std::vector<float> residual;  ///< empty until error feedback first asks for it
  };

  /// The entry of `name`, made at first sight. References stay valid.
  Entry& entry(const std::string& name);
  /// The entry's residual with room for `elements`, zeros at first. Error{mismatch} when the tensor had another size
  /// before.
  std::span<float> residual(Entry& entry, const std::string& name, std::size_t elements);
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::unordered_map<std::string, Entry> entries_;
  std::size_t bytes_ = 0;
};

}  // namespace ringlet::compress
