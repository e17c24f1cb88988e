/* IDAT to rows. libpng inflates row by row and Debian's undoes Paeth's filter sample by sample, which is a third of
   all the work; here many rows are inflated at a time, and a pixel's samples are predicted together. */
#include "png_plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER = 1 << 16, AHEAD = 1 << 17, SLACK = 8 };

struct png_plain {
  codec_source from;
  size_t at, left; /* offset behind the buffer; bytes of this IDAT that were not taken */
  const uint8_t *next;
  size_t ready; /* bytes at `next` */
  z_stream zip;
  size_t row_bytes;
  int channels;
  uint8_t *rows, *above, *raw; /* the row before the next one, and the filtered rows from the next one on */
  uint8_t buffer[BUFFER];
};

struct png_plain *png_plain_open(codec_source from, size_t at, size_t row_bytes, int channels) {
  struct png_plain *plain = calloc(1, sizeof *plain);
  if (!plain) return NULL;
  *plain = (struct png_plain){.from = from, .at = at - 8, .row_bytes = row_bytes, .channels = channels};
  plain->rows = calloc(1, 2 * (row_bytes + 1) + AHEAD + SLACK);
  if (!plain->rows || inflateInit(&plain->zip) != Z_OK) {
    free(plain->rows);
    free(plain);
    return NULL;
  }
  inflateValidate(&plain->zip, 0); /* Adler-32 was checked when the file came */
  plain->above = plain->rows;
  plain->raw = plain->zip.next_out = plain->rows + row_bytes;
  return plain;
}

void png_plain_close(struct png_plain *plain) {
  if (!plain) return;
  inflateEnd(&plain->zip);
  free(plain->rows);
  free(plain);
}

/* Something to take; -1 at the file's end. */
static int fill(struct png_plain *plain) {
  if (plain->ready > 0) return 0;
  if (plain->from.bytes) {
    plain->next = plain->from.bytes + plain->at;
    plain->ready = plain->from.size - plain->at;
  } else {
    ssize_t got;
    do got = pread(plain->from.fd, plain->buffer, BUFFER, (off_t)plain->at);
    while (got < 0 && errno == EINTR);
    plain->next = plain->buffer;
    plain->ready = got > 0 ? (size_t)got : 0;
  }
  plain->at += plain->ready;
  return plain->ready > 0 ? 0 : -1;
}

static int take(struct png_plain *plain, uint8_t *to, int count) {
  for (int i = 0; i < count; i++, plain->ready--) {
    if (fill(plain) < 0) return -1;
    to[i] = *plain->next++;
  }
  return 0;
}

/* Gives zlib the next piece of an IDAT. */
static int feed(struct png_plain *plain) {
  for (int is_first = !plain->next; plain->left == 0; is_first = 0) {
    uint8_t crc[4], header[8];
    if (!is_first && take(plain, crc, 4) < 0) return -1;
    if (take(plain, header, 8) < 0 || memcmp(header + 4, "IDAT", 4) != 0) return -1;
    plain->left = (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3];
  }
  if (fill(plain) < 0) return -1;
  size_t count = plain->left < plain->ready ? plain->left : plain->ready;
  plain->zip.next_in = (uint8_t *)(uintptr_t)plain->next;
  plain->zip.avail_in = (uInt)count;
  plain->next += count;
  plain->ready -= count;
  plain->left -= count;
  return 0;
}

/* Inflates as much as the buffer holds; at least the next row, with its filter. */
static const char *inflate_rows(struct png_plain *plain) {
  size_t have = (size_t)(plain->zip.next_out - plain->raw), row = plain->row_bytes;
  memmove(plain->rows, plain->above, row);
  memmove(plain->rows + row, plain->raw, have);
  plain->above = plain->rows;
  plain->raw = plain->rows + row;
  plain->zip.next_out = plain->raw + have;
  plain->zip.avail_out = (uInt)(row + 1 + AHEAD - have);
  while (plain->zip.avail_out > 0) {
    int is_enough = (size_t)(plain->zip.next_out - plain->raw) > row;
    if (plain->zip.avail_in == 0 && feed(plain) < 0) return is_enough ? NULL : "the image data end early";
    int status = inflate(&plain->zip, Z_NO_FLUSH);
    is_enough = (size_t)(plain->zip.next_out - plain->raw) > row;
    if (status == Z_OK) continue;
    return is_enough ? NULL : status == Z_STREAM_END ? "not enough image data" : "the image data are damaged";
  }
  return NULL;
}

typedef uint8_t bytes4 __attribute__((vector_size(4)));
typedef int16_t lanes __attribute__((vector_size(8)));

static inline lanes load(const uint8_t *from) {
  bytes4 bytes;
  memcpy(&bytes, from, 4);
  return __builtin_convertvector(bytes, lanes);
}

static inline lanes absolute(lanes value) { return __builtin_elementwise_max(value, -value); }

/* Four samples of a pixel at once, of which `channels` count. */
static inline void unfilter_paeth(uint8_t *row, const uint8_t *above, size_t count, int channels) {
  lanes left = {0}, corner = {0};
  for (size_t i = 0; i < count; i += (size_t)channels) {
    lanes up = load(above + i), across = up - corner, down = left - corner;
    lanes a = absolute(across), b = absolute(down), c = absolute(across + down);
    lanes is_left = (a <= b) & (a <= c), is_up = b <= c;
    lanes nearest = (is_left & left) | (~is_left & ((is_up & up) | (~is_up & corner)));
    left = (load(row + i) + nearest) & 255;
    bytes4 bytes = __builtin_convertvector(left, bytes4);
    memcpy(row + i, &bytes, (size_t)channels);
    corner = up;
  }
}

static inline void unfilter_sub(uint8_t *row, size_t count, int channels) {
  for (size_t i = (size_t)channels; i < count; i++) row[i] = (uint8_t)(row[i] + row[i - (size_t)channels]);
}

static inline void unfilter_average(uint8_t *row, const uint8_t *above, size_t count, int channels) {
  for (size_t i = 0; i < count; i++) {
    int left = i < (size_t)channels ? 0 : row[i - (size_t)channels];
    row[i] = (uint8_t)(row[i] + ((left + above[i]) >> 1));
  }
}

/* PNG third edition, 9.2. */
static inline int unfilter(int filter, uint8_t *row, const uint8_t *above, size_t count, int channels) {
  switch (filter) {
  case 0: return 0;
  case 1: unfilter_sub(row, count, channels); return 0;
  case 2:
    for (size_t i = 0; i < count; i++) row[i] = (uint8_t)(row[i] + above[i]);
    return 0;
  case 3: unfilter_average(row, above, count, channels); return 0;
  case 4: unfilter_paeth(row, above, count, channels); return 0;
  default: return -1;
  }
}

const char *png_plain_row(struct png_plain *plain, uint8_t *to) {
  size_t count = plain->row_bytes;
  if ((size_t)(plain->zip.next_out - plain->raw) <= count) {
    const char *wrong = inflate_rows(plain);
    if (wrong) return wrong;
  }
  uint8_t *row = plain->raw + 1;
  int filter = *plain->raw, status;
  switch (plain->channels) { /* the compiler makes each of its own */
  case 1: status = unfilter(filter, row, plain->above, count, 1); break;
  case 3: status = unfilter(filter, row, plain->above, count, 3); break;
  default: status = unfilter(filter, row, plain->above, count, 4); break;
  }
  if (status < 0) return "a row has an unknown filter";
  memcpy(to, row, count);
  plain->above = row;
  plain->raw = row + count;
  return NULL;
}
