/* PNG in: rows of 8- or 16-bit grey, RGB or RGBA samples. */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <png.h>

#include "png_plain.h"

enum { BUFFER = 1 << 16 };

struct codec_png {
  png_structp codec;
  png_infop info;
  codec_source from;
  size_t at, filled, used; /* at: offset behind the buffer */
  jmp_buf escape;
  char message[CODEC_MESSAGE];
  uint8_t *whole; /* the picture, when it is interlaced */
  size_t row_bytes;
  int passes, next;
  int checking;
  struct png_plain *plain; /* reads the rows, when libpng need not */
  int limited; /* whether a chunk was left out because it is too large */
  uint8_t buffer[BUFFER];
};

static void on_error(png_structp codec, png_const_charp text) {
  codec_png *png = png_get_error_ptr(codec);
  snprintf(png->message, CODEC_MESSAGE, "%s", text);
  longjmp(png->escape, 1);
}

static void on_warning(png_structp codec, png_const_charp text) {
  codec_png *png = png_get_error_ptr(codec);
  if (strstr(text, "application limits")) png->limited = 1;
}

static int say(const codec_png *png, char *message) {
  snprintf(message, CODEC_MESSAGE, "%s", png->message);
  return -1;
}

static void read_bytes(png_structp codec, png_bytep to, size_t count) {
  codec_png *png = png_get_io_ptr(codec);
  if (png->from.bytes) {
    if (png->from.size - png->at < count) png_error(codec, "the file ends early");
    memcpy(to, png->from.bytes + png->at, count);
    png->at += count;
    return;
  }
  while (count > 0) {
    if (png->used == png->filled) {
      ssize_t got;
      do {
        got = pread(png->from.fd, png->buffer, BUFFER, (off_t)png->at);
      } while (got < 0 && errno == EINTR);
      if (got <= 0) png_error(codec, "the file ends early");
      png->at += (size_t)got;
      png->filled = (size_t)got;
      png->used = 0;
    }
    size_t part = png->filled - png->used < count ? png->filled - png->used : count;
    memcpy(to, png->buffer + png->used, part);
    png->used += part;
    to += part;
    count -= part;
  }
}

static void describe(codec_png *png, codec_png_info *info) {
  png_structp codec = png->codec;
  int intent, method;
  png_charp name;
  png_bytep profile;
  png_uint_32 size;
  *info = (codec_png_info){
    .width = (int)png_get_image_width(codec, png->info),
    .height = (int)png_get_image_height(codec, png->info),
    .depth = png_get_bit_depth(codec, png->info),
    .colour_type = png_get_color_type(codec, png->info),
    .interlaced = png_get_interlace_type(codec, png->info) != PNG_INTERLACE_NONE,
    .limited = png->limited,
    .has_srgb = png_get_sRGB(codec, png->info, &intent) != 0,
    .has_gamma = png_get_gAMA(codec, png->info, &info->gamma) != 0,
  };
  info->has_transparency = (info->colour_type & PNG_COLOR_MASK_ALPHA) != 0 ||
    png_get_valid(codec, png->info, PNG_INFO_tRNS) != 0;
  png_get_gAMA(codec, png->info, &info->gamma);
  double *c = info->chromaticities;
  info->has_chromaticities =
    png_get_cHRM(codec, png->info, c, c + 1, c + 2, c + 3, c + 4, c + 5, c + 6, c + 7) != 0;
  if (png_get_iCCP(codec, png->info, &name, &method, &profile, &size)) {
    info->profile = profile;
    info->profile_size = size;
  }
}

codec_png *codec_png_open(
  codec_source source, size_t chunk_limit, int checking, codec_png_info *info, char *message
) {
  /* Text, times and the like are never looked at: less is parsed, nothing of it can fail. */
  static const png_byte ignored[] =
    "tEXt\0zTXt\0iTXt\0eXIf\0tIME\0pHYs\0sPLT\0hIST\0oFFs\0pCAL\0sCAL\0bKGD\0sBIT";
  codec_png *png = calloc(1, sizeof *png);
  if (!png) {
    snprintf(message, CODEC_MESSAGE, "out of memory");
    return NULL;
  }
  png->from = source;
  png->checking = checking;
  png->codec = png_create_read_struct(PNG_LIBPNG_VER_STRING, png, on_error, on_warning);
  png->info = png->codec ? png_create_info_struct(png->codec) : NULL;
  if (!png->info || setjmp(png->escape)) {
    say(png, message);
    codec_png_close(png);
    return NULL;
  }
  png_set_read_fn(png->codec, png, read_bytes);
  png_set_keep_unknown_chunks(
    png->codec, PNG_HANDLE_CHUNK_NEVER, ignored, (int)sizeof ignored / 5);
  png_set_chunk_malloc_max(png->codec, chunk_limit);
  if (!checking) {
    png_set_crc_action(png->codec, PNG_CRC_QUIET_USE, PNG_CRC_WARN_DISCARD);
    png_set_option(png->codec, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
  }
  png_read_info(png->codec, png->info);
  describe(png, info);
  return png;
}

/* Rows of a file that was checked before, and that need no change. */
static int reads_plainly(const codec_png *png, const codec_png_info *info) {
  int has_colours = info->colour_type == PNG_COLOR_TYPE_RGB || info->colour_type == PNG_COLOR_TYPE_GRAY;
  int is_opaque = has_colours && !info->has_transparency;
  return !png->checking && info->depth == 8 && !info->interlaced &&
    (is_opaque || info->colour_type == PNG_COLOR_TYPE_RGBA);
}

int codec_png_start(codec_png *png, int sixteen, codec_png_info *info, char *message) {
  png_structp codec = png->codec;
  if (setjmp(png->escape)) return say(png, message);
  if (!sixteen && reads_plainly(png, info)) {
    info->channels = png_get_channels(codec, png->info);
    png->row_bytes = png_get_rowbytes(codec, png->info);
    size_t at = png->at - (png->filled - png->used); /* libpng has read the first IDAT's header */
    png->plain = png_plain_open(png->from, at, png->row_bytes, info->channels);
    if (!png->plain) png_error(codec, "out of memory");
    return 0;
  }
  png_set_expand(codec);
  if (sixteen) {
    png_set_expand_16(codec);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    png_set_swap(codec);
#endif
  } else {
    png_set_scale_16(codec);
  }
  if (info->has_transparency) png_set_gray_to_rgb(codec);
  png->passes = png_set_interlace_handling(codec);
  png_read_update_info(codec, png->info);
  info->channels = png_get_channels(codec, png->info);
  png->row_bytes = png_get_rowbytes(codec, png->info);
  return 0;
}

static int read_whole(codec_png *png, char *message) {
  int height = (int)png_get_image_height(png->codec, png->info);
  png->whole = calloc((size_t)height, png->row_bytes);
  if (!png->whole) {
    snprintf(message, CODEC_MESSAGE, "out of memory");
    return -1;
  }
  for (int pass = 0; pass < png->passes; pass++) {
    for (int y = 0; y < height; y++) {
      png_read_row(png->codec, png->whole + png->row_bytes * (size_t)y, NULL);
    }
  }
  return 0;
}

int codec_png_rows(codec_png *png, uint8_t *to, size_t stride, int count, char *message) {
  if (setjmp(png->escape)) return say(png, message);
  if (png->passes > 1 && !png->whole && read_whole(png, message) < 0) return -1;
  for (int i = 0; i < count; i++, png->next++) {
    uint8_t *row = to + stride * (size_t)i;
    if (png->plain) {
      const char *wrong = png_plain_row(png->plain, row);
      if (wrong) png_error(png->codec, wrong);
    } else if (png->whole) memcpy(row, png->whole + png->row_bytes * (size_t)png->next, png->row_bytes);
    else png_read_row(png->codec, row, NULL);
  }
  return 0;
}

int codec_png_finish(codec_png *png, char *message) {
  if (setjmp(png->escape)) return say(png, message);
  png_read_end(png->codec, NULL);
  return 0;
}

void codec_png_close(codec_png *png) {
  if (!png) return;
  png_destroy_read_struct(&png->codec, &png->info, NULL);
  png_plain_close(png->plain);
  free(png->whole);
  free(png);
}
