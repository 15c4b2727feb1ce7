#include "compress/compressor.hpp"

namespace ringlet::compress {

const char* to_string(Family family) noexcept {
  switch (family) {
    case Family::dense:
      return "dense";
    case Family::quantized:
      return "quantized";
    case Family::sparse:
      return "sparse";
    case Family::low_rank:
      return "low_rank";
  }
  return "?";
}

}  // namespace ringlet::compress
