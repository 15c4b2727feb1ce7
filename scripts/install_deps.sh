#!/usr/bin/env bash
# Installs what Ringlet is built and tested with, from Debian's packages. Does nothing when everything is there.
#   RINGLET_NO_INSTALL=1   install nothing: only say what is missing
set -euo pipefail

packages=(
  build-essential cmake ninja-build ccache pkg-config python3
  openmpi-bin libopenmpi-dev
  libfmt-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libeigen3-dev librandom123-dev libxxhash-dev zlib1g-dev
  catch2 dataset-fashion-mnist
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "packages: all ${#packages[@]} are installed"
  exit 0
fi
echo "packages: installing ${missing[*]}"
if [ -n "${RINGLET_NO_INSTALL:-}" ]; then
  echo "RINGLET_NO_INSTALL is set: install them by hand" >&2
  exit 1
fi
sudo=()
[ "$(id -u)" -eq 0 ] || sudo=(sudo)
"${sudo[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
