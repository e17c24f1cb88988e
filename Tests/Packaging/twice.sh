#!/bin/bash
# Builds the Debian package twice from the committed files, each time in the same empty folder, and compares.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=${TMPDIR:-/var/tmp}/richpush-twice
trap 'rm -rf "$folder"' EXIT
for turn in 1 2; do
  rm -rf "$folder"
  git clone --quiet "$source" "$folder"
  make -s -C "$folder" deb >/dev/null
  sums[turn]=$(cd "$folder/.build/deb" && sha256sum ./*.deb)
  echo "${sums[turn]}"
done
[ "${sums[1]}" = "${sums[2]}" ]
