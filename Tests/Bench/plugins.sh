#!/bin/bash
# Plugins against nginx: requests per second for a hello that may not be kept, so that each request runs the
# plugin. A static C program by CGI, shut in by us, with fcgiwrap beside nginx; and a resident C program on
# libfcgi, the same processes' number on both sides. The two take turns; what counts is the ratio.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$PWD/.build/release/richpush
seconds=${SECONDS_EACH:-5} rounds=${ROUNDS:-3} notifications=128 processes=4

folder=$(mktemp -d)
jobs=()
trap 'kill "${jobs[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir -p "$folder"/{assets,plugins/resident,logs}

cat >"$folder/oneshot.c" <<'END'
#include <stdio.h>
int main(void) {
  puts("Content-Type: text/plain\nCache-Control: no-store\n\nHello.");
  return 0;
}
END
cat >"$folder/resident.c" <<'END'
#include <fcgi_stdio.h>
int main(void) {
  while (FCGI_Accept() >= 0)
    puts("Content-Type: text/plain\r\nCache-Control: no-store\r\n\r\nHello.");
  return 0;
}
END
cc -O2 -static -o "$folder/plugins/oneshot" "$folder/oneshot.c"
cc -O2 -o "$folder/plugins/resident/resident" "$folder/resident.c" -lfcgi
echo '{"mode":"fastcgi","workers":{"min":'$processes',"max":'$processes',"requests":1000000}}' \
  >"$folder/plugins/resident/plugin.json"

"$program" serve --demo --listen 127.0.0.1:0 --data "$folder/var" --assets "$folder/assets" \
  --plugins "$folder/plugins" >"$folder/out" 2>"$folder/logs/richpush" &
jobs+=($!)
until grep -q listening "$folder/out"; do sleep 0.05; done
ours=$(sed -n 's/.*http:/http:/p;q' "$folder/out")

serve() { # NAME PROCESSES PROGRAM: as spawn-fcgi does, on one socket for all of them
  python3 - "$folder/$1.socket" "$2" "$3" <<'END' &
import os, signal, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(1024)
os.dup2(listener.fileno(), 0)
children = [os.fork() or os.execl(sys.argv[3], sys.argv[3]) for _ in range(int(sys.argv[2]))]
def stop(*_):
  for child in children: os.kill(child, signal.SIGTERM)
  sys.exit()
signal.signal(signal.SIGTERM, stop)
signal.pause()
END
  jobs+=($!)
  until [ -S "$folder/$1.socket" ]; do sleep 0.05; done
  chmod 666 "$folder/$1.socket"
}
serve oneshot $processes /usr/sbin/fcgiwrap
serve resident $processes "$folder/plugins/resident/resident"

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$folder/nginx.conf" <<END
daemon off; worker_processes 2; pid $folder/nginx.pid; error_log $folder/logs/nginx;
events { worker_connections 4096; }
http {
  keepalive_requests 1000000; access_log off; include /etc/nginx/fastcgi_params;
  server {
    listen 127.0.0.1:$port reuseport;
    location /oneshot {
      fastcgi_pass unix:$folder/oneshot.socket; fastcgi_param SCRIPT_FILENAME $folder/plugins/oneshot;
    }
    location /resident { fastcgi_pass unix:$folder/resident.socket; }
  }
}
END
nginx -c "$folder/nginx.conf" -p "$folder" &
jobs+=($!)

# The same on both sides. Ours differ in their notifications, for equal ones that are asked for together are
# rendered once.
cat >"$folder/wrk.lua" <<'END'
local requests, turn = {}, 0
function init(args)
  for line in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format("GET", line, { Authorization = "Basic YmVuY2g6YmVuY2g=" })
  end
end
function request()
  turn = turn % #requests + 1
  return requests[turn]
end
END

rate() { # CONNECTIONS, URL, the file with the paths to ask for
  wrk -t1 -c"$1" -d"$seconds" -s "$folder/wrk.lua" "$2" -- "$3" >"$folder/wrk"
  if grep -E 'Non-2xx|Socket errors' "$folder/wrk"; then tail -3 "$folder"/logs/*; exit 1; fi >&2
  sed -n 's/^Requests\/sec: *//p' "$folder/wrk"
}
median() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }

printf '%-10s %11s %10s %10s %7s %7s\n' plugin connections richpush nginx ratio target
for kind in oneshot:1.0 resident:0.8; do
  name=${kind%:*} target=${kind#*:}
  for ((i = 0; i < notifications; i++)); do
    id=$(curl -sSf -u bench:bench -H 'Content-Type: application/json' "$ours/api/notifications" \
      -d "{\"message\":\"m\",\"richType\":\"$name\",\"payload\":\"$i\",\"to\":[\"username:bench\"]}" \
      | sed -n 's/.*"id": *\([0-9]*\).*/\1/p')
    echo "/api/notifications/$id"
  done >"$folder/ours"
  echo "/$name" >"$folder/theirs"
  for connections in 1 64; do
    : >"$folder/a"; : >"$folder/b"
    for ((round = 0; round < rounds; round++)); do
      rate "$connections" "$ours" "$folder/ours" >>"$folder/a"
      rate "$connections" "http://127.0.0.1:$port" "$folder/theirs" >>"$folder/b"
    done
    a=$(median <"$folder/a") b=$(median <"$folder/b")
    awk -v name="$name" -v c="$connections" -v a="$a" -v b="$b" -v target="$target" 'BEGIN {
      printf "%-10s %11d %10.0f %10.0f %7.2f %7.1f  %s\n", name, c, a, b, a / b, target,
        (a / b >= target ? "met" : "missed") }'
  done
done
