#!/bin/bash
# The readers of our own in CCodecs beside libjpeg and libpng: the same pixels, or none.
source "$(dirname "$0")/run.bash"
source Tests/Fuzz/pictures.bash

compile_c Sources/CCodecs/*.c Tests/Fuzz/CodecTargets.c
program="$work/codecs"
clang -fuse-ld=lld -fsanitize=fuzzer,address "${objects[@]}" -lpng -lisal -ljpeg -llcms2 -lm -o "$program"

fuzz reduced 20000 "$work/seeds/jpeg"
fuzz plain 20000 "$work/seeds/png"
exit $failed
