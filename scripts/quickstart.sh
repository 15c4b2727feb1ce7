#!/usr/bin/env bash
# Installs what is needed, builds, and trains the CNN on Fashion-MNIST over 4 ranks four times: uncompressed, fp16, 4-bit QSGD and
# top-1 %. Prints one table: test accuracy, bytes, ratio, time. All four use the same plain SGD (no momentum).
#   scripts/quickstart.sh [EXTRA ringlet-train ARGUMENTS]    e.g. --epochs 1
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_deps.sh
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
echo "== build"
cmake --preset release >/dev/null
cmake --build --preset release --target ringlet-train

ranks=${RINGLET_QUICKSTART_RANKS:-4}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1  # more ranks than cores share them
out=build/quickstart
mkdir -p "$out"
results=()
for spec in none fp16 'qsgd(bits=4)' 'topk(ratio=0.01)'; do
  echo "== ringlet-train --compression '$spec' on $ranks ranks"
  file="$out/$(echo "$spec" | tr -c 'a-z0-9\n' '_').json"
  mpirun -np "$ranks" build/release/bin/ringlet-train --compression "$spec" --json "$file" "$@"
  results+=("$file")
done
echo
python3 scripts/compare_runs.py "${results[@]}"
