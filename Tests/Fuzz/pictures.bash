# Read by imaging.sh and codecs.sh: small pictures in $work/seeds, made with cjpeg (libjpeg-turbo-progs), netpbm,
# ffmpeg and exiftool.
mkdir -p "$work/seeds"/{jpeg,png,gif}
ppm="$work/seed.ppm"
pgm="$work/seed.pgm"
ppmrainbow -width=97 -height=61 red yellow blue white > "$ppm"
ppmtopgm "$ppm" > "$pgm"
cjpeg -quality 80 "$ppm" > "$work/seeds/jpeg/baseline.jpg"
cjpeg -quality 80 -sample 1x1 -restart 1 "$ppm" > "$work/seeds/jpeg/restart.jpg"
cjpeg -quality 80 -sample 4x1 "$ppm" > "$work/seeds/jpeg/411.jpg"
cjpeg -progressive "$ppm" > "$work/seeds/jpeg/progressive.jpg"
cjpeg -arithmetic "$ppm" > "$work/seeds/jpeg/arithmetic.jpg"
cjpeg -grayscale "$ppm" > "$work/seeds/jpeg/grey.jpg"
pnmtopng "$ppm" > "$work/seeds/png/rgb.png"
pnmtopng "$pgm" > "$work/seeds/png/grey.png"
pnmtopng -interlace "$ppm" > "$work/seeds/png/interlaced.png"
pnmtopng -gamma 0.5 -text <(echo "Title seed") "$ppm" > "$work/seeds/png/gamma.png"
pnmtopng -transparent red "$ppm" > "$work/seeds/png/transparent.png"
pnmtopng -alpha "$pgm" "$ppm" > "$work/seeds/png/alpha.png"
pamdepth 65535 "$ppm" | pnmtopng > "$work/seeds/png/sixteen.png"
ppmquant 16 "$ppm" 2>/dev/null | pnmtopng > "$work/seeds/png/palette.png"
ffmpeg -v error -y -f lavfi -i testsrc=size=40x30:rate=3:duration=1 -f apng "$work/seeds/png/moving.png"
ppmquant 16 "$ppm" 2>/dev/null | pamtogif > "$work/seeds/gif/plain.gif"
ppmquant 256 "$ppm" 2>/dev/null | pamtogif -interlace -transparent=red > "$work/seeds/gif/interlaced.gif"
for file in jpeg/baseline.jpg png/rgb.png; do
  rm -f "$work/seeds/${file%/*}/profile.${file##*.}"
  exiftool -q "-icc_profile<=/usr/share/color/icc/ghostscript/a98.icc" -n -Orientation=6 \
    -Artist=seed -XMP-dc:Creator=seed -o "$work/seeds/${file%/*}/profile.${file##*.}" "$work/seeds/$file"
done
