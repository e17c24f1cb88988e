#!/bin/bash
# Pictures: every decoder, encoder and container reader of the module Imaging.
source "$(dirname "$0")/run.bash"
source Tests/Fuzz/pictures.bash

compile_c Sources/CCodecs/*.c
compile_module Primitives MediaTypes
seed exif six 'MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0'
seed decoded narrow 'img1\2\0\0\0\2\0\0\0\3\0\0\0\10\0\0\0\0\0\0\0\1\15\0\1\0\0\0\0\0\0\0\0\0\0\0\0abcdefghijkl'
seed decoded wide 'img1\1\0\0\0\1\0\0\0\4\0\0\0\20\0\0\0\1\0\0\0\11\20\0\1\0\0\0\0\0\0\0\0\0\0\0\0abcdefgh'
link_module Imaging "$(find Sources/Imaging -name '*.swift' | sort)" -lpng -lisal -ljpeg -llcms2 -lm

fuzz jpeg 20000
fuzz png 20000
fuzz gif 20000
fuzz decoded 4000
fuzz exif 400
fuzz cutter 20000 "$work/seeds"/{jpeg,png,gif}
exit $failed
