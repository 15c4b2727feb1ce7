#!/usr/bin/env bash
# Installs what is needed, builds everything, and runs every test: release, then the in-process tests under the address+undefined and
# the thread sanitizers. Exit status 0 only when all passed.
#   scripts/test.sh            all of it
#   scripts/test.sh release    one preset alone (release, asan or tsan)
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_deps.sh
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
# In containers that run as root, Open MPI wants to be told that this is meant.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

presets=("${@:-release}")
[ $# -gt 0 ] || presets=(release asan tsan)
for preset in "${presets[@]}"; do
  echo "== $preset: configure and build"
  cmake --preset "$preset" >"build-$preset.log" 2>&1 || { cat "build-$preset.log"; exit 1; }
  rm -f "build-$preset.log"
  cmake --build --preset "$preset"
  echo "== $preset: test"
  ctest --preset "$preset" -j "$(nproc)"
done
echo "all presets passed: ${presets[*]}"
