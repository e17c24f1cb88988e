#!/bin/bash
# Installs, removes, purges and reinstalls the Debian package by piuparts, which looks for what stays or breaks.
set -euo pipefail
cd "$(dirname "$0")/../.."
mirror=$(cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null |
  sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\).*/\2/p' | head -1 || true)
# What systemd makes when it is installed with the package; a chroot has no systemd before.
systemd='^/(root/\.ssh|var/(cache|lib|log)/private|var/lib/systemd/(coredump|pstore))/?$'
# It is in no archive yet, whose version could be upgraded.
exec /usr/sbin/piuparts --distribution bookworm --mirror "${mirror:-http://deb.debian.org/debian} main" \
  --no-upgrade-test --ignore-regex "$systemd" .build/deb/richpush_*_"$(dpkg --print-architecture)".deb
