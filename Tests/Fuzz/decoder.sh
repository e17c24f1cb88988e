#!/bin/bash
# img-decode: the reader of HEIF's boxes that is before libheif.
source "$(dirname "$0")/run.bash"

compile_c Tests/Fuzz/DecoderTargets.c
program="$work/decoder"
clang -fuse-ld=lld -fsanitize=fuzzer,address "${objects[@]}" -lheif -o "$program"

mkdir -p "$work/seeds/boxes"
ppmrainbow -width=64 -height=64 red yellow blue white | pnmtopng > "$work/seed.png"
heif-enc -q 10 "$work/seed.png" -o "$work/seeds/boxes/plain.heic" > /dev/null
avifenc -s 10 "$work/seed.png" "$work/seeds/boxes/plain.avif" > /dev/null 2>&1
if [ -x .build/tools/bin/python ]; then
  for name in "photo as iPhones write it since iOS 18" "tiles as iPhones write them since iOS 18" "layers of layers" \
    "photo with long numbers and sizes" "transparent, alpha of itself, too" "photo with references in a circle"; do
    .build/tools/bin/python Tests/ImagingTests/Independent/heif_cases.py "$name" > "$work/seeds/boxes/$name"
  done
fi

fuzz boxes 20000
exit $failed
