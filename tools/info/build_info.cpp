#include "tools/info/build_info.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

#include "transport/factory.hpp"

namespace ringlet::info {
namespace {

/// Counts the cores of this process' affinity mask: a container or mpirun's binding may leave it fewer than the machine
/// has.
unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return std::thread::hardware_concurrency();
  return static_cast<unsigned>(CPU_COUNT(&set));
}

std::string simd_level() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0) return "avx512f";
  if (__builtin_cpu_supports("avx2") != 0) return "avx2";
  return "sse2";
#elif defined(__aarch64__)
  return "neon";
#else
  return "none";
#endif
}

std::vector<BackEnd> back_ends() {
  std::vector<BackEnd> result{{"inproc", true, true, "ranks are threads of one process"}};
  for (const auto& factory : transport::compiled_transports()) {
    result.push_back({factory.name, true, factory.usable(), factory.describe()});
  }
  for (const char* name : {"mpi", "ucx", "cuda", "nccl"}) {
    const bool listed = std::any_of(result.begin(), result.end(), [&](const BackEnd& b) { return b.name == name; });
    if (!listed) result.push_back({name, false, false, "not in this build"});
  }
  return result;
}

}  // namespace

BuildInfo build_info() {
  return {RINGLET_VERSION, RINGLET_COMPILER, RINGLET_BUILD_TYPE, RINGLET_SANITIZERS,
          back_ends(),     usable_cores(),   simd_level()};
}

}  // namespace ringlet::info
