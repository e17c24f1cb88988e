#!/bin/bash
# Builds the imaging fuzz targets with AddressSanitizer and runs each for SECONDS (default 60).
#   SECONDS_EACH=60 Tests/Fuzz/imaging.sh [jpeg png gif exif cutter sniffer]
# Seeds are made with cjpeg (libjpeg-turbo-progs), netpbm and exiftool. A crash leaves its input beside the corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."
source Tests/Fuzz/run.bash
seconds=${SECONDS_EACH:-60}
work=${FUZZ_FOLDER:-.build/fuzz}
mkdir -p "$work/objects" "$work/seeds"/{jpeg,png,gif,exif}

for file in Sources/CCodecs/*.c; do
  clang -g -O1 -fsanitize=fuzzer-no-link,address -ISources/CCodecs/include \
    -c "$file" -o "$work/objects/$(basename "$file" .c).o"
done
swiftc -g -O -swift-version 6 -module-name Imaging -package-name richpush -parse-as-library \
  -sanitize=fuzzer,address -ISources/CCodecs/include \
  $(find Sources/Imaging -name '*.swift') Tests/Fuzz/ImagingTargets.swift "$work"/objects/*.o \
  -use-ld=lld -lpng -lz -ljpeg -llcms2 -lm -o "$work/imaging"

ppm="$work/seed.ppm"
ppmrainbow -width=97 -height=61 red yellow blue white > "$ppm"
pgm="$work/seed.pgm"
ppmtopgm "$ppm" > "$pgm"
cjpeg -quality 80 "$ppm" > "$work/seeds/jpeg/baseline.jpg"
cjpeg -quality 80 -sample 1x1 -restart 1 "$ppm" > "$work/seeds/jpeg/restart.jpg"
cjpeg -quality 80 -sample 4x1 "$ppm" > "$work/seeds/jpeg/411.jpg"
cjpeg -progressive "$ppm" > "$work/seeds/jpeg/progressive.jpg"
cjpeg -arithmetic "$ppm" > "$work/seeds/jpeg/arithmetic.jpg"
cjpeg -grayscale "$ppm" > "$work/seeds/jpeg/grey.jpg"
pnmtopng "$ppm" > "$work/seeds/png/rgb.png"
pnmtopng -interlace "$ppm" > "$work/seeds/png/interlaced.png"
pnmtopng -gamma 0.5 -text <(echo "Title seed") "$ppm" > "$work/seeds/png/gamma.png"
pnmtopng -transparent red "$ppm" > "$work/seeds/png/transparent.png"
pnmtopng -alpha "$pgm" "$ppm" > "$work/seeds/png/alpha.png"
pamdepth 65535 "$ppm" | pnmtopng > "$work/seeds/png/sixteen.png"
ppmquant 16 "$ppm" 2>/dev/null | pnmtopng > "$work/seeds/png/palette.png"
ppmquant 16 "$ppm" 2>/dev/null | pamtogif > "$work/seeds/gif/plain.gif"
ppmquant 256 "$ppm" 2>/dev/null | pamtogif -interlace -transparent=red > "$work/seeds/gif/interlaced.gif"
for file in jpeg/baseline.jpg png/rgb.png; do
  rm -f "$work/seeds/${file%/*}/profile.${file##*.}"
  exiftool -q "-icc_profile<=/usr/share/color/icc/ghostscript/a98.icc" -n -Orientation=6 \
    -Artist=seed -XMP-dc:Creator=seed -o "$work/seeds/${file%/*}/profile.${file##*.}" "$work/seeds/$file"
done
printf 'MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0' > "$work/seeds/exif/six.tiff"

failed=0
for target in "${@:-jpeg png gif exif cutter sniffer}"; do
  for name in $target; do
    case $name in jpeg|png|gif|exif) seeds=("$work/seeds/$name") ;; *) seeds=("$work/seeds"/{jpeg,png,gif}) ;; esac
    run imaging "$name" 20000 "${seeds[@]}" || failed=1
  done
done
exit $failed
