#include "compress/loops/loops.hpp"

namespace ringlet::compress {

namespace plain {
extern const Loops kLoops;
}

const Loops* loops_for(Isa isa) noexcept { return isa == Isa::plain ? &plain::kLoops : nullptr; }

const Loops& loops() { return plain::kLoops; }

}  // namespace ringlet::compress
