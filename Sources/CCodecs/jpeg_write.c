/* JPEG out: baseline 4:2:0 (or grey), from raw planes or interleaved samples. */
#include "jpeg_error.h"

enum { BLOCK = 2 * DCTSIZE };

static void write_planes(struct jpeg_compress_struct *codec, const codec_raster *raster) {
  JSAMPROW rows[3][BLOCK];
  JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
  for (int top = 0; top < raster->height; top += BLOCK) {
    for (int p = 0; p < 3; p++) {
      int height = p == 0 ? raster->height : (raster->height + 1) / 2;
      int first = p == 0 ? top : top / 2;
      for (int i = 0; i < (p == 0 ? BLOCK : DCTSIZE); i++) {
        int y = first + i < height ? first + i : height - 1; /* the last row stands for those below it */
        rows[p][i] = (JSAMPROW)(raster->planes[p] + raster->strides[p] * (size_t)y);
      }
    }
    jpeg_write_raw_data(codec, planes, BLOCK);
  }
}

static void write_rows(struct jpeg_compress_struct *codec, const codec_raster *raster) {
  for (int y = 0; y < raster->height; y++) {
    JSAMPROW row = (JSAMPROW)(raster->planes[0] + raster->strides[0] * (size_t)y);
    jpeg_write_scanlines(codec, &row, 1);
  }
}

int codec_jpeg_write(
  const codec_raster *raster, int quality, int optimise, codec_buffer *out, char *message
) {
  struct jpeg_compress_struct codec = {0};
  struct jpeg_failure failure = {0};
  unsigned char *bytes = NULL;
  unsigned long size = 0;
  codec.err = jpeg_failure_begin(&failure);
  if (setjmp(failure.escape)) {
    if (codec.dest) codec.dest->term_destination(&codec); /* tells `bytes` where the grown buffer is */
    jpeg_destroy_compress(&codec);
    free(bytes);
    return jpeg_failure_say(&failure, message);
  }
  jpeg_create_compress(&codec);
  jpeg_mem_dest(&codec, &bytes, &size);
  codec.image_width = (JDIMENSION)raster->width;
  codec.image_height = (JDIMENSION)raster->height;
  codec.input_components = raster->channels;
  codec.in_color_space = raster->channels == 1 ? JCS_GRAYSCALE : raster->planar ? JCS_YCbCr : JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  codec.optimize_coding = (boolean)optimise;
  codec.raw_data_in = (boolean)raster->planar;
  jpeg_start_compress(&codec, TRUE);
  if (raster->planar) write_planes(&codec, raster);
  else write_rows(&codec, raster);
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  *out = (codec_buffer){.bytes = bytes, .size = size};
  return 0;
}

void codec_free(codec_buffer *buffer) {
  free(buffer->bytes);
  *buffer = (codec_buffer){0};
}
