#!/bin/bash
# What the server sends to devices: event streams.
source "$(dirname "$0")/run.bash"

compile_module Primitives JSON RichPushAPI
link_module RichPushClient "$(find Sources/RichPushClient -name '*.swift' | sort)" -lcurl

seed events push '\357\273\277retry: 3000\n: comment\nid: 7\r\ndata: {"id":7,\rdata: "richType":"img"}\n\nid\0x\ndata\n\n'

fuzz events 8000
exit $failed
