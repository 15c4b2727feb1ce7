#include "compress/loops/loops.hpp"

namespace ringlet::compress {

namespace plain {
extern const Loops kLoops;
}
namespace avx2 {
extern const Loops kLoops;
}
namespace avx512 {
extern const Loops kLoops;
}

const Loops* loops_for(Isa isa) noexcept {
  switch (isa) {
    case Isa::plain:
      return &plain::kLoops;
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") ? &avx2::kLoops : nullptr;
    case Isa::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                     __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && loops_for(Isa::avx2)
                 ? &avx512::kLoops
                 : nullptr;
  }
  return nullptr;
}

const Loops& loops() {
  static const Loops& best = *[] {
    for (const Isa isa : {Isa::avx512, Isa::avx2}) {
      if (const Loops* found = loops_for(isa)) return found;
    }
    return loops_for(Isa::plain);
  }();
  return best;
}

}  // namespace ringlet::compress
