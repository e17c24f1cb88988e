#pragma once
/* The inverse transform of a block at 1/8, 2/8 and 4/8: of as many points as are wanted in each direction, from as
   many of the lowest coefficients. */
#include <string.h>

#include "jpeg_error.h"

static inline JSAMPLE level(int sum) {
  int value = ((sum + 4) >> 3) + CENTERJSAMPLE;
  return (JSAMPLE)(value < 0 ? 0 : value > MAXJSAMPLE ? MAXJSAMPLE : value);
}

typedef float quad __attribute__((vector_size(16)));
typedef int32_t quad_of_int __attribute__((vector_size(16)));
typedef uint8_t quad_of_bytes __attribute__((vector_size(4)));

/* Four points from four coefficients, twice as large. */
static inline void transform(quad *c) {
  const float large = 1.306562965f, small = 0.541196100f; /* cos(pi/8) and cos(3 pi/8), times the root of 2 */
  quad even = c[0] + c[2], odd = c[0] - c[2];
  quad outer = c[1] * large + c[3] * small, inner = c[1] * small - c[3] * large;
  c[0] = even + outer;
  c[1] = odd + inner;
  c[2] = odd - inner;
  c[3] = even - outer;
}

static inline void transpose(quad *c) {
  quad a = __builtin_shufflevector(c[0], c[1], 0, 4, 1, 5), b = __builtin_shufflevector(c[2], c[3], 0, 4, 1, 5);
  quad d = __builtin_shufflevector(c[0], c[1], 2, 6, 3, 7), e = __builtin_shufflevector(c[2], c[3], 2, 6, 3, 7);
  c[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
  c[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  c[2] = __builtin_shufflevector(d, e, 0, 1, 4, 5);
  c[3] = __builtin_shufflevector(d, e, 2, 3, 6, 7);
}

/* The inverse transform of four points in each direction. */
static inline void write_four(const int *c, const UINT16 *quant, JSAMPROW out, size_t stride) {
  static const uint8_t zigzag[DCTSIZE2 / 4] = {0, 2, 3, 9, 1, 4, 8, 11, 5, 7, 12, 18, 6, 13, 17, 24}; /* columns */
  float values[DCTSIZE2 / 4];
  for (int i = 0; i < DCTSIZE2 / 4; i++) values[i] = (float)(c[zigzag[i]] * quant[(i & 3) * DCTSIZE + (i >> 2)]);
  quad columns[4];
  memcpy(columns, values, sizeof columns);
  transform(columns);
  transpose(columns);
  transform(columns);
  for (int y = 0; y < 4; y++, out += stride) {
    quad_of_int row = __builtin_convertvector(columns[y] * 0.125f + (CENTERJSAMPLE + 0.5f), quad_of_int);
    row = __builtin_elementwise_min(__builtin_elementwise_max(row, (quad_of_int){0}), (quad_of_int){255, 255, 255, 255});
    quad_of_bytes bytes = __builtin_convertvector(row, quad_of_bytes);
    memcpy(out, &bytes, sizeof bytes);
  }
}

/* The inverse transform of one point, or of two in each direction. */
static inline void write_block(const int *c, const UINT16 *quant, int size, JSAMPROW out, size_t stride) {
  if (size == 4) {
    write_four(c, quant, out, stride);
    return;
  }
  int mean = c[0] * quant[0];
  if (size == 1) {
    *out = level(mean);
    return;
  }
  int across = c[1] * quant[1], down = c[2] * quant[8], both = c[4] * quant[9];
  out[0] = level(mean + across + down + both);
  out[1] = level(mean - across + down - both);
  out[stride] = level(mean + across - down - both);
  out[stride + 1] = level(mean - across - down + both);
}
