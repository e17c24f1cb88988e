/* IDAT to rows. libpng inflates row by row with zlib, and Debian's undoes Paeth's filter sample by sample. Here ISA-L
   inflates many rows at a time, in half of zlib's time, and the samples of two rows' pixels are predicted together. */
#include "png_plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <isa-l/igzip_lib.h>

enum { BUFFER = 1 << 16, AHEAD = 1 << 17, SLACK = 8, PAETH = 4 };

struct png_plain {
  codec_source from;
  size_t at, left; /* offset behind the buffer; bytes of this IDAT that were not taken */
  const uint8_t *next;
  size_t ready; /* bytes at `next` */
  size_t row_bytes;
  int channels, has_header, has_next, is_drained; /* zlib's header is read; the next row is unfiltered; no IDAT is left */
  uint8_t *rows, *above, *raw; /* the row before the next one, and the filtered rows from the next one on */
  struct inflate_state zip;
  uint8_t buffer[BUFFER];
};

struct png_plain *png_plain_open(codec_source from, size_t at, size_t row_bytes, int channels) {
  struct png_plain *plain = calloc(1, sizeof *plain);
  if (!plain) return NULL;
  plain->from = from;
  plain->at = at - 8;
  plain->row_bytes = row_bytes;
  plain->channels = channels;
  plain->rows = calloc(1, 2 * (row_bytes + 1) + AHEAD + SLACK);
  if (!plain->rows) {
    free(plain);
    return NULL;
  }
  isal_inflate_init(&plain->zip); /* without Adler-32, which was checked when the file came */
  plain->above = plain->rows;
  plain->raw = plain->zip.next_out = plain->rows + row_bytes;
  return plain;
}

void png_plain_close(struct png_plain *plain) {
  if (!plain) return;
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

/* Gives ISA-L the next piece of an IDAT. */
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
  plain->zip.avail_in = (uint32_t)count;
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
  plain->zip.avail_out = (uint32_t)(row + 1 + AHEAD - have);
  while (plain->zip.avail_out > 0) {
    int is_enough = (size_t)(plain->zip.next_out - plain->raw) > row;
    if (plain->zip.avail_in == 0 && !plain->is_drained && feed(plain) < 0) plain->is_drained = 1;
    struct isal_zlib_header header;
    int is_first = !plain->has_header;
    const uint8_t *before = plain->zip.next_out;
    int status = is_first ? isal_read_zlib_header(&plain->zip, &header) : isal_inflate(&plain->zip);
    if (is_first && status == ISAL_DECOMP_OK) plain->has_header = 1;
    int is_end = plain->zip.block_state == ISAL_BLOCK_FINISH;
    is_enough = (size_t)(plain->zip.next_out - plain->raw) > row;
    /* ISA-L keeps what it has inflated and there was no room for, also when it has taken all input. */
    int is_stuck = plain->is_drained && plain->zip.next_out == before;
    if (is_stuck && !is_end) return is_enough ? NULL : "the image data end early";
    if (status >= 0 && !is_end) continue;
    return is_enough ? NULL : is_end ? "not enough image data" : "the image data are damaged";
  }
  return NULL;
}

/* With the number of channels as a constant, else a pixel would be copied by a call. */
#define INLINE inline __attribute__((always_inline))

typedef uint8_t bytes4 __attribute__((vector_size(4)));
typedef int16_t lanes __attribute__((vector_size(8)));

static inline lanes load(const uint8_t *from) {
  bytes4 bytes;
  memcpy(&bytes, from, 4);
  return __builtin_convertvector(bytes, lanes);
}

static inline lanes choose(lanes is_one, lanes one, lanes other) { return (is_one & one) | (~is_one & other); }

/* A row that is being unfiltered, and what is to the left of its next pixel. */
struct paeth {
  uint8_t *row;
  lanes left, corner;
};

/* Four samples of a pixel at once, of which `channels` count. The nearest of left, above and corner is found as in
   stb_image: fewer steps wait for the pixel on the left. */
static INLINE void next_paeth(struct paeth *p, size_t i, lanes up, int channels) {
  lanes bound = 3 * p->corner - up - p->left;
  lanes low = __builtin_elementwise_min(p->left, up), high = __builtin_elementwise_max(p->left, up);
  lanes nearest = choose(bound <= low, high, choose(high <= bound, low, p->corner));
  p->left = (load(p->row + i) + nearest) & 255;
  bytes4 bytes = __builtin_convertvector(p->left, bytes4);
  uint32_t pixel;
  memcpy(&pixel, &bytes, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  pixel = __builtin_bswap32(pixel);
#endif
  for (int c = 0; c < channels; c++) p->row[i + (size_t)c] = (uint8_t)(pixel >> 8 * c);
  p->corner = up;
}

static INLINE void unfilter_paeth(uint8_t *row, const uint8_t *above, size_t count, int channels) {
  struct paeth p = {.row = row};
  for (size_t i = 0; i < count; i += (size_t)channels) next_paeth(&p, i, load(above + i), channels);
}

/* Two rows at once, the lower one a pixel behind: a processor does steps of both while each waits for its left. */
static INLINE void unfilter_two(uint8_t *row, uint8_t *below, const uint8_t *above, size_t count, int channels) {
  struct paeth upper = {.row = row}, lower = {.row = below};
  size_t step = (size_t)channels;
  next_paeth(&upper, 0, load(above), channels);
  for (size_t i = step; i < count; i += step) {
    lanes up = upper.left; /* not from memory, where it is being written */
    next_paeth(&upper, i, load(above + i), channels);
    next_paeth(&lower, i - step, up, channels);
  }
  next_paeth(&lower, count - step, upper.left, channels);
}

static INLINE void unfilter_sub(uint8_t *row, size_t count, int channels) {
  for (size_t i = (size_t)channels; i < count; i++) row[i] = (uint8_t)(row[i] + row[i - (size_t)channels]);
}

static INLINE void unfilter_average(uint8_t *row, const uint8_t *above, size_t count, int channels) {
  for (size_t i = 0; i < count; i++) {
    int left = i < (size_t)channels ? 0 : row[i - (size_t)channels];
    row[i] = (uint8_t)(row[i] + ((left + above[i]) >> 1));
  }
}

/* PNG third edition, 9.2. With `below`, the row after it is one of Paeth's too, and done as well. */
static INLINE int unfilter(int filter, uint8_t *row, uint8_t *below, const uint8_t *above, size_t count, int channels) {
  switch (filter) {
  case 0: return 0;
  case 1: unfilter_sub(row, count, channels); return 0;
  case 2:
    for (size_t i = 0; i < count; i++) row[i] = (uint8_t)(row[i] + above[i]);
    return 0;
  case 3: unfilter_average(row, above, count, channels); return 0;
  case PAETH:
    if (below) unfilter_two(row, below, above, count, channels);
    else unfilter_paeth(row, above, count, channels);
    return 0;
  default: return -1;
  }
}

const char *png_plain_row(struct png_plain *plain, uint8_t *to) {
  size_t count = plain->row_bytes, have = (size_t)(plain->zip.next_out - plain->raw);
  if (have <= count) {
    const char *wrong = inflate_rows(plain);
    if (wrong) return wrong;
    have = (size_t)(plain->zip.next_out - plain->raw);
  }
  uint8_t *row = plain->raw + 1, *next = row + count;
  int filter = *plain->raw, status = 0;
  uint8_t *below = filter == PAETH && have > 2 * count + 1 && *next == PAETH ? next + 1 : NULL;
  if (plain->has_next) below = NULL;
  else switch (plain->channels) { /* the compiler makes each of its own */
  case 1: status = unfilter(filter, row, below, plain->above, count, 1); break;
  case 3: status = unfilter(filter, row, below, plain->above, count, 3); break;
  default: status = unfilter(filter, row, below, plain->above, count, 4); break;
  }
  if (status < 0) return "a row has an unknown filter";
  plain->has_next = below != NULL;
  memcpy(to, row, count);
  plain->above = row;
  plain->raw = next;
  return NULL;
}
