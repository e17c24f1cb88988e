/* The two passes of the resampler, and alpha. Plain C that the compiler vectorises, and on x86-64 the
   multiply-add instructions it does not find: SSE2, which is always there, and AVX2 where the processor has it. */
#include "ccodecs.h"

enum { SHIFT_ROWS = 8, ROUND_ROWS = 1 << 7, SHIFT_COLUMNS = 20, ROUND_COLUMNS = 1 << 19, STEP = 64 };

static inline uint8_t clamp(int32_t value) { return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value); }

/* Colour sums that carry alpha, as colour and alpha; divided before rounding, so that edges keep their colour. */
static inline void store_divided(const int32_t *sums, uint8_t *out) {
  int32_t alpha = clamp((sums[3] + ROUND_COLUMNS) >> SHIFT_COLUMNS);
  float scale = alpha > 0 ? 255.0f / (float)sums[3] : 0;
  for (int c = 0; c < 3; c++) out[c] = clamp((int32_t)((float)sums[c] * scale + 0.5f));
  out[3] = (uint8_t)alpha;
}

static void blend_rows_from(
  const uint8_t *const *rows, const int16_t *weights, int taps, int16_t *out, int from, int count
) {
  for (int x = from; x < count; x += STEP) {
    int width = count - x < STEP ? count - x : STEP;
    int32_t sums[STEP];
    for (int i = 0; i < width; i++) sums[i] = ROUND_ROWS;
    for (int k = 0; k < taps; k++) {
      const uint8_t *row = rows[k] + x;
      int32_t weight = weights[k];
      for (int i = 0; i < width; i++) sums[i] += weight * row[i];
    }
    for (int i = 0; i < width; i++) out[x + i] = (int16_t)(sums[i] >> SHIFT_ROWS);
  }
}

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

static inline uint32_t pair(int16_t first, int16_t second) {
  return (uint16_t)first | (uint32_t)(uint16_t)second << 16;
}

__attribute__((target("avx2"))) static int blend_rows_avx2(
  const uint8_t *const *rows, const int16_t *weights, int taps, int16_t *out, int count
) {
  const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(ROUND_ROWS);
  int x = 0;
  for (; x + 32 <= count; x += 32) {
    __m256i a = half, b = half, c = half, d = half;
    for (int k = 0; k < taps; k += 2) { /* two rows a step; a last single one is paired with itself, weight 0 */
      int last = k + 1 == taps;
      __m256i w = _mm256_set1_epi32((int)pair(weights[k], last ? 0 : weights[k + 1]));
      __m256i p = _mm256_loadu_si256((const void *)(rows[k] + x));
      __m256i q = _mm256_loadu_si256((const void *)(rows[last ? k : k + 1] + x));
      __m256i low = _mm256_unpacklo_epi8(p, q), high = _mm256_unpackhi_epi8(p, q);
      a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_unpacklo_epi8(low, zero), w));
      b = _mm256_add_epi32(b, _mm256_madd_epi16(_mm256_unpackhi_epi8(low, zero), w));
      c = _mm256_add_epi32(c, _mm256_madd_epi16(_mm256_unpacklo_epi8(high, zero), w));
      d = _mm256_add_epi32(d, _mm256_madd_epi16(_mm256_unpackhi_epi8(high, zero), w));
    }
    __m256i low = _mm256_packs_epi32(_mm256_srai_epi32(a, SHIFT_ROWS), _mm256_srai_epi32(b, SHIFT_ROWS));
    __m256i high = _mm256_packs_epi32(_mm256_srai_epi32(c, SHIFT_ROWS), _mm256_srai_epi32(d, SHIFT_ROWS));
    _mm256_storeu_si256((void *)(out + x), _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256((void *)(out + x + 16), _mm256_permute2x128_si256(low, high, 0x31));
  }
  return x;
}

void codec_blend_rows(
  const uint8_t *const *rows, const int16_t *weights, int taps, int16_t *out, int count
) {
  int done = __builtin_cpu_supports("avx2") ? blend_rows_avx2(rows, weights, taps, out, count) : 0;
  blend_rows_from(rows, weights, taps, out, done, count);
}

/* Eight columns of one channel at a time: the sums of x and x + 4 in the halves of one register. */
__attribute__((target("avx2"))) static int blend_columns_avx2(
  const int16_t *in, const int16_t *weights, const int32_t *starts, int taps, uint8_t *out, int width
) {
  int x = 0;
  for (; x + 8 <= width; x += 8) {
    __m256i sums[4];
    for (int i = 0; i < 4; i++) {
      const int16_t *low = in + starts[x + i], *high = in + starts[x + i + 4];
      const int16_t *low_weights = weights + (ptrdiff_t)(x + i) * taps, *high_weights = low_weights + 4 * taps;
      sums[i] = _mm256_setzero_si256();
      for (int k = 0; k < taps; k += 8) {
        __m256i samples = _mm256_loadu2_m128i((const void *)(high + k), (const void *)(low + k));
        __m256i w = _mm256_loadu2_m128i((const void *)(high_weights + k), (const void *)(low_weights + k));
        sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(samples, w));
      }
    }
    __m256i sum = _mm256_hadd_epi32(_mm256_hadd_epi32(sums[0], sums[1]), _mm256_hadd_epi32(sums[2], sums[3]));
    sum = _mm256_srai_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(ROUND_COLUMNS)), SHIFT_COLUMNS);
    sum = _mm256_packs_epi32(sum, sum);
    sum = _mm256_packus_epi16(sum, sum);
    uint32_t halves[2] = {
      (uint32_t)_mm256_extract_epi32(sum, 0), (uint32_t)_mm256_extract_epi32(sum, 4)};
    memcpy(out + x, halves, 8);
  }
  return x;
}

static inline __m128i blend_grey(const int16_t *in, const int16_t *weights, int taps) {
  __m128i sum = _mm_setzero_si128();
  for (int k = 0; k < taps; k += 8) {
    __m128i samples = _mm_loadu_si128((const void *)(in + k));
    sum = _mm_add_epi32(sum, _mm_madd_epi16(samples, _mm_loadu_si128((const void *)(weights + k))));
  }
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  return _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
}

static inline __m128i blend_pixel(const int16_t *in, const int16_t *weights, int taps, int channels) {
  __m128i sum = _mm_setzero_si128();
  for (int k = 0; k < taps; k += 2, in += 2 * channels) {
    __m128i first = _mm_loadl_epi64((const void *)in);
    __m128i second = _mm_loadl_epi64((const void *)(in + channels));
    __m128i both = _mm_unpacklo_epi16(first, second);
    sum = _mm_add_epi32(
      sum, _mm_madd_epi16(both, _mm_set1_epi32((int)pair(weights[k], weights[k + 1]))));
  }
  return sum;
}

static inline void store_pixel(__m128i sum, uint8_t *out, int channels) {
  sum = _mm_srai_epi32(_mm_add_epi32(sum, _mm_set1_epi32(ROUND_COLUMNS)), SHIFT_COLUMNS);
  sum = _mm_packs_epi32(sum, sum);
  int pixel = _mm_cvtsi128_si32(_mm_packus_epi16(sum, sum));
  memcpy(out, &pixel, (size_t)channels);
}

void codec_blend_columns(
  const int16_t *in, const int16_t *weights, const int32_t *starts, int taps, uint8_t *out, int width,
  int channels, int dividing
) {
  int x = 0;
  if (channels == 1 && __builtin_cpu_supports("avx2")) {
    x = blend_columns_avx2(in, weights, starts, taps, out, width);
    weights += (ptrdiff_t)x * taps;
  }
  for (; x < width; x++, weights += taps) {
    const int16_t *from = in + (ptrdiff_t)starts[x] * channels;
    if (channels == 1) {
      out[x] = clamp((_mm_cvtsi128_si32(blend_grey(from, weights, taps)) + ROUND_COLUMNS) >> SHIFT_COLUMNS);
    } else {
      __m128i sum = blend_pixel(from, weights, taps, channels);
      int32_t sums[4];
      _mm_storeu_si128((void *)sums, sum);
      if (dividing) store_divided(sums, out + (ptrdiff_t)x * 4);
      else store_pixel(sum, out + (ptrdiff_t)x * channels, channels);
    }
  }
}
#else
void codec_blend_rows(
  const uint8_t *const *rows, const int16_t *weights, int taps, int16_t *out, int count
) {
  blend_rows_from(rows, weights, taps, out, 0, count);
}

void codec_blend_columns(
  const int16_t *in, const int16_t *weights, const int32_t *starts, int taps, uint8_t *out, int width,
  int channels, int dividing
) {
  for (int x = 0; x < width; x++, weights += taps) {
    const int16_t *from = in + (ptrdiff_t)starts[x] * channels;
    int32_t sums[4] = {0};
    for (int k = 0; k < taps; k++, from += channels) {
      for (int c = 0; c < channels; c++) sums[c] += weights[k] * from[c];
    }
    uint8_t *to = out + (ptrdiff_t)x * channels;
    for (int c = 0; c < channels; c++) to[c] = clamp((sums[c] + ROUND_COLUMNS) >> SHIFT_COLUMNS);
    if (dividing) store_divided(sums, to);
  }
}
#endif

void codec_add_row(const uint8_t *row, uint32_t *sums, size_t count) {
  for (size_t i = 0; i < count; i++) sums[i] += row[i];
}

typedef uint8_t four_pixels __attribute__((vector_size(16)));
typedef uint16_t four_products __attribute__((vector_size(32)));

static inline void premultiply_four(uint8_t *rgba) {
  const four_products is_alpha = {0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255};
  four_pixels pixels;
  memcpy(&pixels, rgba, sizeof pixels);
  four_products value = __builtin_convertvector(pixels, four_products);
  four_products alpha =
    __builtin_shufflevector(value, value, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15) | is_alpha;
  value = value * alpha + 128; /* alpha itself times 255 */
  pixels = __builtin_convertvector((value + (value >> 8)) >> 8, four_pixels);
  memcpy(rgba, &pixels, sizeof pixels);
}

void codec_premultiply(uint8_t *rgba, size_t pixels) {
  size_t whole = pixels & ~(size_t)3;
  for (size_t i = 0; i < whole; i += 4) premultiply_four(rgba + 4 * i);
  uint8_t rest[16] = {0};
  memcpy(rest, rgba + 4 * whole, 4 * (pixels - whole));
  premultiply_four(rest);
  memcpy(rgba + 4 * whole, rest, 4 * (pixels - whole));
}
