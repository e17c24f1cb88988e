#!/bin/bash
# Files of any kind: their types, the sizes of pictures, and the headers of sounds. Seeds are made with ffmpeg.
source "$(dirname "$0")/run.bash"
source Tests/Fuzz/pictures.bash

compile_module Primitives
link_module MediaTypes "$(find Sources/MediaTypes -name '*.swift' | sort)"

seed kinds archive 'PK\3\4wordPK\1\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0word/document.xmlPK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\10\0\0\0\0\0'
seed kinds film '\60\46\262\165\216\146\317\21'
seed kinds page '<!-- a --><svg xmlns="http://www.w3.org/2000/svg">'
mkdir -p "$work/seeds/sounds"
for format in wav aiff caf mp3 m4a aac flac ogg; do
  ffmpeg -v error -y -f lavfi -i sine=duration=0.1 "$work/seeds/sounds/tone.$format"
done
seed sounds tone.amr '#!AMR\n<0123456789abcdef0123456789abcdef<0123456789abcdef0123456789abcde'
seed sounds packets.caf 'caff\000\001\000\000desc\000\000\000\000\000\000\000\040\100\345\210\200\000\000\000\000aac\040\000\000\000\000\000\000\000\000\000\000\004\000\000\000\000\002\000\000\000\000kuki\000\000\000\000\000\000\000\030\003\031\000\001\000\004\021\100\000\000\000\000\000\000\000\000\000\000\000\000\005\002\022\020pakt\000\000\000\000\000\000\000\032\000\000\000\000\000\000\000\002\000\000\000\000\000\000\010\000\000\000\000\000\000\000\000\000\005\005data\377\377\377\377\377\377\377\377\000\000\000\0000123456789'  # AAC, which ffmpeg does not write into CAF
ffmpeg -v error -y -f lavfi -i sine=duration=0.1 -c:a adpcm_ima_qt "$work/seeds/sounds/ima4.aiff"
ffmpeg -v error -y -f lavfi -i sine=duration=0.1 -c:a adpcm_ms "$work/seeds/sounds/adpcm.wav"
ffmpeg -v error -y -f lavfi -i sine=duration=0.1 -c:a alac "$work/seeds/sounds/alac.m4a"
ffmpeg -v error -y -f lavfi -i sine=duration=0.1 -c:a libopus "$work/seeds/sounds/opus.ogg"
ffmpeg -v error -y -f lavfi -i sine=duration=0.2 -movflags +frag_keyframe+empty_moov -frag_duration 50000 "$work/seeds/sounds/fragments.m4a"

fuzz kinds 4000 "$work/seeds"/{kinds,jpeg,png,gif,sounds}
fuzz sounds 20000
exit $failed
