#!/bin/sh
# The configuration file of the package: the template of the program, with the package's folders.
set -eu
set_to() { printf 's|^#%s=.*|%s=%s|\n' "$1" "$1" "$2"; }
{
  set_to RICHPUSH_DATA /var/lib/richpush
  set_to RICHPUSH_ASSETS /srv/richpush/assets
  set_to RICHPUSH_PLUGINS '/usr/local/lib/richpush/plugins;/usr/lib/richpush/plugins'
} > debian/environment.sed
"$PROGRAM" config template | sed -f debian/environment.sed
