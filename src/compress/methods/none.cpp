#include "compress/methods/none.hpp"

namespace ringlet::compress {

Method none_method() {
  return {"none", Family::dense, "", "", [](Arguments&) { return std::shared_ptr<const Compressor>(); }};
}

}  // namespace ringlet::compress
