#!/bin/bash
# The media route against nginx: requests per second for the same bytes, richpush with credentials, distinct
# users and ids, nginx as plain static files. The two take turns; what counts is the ratio.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$PWD/.build/release/richpush
seconds=${SECONDS_EACH:-5} rounds=${ROUNDS:-3} notifications=${NOTIFICATIONS:-100}

folder=$(mktemp -d)
server= proxy=
trap 'kill $server $proxy 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
mkdir -p "$folder"/{assets/sound,plugins/sound,static,logs}
cp plugins/sound/plugin.json "$folder/plugins/sound/"

"$program" serve --demo --listen 127.0.0.1:0 --data "$folder/var" --assets "$folder/assets" \
  --plugins "$folder/plugins" >"$folder/out" 2>"$folder/logs/richpush" &
server=$!
until grep -q listening "$folder/out"; do sleep 0.05; done
ours=$(sed -n 's/.*http:/http:/p;q' "$folder/out")

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$folder/nginx.conf" <<END
daemon off; worker_processes 2; pid $folder/nginx.pid; error_log $folder/logs/nginx;
events { worker_connections 4096; }
http {
  sendfile on; tcp_nopush on; open_file_cache max=10000; keepalive_requests 1000000; access_log off;
  server { listen 127.0.0.1:$port reuseport; root $folder/static; }
}
END
nginx -c "$folder/nginx.conf" -p "$folder" &
proxy=$!

# Sounds are served as they are, so their size can be chosen: a WAV of silence with a header of 44 bytes.
sound() {
  python3 - "$1" "$2" <<'END'
import struct, sys
size = int(sys.argv[2]) - 44
open(sys.argv[1], "wb").write(struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + size, b"WAVE", b"fmt ", 16,
  1, 1, 8000, 8000, 1, 8, b"data", size) + b"\x80" * size)
END
}

cat >"$folder/ours.lua" <<'END'
local users = {}
function init(args)
  for line in io.lines(args[1]) do
    local id, key = line:match("(%S+) (%S+)")
    users[#users + 1] = wrk.format("GET", "/api/notifications/" .. id, { Authorization = "Basic " .. key })
  end
end
local turn = 0
function request()
  turn = turn % #users + 1
  return users[turn]
end
END

rate() { # URL, wrk's further arguments
  wrk -t1 -c64 -d"$seconds" "$@" | sed -n 's/^Requests\/sec: *//p'
}
median() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }

printf '%10s %12s %12s %8s\n' bytes richpush nginx ratio
for size in 1024 20480 204800 2097152; do
  sound "$folder/static/$size.wav" "$size"
  cp "$folder/static/$size.wav" "$folder/assets/sound/"
  for ((i = 0; i < notifications; i++)); do
    id=$(curl -sSf -u bench:bench -H 'Content-Type: application/json' "$ours/api/notifications" -d \
      "{\"message\":\"m\",\"richType\":\"sound\",\"payload\":\"$size.wav\",\"to\":[\"username:u$i\"]}" \
      | sed -n 's/.*"id": *\([0-9]*\).*/\1/p')
    echo "$id $(printf 'u%s:u%s' $i $i | base64)"
  done >"$folder/users"
  : >"$folder/a"; : >"$folder/b"
  for ((round = 0; round < rounds; round++)); do
    rate -s "$folder/ours.lua" "$ours" -- "$folder/users" >>"$folder/a"
    rate "http://127.0.0.1:$port/$size.wav" >>"$folder/b"
  done
  a=$(median <"$folder/a") b=$(median <"$folder/b")
  printf '%10s %12s %12s %8s\n' "$size" "$a" "$b" "$(awk "BEGIN { printf \"%.2f\", $a / $b }")"
done
