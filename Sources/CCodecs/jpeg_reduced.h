#pragma once
/* A baseline JPEG at 1/8 or 2/8 without decoding what does not show there. */
#include "jpeg_error.h"

/* The decoded picture; it lives as long as libjpeg's image. */
struct jpeg_reduced {
  JSAMPROW samples[CODEC_PLANES];
  int bands, band; /* how many there are, and the next to be given */
};

/* Reads the picture behind the header that libjpeg has read, with `size` samples (1 or 2) for eight, and describes its
   planes. 1: done; 0: it is not of a kind read here; -1: something is unusual, and libjpeg has to begin again. */
int jpeg_reduced_read(j_decompress_ptr codec, int size, struct jpeg_reduced *out, codec_plane *planes);

/* Copies the next band; 0 when there are no more. */
int jpeg_reduced_band(
  struct jpeg_reduced *reduced, const codec_plane *planes, int count, const codec_band *band);
