#!/bin/bash
# Tag expressions of publishers.
source "$(dirname "$0")/run.bash"

compile_c Sources/CLibraries/{crypt,openssl,openssl-keys}.c
compile_module Primitives JSON RichPushAPI
link_module Push "$(find Sources/Push -name '*.swift' | sort)" -lcurl -lcrypt -lcrypto

seed tags all '(news && !sport) || username:alice || ~(a@b.c) && ((x))'

fuzz tags 4200
exit $failed
