#include "compress/loops/lanes_avx2.hpp"
#include "compress/loops/loops.hpp"

namespace ringlet::compress::avx2 {

extern const Loops kLoops;
#include "compress/loops/loops.inl"

}  // namespace ringlet::compress::avx2
