#include "compress/loops/lanes_avx512.hpp"
#include "compress/loops/loops.hpp"

namespace ringlet::compress::avx512 {

extern const Loops kLoops;
#include "compress/loops/loops.inl"

}  // namespace ringlet::compress::avx512
