#!/bin/bash
# What plugins send and have: FastCGI records, the heads of CGI responses, manifests.
source "$(dirname "$0")/run.bash"

compile_c Sources/CLibraries/{crypt,openssl}.c
compile_module Primitives JSON
link_module PluginHost "$(find Sources/PluginHost -name '*.swift' | sort)" -lcrypt -lcrypto

seed records pairs '\1\4\0\1\0\21\7\0\11\3RICH_VERBget\1\0a'
seed heads document 'Content-Type: text/plain\r\nCache-Control: no-store, private\nStatus: 404 Not Found\r\n\r\nbody'
seed heads file 'X-Sendfile: asset\nContent-Type: image/png\nContent-Length: 12\n\n'
seed heads redirect 'Location: https://example.com/\r\n\r\n'
mkdir -p "$work/seeds/manifest"
for file in plugins/*/plugin.json plugins/examples/*/plugin.json; do
  cp "$file" "$work/seeds/manifest/$(basename "$(dirname "$file")").json"
done

fuzz records 4000
fuzz heads 20000
fuzz manifest 4000
exit $failed
