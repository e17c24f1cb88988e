#!/bin/bash
# JSON bodies of requests.
source "$(dirname "$0")/run.bash"

compile_module JSON
link_module RichPushAPI "$(find Sources/RichPushAPI -name '*.swift' | sort)"

seed json all '{"a":[1,-2.5e3,true,false,null,"\\u00e4\\ud83d\\ude00\\n"],"b":{}}'
seed messages notification '{"to":["alice"],"message":"Look","richType":"img","payload":"logo.png","expires":"2026-01-01T00:00:00Z"}'

fuzz json 4000
fuzz messages 4000
exit $failed
