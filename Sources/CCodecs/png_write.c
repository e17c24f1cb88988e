/* PNG out: no metadata, level and filter as the caller found them right for the content. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "ccodecs.h"

struct output {
  codec_buffer buffer;
  size_t capacity;
  jmp_buf escape;
  char message[CODEC_MESSAGE];
};

static void on_error(png_structp codec, png_const_charp text) {
  struct output *output = png_get_error_ptr(codec);
  snprintf(output->message, CODEC_MESSAGE, "%s", text);
  longjmp(output->escape, 1);
}

static void on_warning(png_structp codec, png_const_charp text) {
  (void)codec;
  (void)text;
}

static void append(png_structp codec, png_bytep bytes, size_t count) {
  struct output *output = png_get_io_ptr(codec);
  if (output->capacity - output->buffer.size < count) {
    size_t capacity = (output->buffer.size + count) * 2;
    uint8_t *grown = realloc(output->buffer.bytes, capacity);
    if (!grown) png_error(codec, "out of memory");
    output->buffer.bytes = grown;
    output->capacity = capacity;
  }
  memcpy(output->buffer.bytes + output->buffer.size, bytes, count);
  output->buffer.size += count;
}

static void flush(png_structp codec) { (void)codec; }

static void set_palette(png_structp codec, png_infop info, const uint8_t *palette, int colours) {
  png_color entries[256];
  png_byte alpha[256];
  int translucent = 0;
  for (int i = 0; i < colours; i++, palette += 4) {
    entries[i] = (png_color){palette[0], palette[1], palette[2]};
    alpha[i] = palette[3];
    if (alpha[i] != 255) translucent = i + 1;
  }
  png_set_PLTE(codec, info, entries, colours);
  if (translucent > 0) png_set_tRNS(codec, info, alpha, translucent, NULL);
}

static int colour_type(const codec_raster *raster, int colours) {
  if (colours > 0) return PNG_COLOR_TYPE_PALETTE;
  static const int types[] = {
    PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA};
  return types[raster->channels - 1];
}

int codec_png_write(
  const codec_raster *raster, const uint8_t *palette, int colours, int depth, int level, int filtered,
  codec_buffer *out, char *message
) {
  struct output output = {0};
  png_structp codec = png_create_write_struct(PNG_LIBPNG_VER_STRING, &output, on_error, on_warning);
  png_infop info = codec ? png_create_info_struct(codec) : NULL;
  if (!info || setjmp(output.escape)) {
    png_destroy_write_struct(&codec, &info);
    codec_free(&output.buffer);
    snprintf(message, CODEC_MESSAGE, "%s", output.message);
    return -1;
  }
  png_set_write_fn(codec, &output, append, flush);
  png_set_IHDR(
    codec, info, (png_uint_32)raster->width, (png_uint_32)raster->height, depth,
    colour_type(raster, colours), PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
    PNG_FILTER_TYPE_DEFAULT);
  if (colours > 0) set_palette(codec, info, palette, colours);
  png_set_compression_level(codec, level);
  png_set_filter(codec, 0, filtered ? PNG_FILTER_UP : PNG_FILTER_NONE);
  png_write_info(codec, info);
  png_set_packing(codec);
  for (int y = 0; y < raster->height; y++) {
    png_write_row(codec, raster->planes[0] + raster->strides[0] * (size_t)y);
  }
  png_write_end(codec, NULL);
  png_destroy_write_struct(&codec, &info);
  *out = output.buffer;
  return 0;
}
