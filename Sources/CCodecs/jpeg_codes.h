#pragma once
/* The entropy-coded bits of a baseline JPEG (T.81 F.2.2): Huffman codes, and runs of them that are passed over together. */
#include "jpeg_error.h"

enum { PEEK = 13, GLANCE = 10 }; /* bits looked at together */

/* A code with the value behind it; 0 bits when it is not complete, and it goes no step when it ends the block. */
struct jpeg_step {
  int16_t value;
  uint8_t steps, bits;
};

/* One code, with its value, and all the codes of coefficients that are complete in the bits looked at. */
struct jpeg_codes {
  uint16_t codes[1 << PEEK]; /* the code that the bits begin with: symbol << 8 | length, 0 when it is longer */
  uint16_t runs[1 << PEEK];  /* ends block << 15 | coefficients << 8 | bits; 0 when not even one is complete */
  struct jpeg_step steps[1 << GLANCE];
  int32_t largest[17], offset[17]; /* longer codes */
  const UINT8 *values;
};

/* Fills the tables; `joined` is for coefficients. -1 when the lengths make no code. */
int jpeg_codes_fill(struct jpeg_codes *codes, const JHUFF_TBL *from, int joined);

/* Bits, from the left. */
struct jpeg_bits { uint64_t bits; int count; };

/* Where they come from; behind a marker come zeros, of which `missing` were added. */
struct jpeg_stream {
  j_decompress_ptr codec;
  struct jpeg_bits rest;
  int missing, marker;
};

/* Reads on, byte by byte; at least 56 bits. */
struct jpeg_bits jpeg_bits_more(struct jpeg_stream *stream, struct jpeg_bits bits);

/* What comes after the bits and their padding: a marker, or -1 when there is something else. */
int jpeg_bits_marker(struct jpeg_stream *stream);

/* As libjpeg has it: any run without a value but the longest. */
static inline int ends_block(int symbol) { return (symbol & 15) == 0 && symbol != 0xF0; }

/* At least 56 bits. */
static inline struct jpeg_bits filled(struct jpeg_stream *stream, struct jpeg_bits bits) {
  struct jpeg_source_mgr *source = stream->codec->src;
  if (source->bytes_in_buffer < 8 || stream->marker) return jpeg_bits_more(stream, bits);
  uint64_t next = 0;
  for (int i = 0; i < 8; i++) next = next << 8 | source->next_input_byte[i];
  if ((~next - 0x0101010101010101) & next & 0x8080808080808080) return jpeg_bits_more(stream, bits); /* an FF */
  int bytes = (63 - bits.count) >> 3;
  source->next_input_byte += bytes;
  source->bytes_in_buffer -= (size_t)bytes;
  return (struct jpeg_bits){bits.bits | next >> bits.count, bits.count + 8 * bytes};
}

static inline int peek(struct jpeg_bits bits, int count) { return (int)(bits.bits >> (64 - count)); }

static inline void drop(struct jpeg_bits *bits, int count) {
  bits->bits <<= count;
  bits->count -= count;
}

/* The next symbol, or -1. */
static inline int next_symbol(struct jpeg_bits *bits, const struct jpeg_codes *codes) {
  int code = codes->codes[peek(*bits, PEEK)];
  if (code) {
    drop(bits, code & 255);
    return code >> 8;
  }
  for (int length = PEEK + 1; length <= 16; length++) {
    code = peek(*bits, length);
    if (code > codes->largest[length]) continue;
    drop(bits, length);
    return codes->values[code + codes->offset[length]];
  }
  return -1;
}

/* The value of the next `size` bits. */
static inline int next_value(struct jpeg_bits *bits, int size) {
  if (size == 0) return 0;
  int value = peek(*bits, size);
  drop(bits, size);
  return value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
}
