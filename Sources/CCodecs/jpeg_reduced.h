#pragma once
/* A baseline JPEG at 1/8, 2/8 or 4/8 without decoding what does not show there. */
#include "jpeg_error.h"

struct jpeg_reduced;

/* Begins to read the picture behind the header that libjpeg has read, with `size` samples (1, 2 or 4) for eight, and
   describes its planes. It lives as long as libjpeg's image. NULL: it is not of a kind read here. */
struct jpeg_reduced *jpeg_reduced_start(j_decompress_ptr codec, int size, codec_plane *planes);

/* Reads the next band: 1, or 0 when there are no more. -1: something is unusual, and libjpeg has to read it all. */
int jpeg_reduced_band(struct jpeg_reduced *reduced, const codec_band *band);
