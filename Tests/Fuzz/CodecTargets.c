/* Our own readers beside the libraries, for libFuzzer; built by codecs.sh.

   reduced: a baseline JPEG at 1/8, 2/8 and 4/8. The reference are libjpeg's coefficients with the same inverse
   transform: libjpeg's own transforms at 2/8 and 4/8 use other coefficients.
   plain: rows of a PNG. The reference is libpng, with checksums ignored as png_plain does. */
#include <png.h>

#include "jpeg_inverse.h"
#include "jpeg_reduced.h"
#include "png_plain.h"

enum { MOST_PIXELS = 1 << 18 };

static void fail(const char *what, int row, int column) {
  fprintf(stderr, "%s differs in row %d, column %d\n", what, row, column);
  abort();
}

/* ---- JPEG ---- */

/* Natural order of the first 25 coefficients in zigzag order (ITU-T T.81 figure A.6). */
static const int natural[25] = {0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27};

static void compare_plane(
  j_decompress_ptr codec, jvirt_barray_ptr blocks, int index, const codec_plane *plane, const uint8_t *samples, int size
) {
  const jpeg_component_info *part = codec->comp_info + index;
  uint8_t block[16];
  for (int y = 0; y * size < plane->height; y++) {
    JBLOCKARRAY row = codec->mem->access_virt_barray((j_common_ptr)codec, blocks, (JDIMENSION)y, 1, FALSE);
    for (int x = 0; x * size < plane->width; x++) {
      int coefficients[25];
      for (int k = 0; k < 25; k++) coefficients[k] = row[0][x][natural[k]];
      write_block(coefficients, part->quant_table->quantval, size, block, (size_t)size);
      for (int i = 0; i < size * size; i++) {
        int line = y * size + i / size, column = x * size + i % size;
        if (line >= plane->height || column >= plane->width) continue;
        if (samples[line * plane->row_bytes + column] != block[i]) fail("a sample", line, column);
      }
    }
  }
}

/* libjpeg reads the same file; what it refuses or warns of need not be equal. */
static void compare_jpeg(
  const uint8_t *bytes, size_t count, const codec_plane *planes, uint8_t *const *samples, int size
) {
  struct jpeg_decompress_struct codec = {0};
  struct jpeg_failure failure = {0};
  codec.err = jpeg_failure_begin(&failure);
  if (!setjmp(failure.escape)) {
    jpeg_create_decompress(&codec);
    jpeg_mem_src(&codec, bytes, count);
    jpeg_read_header(&codec, TRUE);
    jvirt_barray_ptr *blocks = jpeg_read_coefficients(&codec);
    for (int i = 0; i < codec.num_components && failure.health.warnings == 0; i++) {
      compare_plane(&codec, blocks[i], i, planes + i, samples[i], size);
    }
  }
  jpeg_destroy_decompress(&codec);
}

/* Reads all bands; 0 when the file is not one that is read here. */
static int read_reduced(j_decompress_ptr codec, int size, codec_plane *planes, uint8_t **samples) {
  struct jpeg_reduced *reduced = jpeg_reduced_start(codec, size, planes);
  if (!reduced) return 0;
  for (int i = 0; i < codec->num_components; i++) {
    size_t rows = (size_t)(planes[i].height + planes[i].band_rows);
    samples[i] = calloc(rows, (size_t)planes[i].row_bytes);
  }
  for (int row = 0;; row++) {
    codec_band band;
    for (int i = 0; i < codec->num_components; i++) {
      band.strides[i] = (size_t)planes[i].row_bytes;
      band.rows[i] = samples[i] + band.strides[i] * (size_t)(row * planes[i].band_rows);
    }
    int status = jpeg_reduced_band(reduced, &band);
    if (status <= 0) return status == 0;
  }
}

static void reduced(const uint8_t *bytes, size_t count) {
  if (count < 2) return;
  int size = 1 << count % 3;
  struct jpeg_decompress_struct codec = {0};
  struct jpeg_failure failure = {0};
  codec_plane planes[CODEC_PLANES];
  uint8_t *samples[CODEC_PLANES] = {0};
  codec.err = jpeg_failure_begin(&failure);
  if (!setjmp(failure.escape)) {
    jpeg_create_decompress(&codec);
    jpeg_mem_src(&codec, bytes, count);
    jpeg_read_header(&codec, TRUE);
    int is_small = (long)codec.image_width * (long)codec.image_height <= MOST_PIXELS;
    if (is_small && read_reduced(&codec, size, planes, samples)) {
      compare_jpeg(bytes, count, planes, samples, size);
    }
  }
  jpeg_destroy_decompress(&codec);
  for (int i = 0; i < CODEC_PLANES; i++) free(samples[i]);
}

/* ---- PNG ---- */

struct reference {
  png_structp codec;
  png_infop info;
  jmp_buf escape;
  const uint8_t *next;
  size_t left;
};

static void on_error(png_structp codec, png_const_charp text) {
  (void)text;
  longjmp(((struct reference *)png_get_error_ptr(codec))->escape, 1);
}

static void on_warning(png_structp codec, png_const_charp text) { (void)codec, (void)text; }

static void read_bytes(png_structp codec, png_bytep to, size_t count) {
  struct reference *reference = png_get_io_ptr(codec);
  if (reference->left < count) png_error(codec, "the end");
  memcpy(to, reference->next, count);
  reference->next += count;
  reference->left -= count;
}

/* The rows of a PNG by libpng, at most `height`; the number of them. */
static int read_reference(const uint8_t *bytes, size_t count, uint8_t *rows, size_t row_bytes, int height) {
  struct reference reference = {.next = bytes, .left = count};
  volatile int done = 0;
  reference.codec = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reference, on_error, on_warning);
  reference.info = png_create_info_struct(reference.codec);
  if (!setjmp(reference.escape)) {
    png_set_read_fn(reference.codec, &reference, read_bytes);
    png_set_crc_action(reference.codec, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
    png_set_option(reference.codec, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
    png_read_info(reference.codec, reference.info);
    for (; done < height; done++) png_read_row(reference.codec, rows + row_bytes * (size_t)done, NULL);
  }
  png_destroy_read_struct(&reference.codec, &reference.info, NULL);
  return done;
}

static void plain(const uint8_t *bytes, size_t count) {
  char message[CODEC_MESSAGE];
  codec_png_info info;
  codec_source source = {.bytes = bytes, .size = count, .fd = -1};
  codec_png *png = codec_png_open(source, 1 << 20, 0, &info, message);
  if (!png) return;
  int is_alike = info.depth == 8 && !info.interlaced && info.colour_type != PNG_COLOR_TYPE_PALETTE &&
    (!info.has_transparency || info.colour_type == PNG_COLOR_TYPE_RGBA);
  if (is_alike && (long)info.width * info.height <= MOST_PIXELS &&
      codec_png_start(png, 0, &info, message) == 0) {
    size_t row_bytes = (size_t)(info.width * info.channels);
    uint8_t *ours = calloc((size_t)info.height, row_bytes), *theirs = calloc((size_t)info.height, row_bytes);
    int done = 0;
    while (done < info.height && codec_png_rows(png, ours + row_bytes * (size_t)done, row_bytes, 1, message) == 0) done++;
    int wanted = read_reference(bytes, count, theirs, row_bytes, info.height);
    for (int y = 0; y < done && y < wanted; y++) {
      if (memcmp(ours + row_bytes * (size_t)y, theirs + row_bytes * (size_t)y, row_bytes) != 0) fail("a row", y, 0);
    }
    free(ours);
    free(theirs);
  }
  codec_png_close(png);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static int is_plain = -1;
  if (is_plain < 0) {
    const char *name = getenv("FUZZ_TARGET");
    is_plain = name && strcmp(name, "plain") == 0;
  }
  if (is_plain) plain(bytes, count);
  else reduced(bytes, count);
  return 0;
}
