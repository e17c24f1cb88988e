#!/bin/sh
# A PostgreSQL server with an empty database in a folder, from Debian's package: on a Unix socket in that folder only,
# by a user without privileges, and without fsync. Its superuser is richpush.
#
# usage: postgres.sh FOLDER lend    start one and print its URL; end it, and remove the folder, when standard
#                                   input ends: the process that holds it may be killed
#        postgres.sh FOLDER start   start it again
#        postgres.sh FOLDER stop    end it and all its connections
#        postgres.sh FOLDER crash   end it without its clean-up
#        postgres.sh FOLDER query SQL
set -eu
folder=$1
programs=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
[ -n "$programs" ] || { echo "PostgreSQL is not installed (Debian's package postgresql-15)" >&2; exit 69; }
cd /
export LC_ALL=C

run() {
  program=$programs/$1
  shift
  # The server refuses to run as root.
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid postgres --regid postgres --clear-groups -- "$program" "$@"
  else
    "$program" "$@"
  fi
}

start() {
  run pg_ctl -D "$folder/data" -l "$folder/log" -w -s \
    -o "-k $folder -c listen_addresses='' -c fsync=off -c full_page_writes=off -c max_connections=400" start
}

case $2 in
lend)
  mkdir -p "$folder"
  [ "$(id -u)" != 0 ] || chown postgres "$folder"
  trap 'run pg_ctl -D "$folder/data" -m immediate -s stop 2>/dev/null; rm -rf "$folder"' EXIT
  run initdb -D "$folder/data" -A trust -U richpush --no-sync -E UTF8 --locale=C >/dev/null
  start >/dev/null
  echo "postgres://richpush@/postgres?host=$folder"
  cat >/dev/null
  ;;
start) start ;;
stop) run pg_ctl -D "$folder/data" -m fast -w -s stop ;;
crash) run pg_ctl -D "$folder/data" -m immediate -w -s stop ;;
query) run psql -XAtq -h "$folder" -U richpush -d postgres -c "$3" ;;
*) exit 64 ;;
esac
