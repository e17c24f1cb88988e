#!/bin/bash
# Builds the Debian package twice from the committed files, in two folders and by two people's settings, and compares.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d "${TMPDIR:-/var/tmp}/richpush-twice-XXXXXX")
trap 'rm -rf "$folder"' EXIT

# Prints the checksums of what is built in a new folder.
build() {
  git clone --quiet "$source" "$1"
  make -s -C "$1" deb >&2
  (cd "$1/.build/deb" && sha256sum ./*.deb)
}

first=$(build "$folder/first")
second=$(umask 077; export TZ=Asia/Kolkata LC_ALL=C.UTF-8; build "$folder/another/place")
printf '%s\n%s\n' "$first" "$second"
[ "$first" = "$second" ]
