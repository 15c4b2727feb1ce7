#include "compress/loops/lanes_plain.hpp"
#include "compress/loops/loops.hpp"

namespace ringlet::compress::plain {

extern const Loops kLoops;
#include "compress/loops/loops.inl"

}  // namespace ringlet::compress::plain
