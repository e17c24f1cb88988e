#!/bin/bash
# What clients send: request heads, chunked bodies, header fields with ranges and dates, query strings.
source "$(dirname "$0")/run.bash"

compile_c Sources/CLibraries/{tls,openssl,openssl-keys}.c
compile_module Primitives
link_module HTTP "$(find Sources/HTTP -name '*.swift' | sort)" -lssl -lcrypto

seed head get 'GET /api/notifications/7?width=320 HTTP/1.1\r\nHost: a\r\nAuthorization: Basic YTph\r\n\r\n'
seed head post 'POST http://a/ HTTP/1.0\r\nhost:a\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello'
seed head plain 'GET /a HTTP/1.1\r\nHost: a\r\nIf-None-Match: "b"\r\nAccept: */*\r\nConnection: close\r\n\r\n'
seed head chunked 'HEAD /%%41?a=%%20+b&c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n'
seed head foreign 'OPTIONS * HTTP/2.0\r\n\r\n'
seed chunks all '3;a="b"\r\nabc\r\n0A \r\n0123456789\r\n0\r\nTrailer: t\r\n\r\nGET'
seed chunks blanks 'fF \t;\r\n'
seed fields all 'bytes=0-1,5-,-3\nSun, 06 Nov 1994 08:49:37 GMT\n"a", W/"b"\n/a%%20b/?c=d&e'
seed fields more 'Bytes=0-1,0-\nSunday, 06-Nov-94 08:49:37 GMT\nSun Nov  6 08:49:37 1994\nhttp://a:80/%%41?b=%%2b+c\n*\n::ffff:192.0.2.1\n192.0.2.1'
seed query all 'width=320&fit=cover&focus=0.5%%2c0.3&a+b=%%c3%%a4&c&&=d'
seed frames all '\x01\x82\x01\x02\x03\x04ab\x89\x81\x01\x02\x03\x04c\x80\xfe\x00\x7e\x01\x02\x03\x04d\x88\x82\x00\x00\x00\x00\x03\xe8'

fuzz head 12000
fuzz chunks 12000
fuzz fields 12000
fuzz query 4000
fuzz frames 4000
exit $failed
