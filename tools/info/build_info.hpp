#pragma once

#include <string>
#include <vector>

namespace ringlet::info {

/// A back end that ringlet knows of: whether this build has it, and what was found of it at run time.
struct BackEnd {
  std::string name;
  bool compiled = false;
  bool usable = false;
  std::string found;
};

/// What this build is and what this machine offers it.
struct BuildInfo {
  std::string version;
  std::string compiler;
  std::string build_type;
  std::string sanitizers;  ///< empty for none
  std::vector<BackEnd> back_ends;
  unsigned cores = 0;  ///< that this process may use
  std::string simd;    ///< the widest instruction set of the processor that the loops can dispatch to
};

BuildInfo build_info();

}  // namespace ringlet::info
