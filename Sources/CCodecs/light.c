/* Resampling in linear light: rows of floats, first across, so that of a source no more is kept than rows as
   wide as the result. Plain C that the compiler vectorises. */
#include "ccodecs.h"

static const float one = 16384; /* of the weights */

void codec_light_of_row(const uint8_t *row, const float *light, float *out, size_t pixels, int channels) {
  if (channels < 4) {
    for (size_t i = 0; i < pixels * (size_t)channels; i++) out[i] = light[row[i]];
    return;
  }
  for (size_t i = 0; i < pixels; i++, row += 4, out += 4) {
    float alpha = (float)row[3] / 255;
    for (int c = 0; c < 3; c++) out[c] = light[row[c]] * alpha;
    out[3] = alpha;
  }
}

void codec_light_columns(
  const float *in, const int16_t *weights, const int32_t *starts, int taps, float *out, int width, int channels
) {
  for (int x = 0; x < width; x++, weights += taps, out += channels) {
    const float *from = in + (ptrdiff_t)starts[x] * channels;
    float sums[4] = {0};
    for (int k = 0; k < taps; k++, from += channels) {
      for (int c = 0; c < channels; c++) sums[c] += (float)weights[k] * from[c];
    }
    for (int c = 0; c < channels; c++) out[c] = sums[c] / one;
  }
}

void codec_light_rows(const float *const *rows, const int16_t *weights, int taps, float *out, int count) {
  for (int x = 0; x < count; x++) out[x] = 0;
  for (int k = 0; k < taps; k++) {
    float weight = (float)weights[k] / one;
    for (int x = 0; x < count; x++) out[x] += weight * rows[k][x];
  }
}

static inline uint8_t code_of(float light, const uint8_t *codes) {
  return codes[light <= 0 ? 0 : light >= 1 ? 65535 : (int)(light * 65535 + 0.5f)];
}

void codec_light_to_row(const float *in, const uint8_t *codes, uint8_t *out, size_t pixels, int channels) {
  if (channels < 4) {
    for (size_t i = 0; i < pixels * (size_t)channels; i++) out[i] = code_of(in[i], codes);
    return;
  }
  for (size_t i = 0; i < pixels; i++, in += 4, out += 4) {
    float alpha = in[3] <= 0 ? 0 : in[3] >= 1 ? 1 : in[3];
    out[3] = (uint8_t)(alpha * 255 + 0.5f);
    for (int c = 0; c < 3; c++) out[c] = out[3] ? code_of(in[c] / in[3], codes) : 0;
  }
}
