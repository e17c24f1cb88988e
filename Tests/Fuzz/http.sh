#!/bin/bash
# Builds the HTTP fuzz targets with AddressSanitizer and runs each for SECONDS (default 60).
#   SECONDS_EACH=60 Tests/Fuzz/http.sh [head chunks fields]
# A crash leaves its input beside the corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."
source Tests/Fuzz/run.bash
seconds=${SECONDS_EACH:-60}
work=${FUZZ_FOLDER:-.build/fuzz}
mkdir -p "$work/seeds"/{head,chunks,fields}

clang -g -O1 -fsanitize=fuzzer-no-link,address -ISources/CLibraries/include \
  -c Sources/CLibraries/gnutls.c -o "$work/gnutls.o"
swiftc -g -O -swift-version 6 -module-name HTTP -package-name richpush -parse-as-library \
  -sanitize=fuzzer,address -ISources/CLibraries/include \
  -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility \
  -enable-upcoming-feature InternalImportsByDefault \
  $(find Sources/HTTP -name '*.swift') Tests/Fuzz/HTTPTargets.swift "$work/gnutls.o" \
  -use-ld=lld -lgnutls -o "$work/http"

printf 'GET /api/notifications/7?width=320 HTTP/1.1\r\nHost: a\r\nAuthorization: Basic YTph\r\n\r\n' > "$work/seeds/head/get"
printf 'POST http://a/ HTTP/1.0\r\nhost:a\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello' > "$work/seeds/head/post"
printf 'GET /a HTTP/1.1\r\nHost: a\r\nIf-None-Match: "b"\r\nAccept: */*\r\nConnection: close\r\n\r\n' > "$work/seeds/head/plain"
printf 'HEAD /%%41?a=%%20+b&c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n' > "$work/seeds/head/chunked"
printf 'OPTIONS * HTTP/2.0\r\n\r\n' > "$work/seeds/head/foreign"
printf '3;a="b"\r\nabc\r\n0A \r\n0123456789\r\n0\r\nTrailer: t\r\n\r\nGET' > "$work/seeds/chunks/all"
printf 'fF \t;\r\n' > "$work/seeds/chunks/blanks"
printf 'bytes=0-1,5-,-3\nSun, 06 Nov 1994 08:49:37 GMT\n"a", W/"b"\n/a%%20b/?c=d&e' > "$work/seeds/fields/all"
printf 'Bytes=0-1,0-\nSunday, 06-Nov-94 08:49:37 GMT\nSun Nov  6 08:49:37 1994\nhttp://a:80/%%41?b=%%2b+c\n*\n::ffff:192.0.2.1\n192.0.2.1' \
  > "$work/seeds/fields/more"

failed=0
for target in "${@:-head chunks fields}"; do
  for name in $target; do
    run http "$name" 12000 "$work/seeds/$name" || failed=1
  done
done
exit $failed
