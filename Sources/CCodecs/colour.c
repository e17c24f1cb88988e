/* Colour: planes mixed to pixels, and LittleCMS from whatever profile to sRGB. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lcms2.h>

#include "ccodecs.h"

static inline uint8_t clamp(int32_t value) { return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value); }

void codec_mix(const uint8_t *const *rows, int channels, int colour, uint8_t *out, int width) {
  /* ITU-T T.871 7 in 16-bit fixed point; YCCK is YCbCr of the inks' complements. */
  int flip = colour == CODEC_YCCK ? 255 : 0;
  for (int x = 0; x < width; x++, out += channels) {
    for (int c = 0; c < channels; c++) out[c] = rows[c][x];
    if (colour != CODEC_YCC && colour != CODEC_YCCK) continue;
    int32_t y = rows[0][x] * 65536 + 32768, blue = rows[1][x] - 128, red = rows[2][x] - 128;
    out[0] = clamp((y + 91881 * red) >> 16) ^ flip;
    out[1] = clamp((y - 22554 * blue - 46802 * red) >> 16) ^ flip;
    out[2] = clamp((y + 116130 * blue) >> 16) ^ flip;
  }
}

void codec_inks_to_rgb(const uint8_t *cmyk, uint8_t *rgb, int width) {
  for (int x = 0; x < width; x++, cmyk += 4, rgb += 3) {
    for (int c = 0; c < 3; c++) rgb[c] = (uint8_t)((cmyk[c] * cmyk[3] + 127) / 255);
  }
}

struct codec_colour {
  cmsContext context;
  cmsHTRANSFORM transform;
  int copies_alpha, sixteen; /* LittleCMS copies alpha only beside as many colours as come out */
};

static cmsUInt32Number input_format(const codec_pixels *pixels, int of_grey) {
  cmsUInt32Number bytes = BYTES_SH(pixels->sixteen ? 2 : 1);
  if (of_grey && pixels->channels == 4) return COLORSPACE_SH(PT_GRAY) | EXTRA_SH(3) | CHANNELS_SH(1) | bytes;
  switch (pixels->channels) {
  case 1: return COLORSPACE_SH(PT_GRAY) | CHANNELS_SH(1) | bytes;
  case 3: return COLORSPACE_SH(PT_RGB) | CHANNELS_SH(3) | bytes;
  default:
    if (!pixels->inks) return COLORSPACE_SH(PT_RGB) | EXTRA_SH(1) | CHANNELS_SH(3) | bytes;
    return COLORSPACE_SH(PT_CMYK) | CHANNELS_SH(4) | FLAVOR_SH(1) | bytes;
  }
}

/* A grey picture with alpha comes as RGBA whose colours are equal. */
static int suits(cmsColorSpaceSignature space, const codec_pixels *pixels) {
  if (space == cmsSigGrayData) return pixels->channels == 1 || (pixels->channels == 4 && !pixels->inks);
  return space == (pixels->inks ? cmsSigCmykData : cmsSigRgbData) && pixels->channels >= 3;
}

/* Takes the profile over. */
static codec_colour *connect(cmsContext context, cmsHPROFILE from, const codec_pixels *pixels) {
  codec_colour *colour = NULL;
  cmsHPROFILE to = cmsCreate_sRGBProfileTHR(context);
  int has_alpha = pixels->channels == 4 && !pixels->inks;
  if (from && to && suits(cmsGetColorSpace(from), pixels) && (colour = calloc(1, sizeof *colour))) {
    int of_grey = cmsGetColorSpace(from) == cmsSigGrayData;
    colour->context = context;
    colour->sixteen = pixels->sixteen;
    colour->copies_alpha = has_alpha && of_grey;
    colour->transform = cmsCreateTransformTHR(
      context, from, input_format(pixels, of_grey), to, has_alpha ? TYPE_RGBA_8 : TYPE_RGB_8,
      INTENT_RELATIVE_COLORIMETRIC,
      cmsFLAGS_BLACKPOINTCOMPENSATION | (has_alpha && !of_grey ? cmsFLAGS_COPY_ALPHA : 0));
  }
  if (from) cmsCloseProfile(from);
  if (to) cmsCloseProfile(to);
  if (colour && colour->transform) return colour;
  free(colour);
  cmsDeleteContext(context);
  return NULL;
}

codec_colour *codec_colour_of_profile(
  const uint8_t *profile, size_t size, const codec_pixels *pixels
) {
  cmsContext context = cmsCreateContext(NULL, NULL);
  if (!context) return NULL;
  return connect(context, cmsOpenProfileFromMemTHR(context, profile, (cmsUInt32Number)size), pixels);
}

codec_colour *codec_colour_of_curve(
  const double *curve, const float *table, size_t entries, const double *chromaticities,
  const codec_pixels *pixels
) {
  cmsContext context = cmsCreateContext(NULL, NULL);
  if (!context) return NULL;
  const double *c = chromaticities;
  cmsCIExyY white = {c[0], c[1], 1};
  cmsCIExyYTRIPLE primaries = {{c[2], c[3], 1}, {c[4], c[5], 1}, {c[6], c[7], 1}};
  cmsToneCurve *tone = entries > 0
    ? cmsBuildTabulatedToneCurveFloat(context, (cmsUInt32Number)entries, table)
    : cmsBuildParametricToneCurve(context, curve[1] != 0 ? 4 : 1, curve);
  cmsHPROFILE profile = NULL;
  if (tone && pixels->channels == 1) {
    profile = cmsCreateGrayProfileTHR(context, &white, tone);
  } else if (tone) {
    cmsToneCurve *tones[3] = {tone, tone, tone};
    profile = cmsCreateRGBProfileTHR(context, &white, &primaries, tones);
  }
  cmsFreeToneCurve(tone);
  return connect(context, profile, pixels);
}

void codec_colour_apply(const codec_colour *colour, const void *from, uint8_t *to, size_t pixels) {
  cmsDoTransform(colour->transform, from, to, (cmsUInt32Number)pixels);
  if (!colour->copies_alpha) return;
  const uint8_t *narrow = from;
  const uint16_t *wide = from;
  for (size_t i = 3; i < 4 * pixels; i += 4) {
    to[i] = colour->sixteen ? (uint8_t)((wide[i] * 255u + 32767) / 65535) : narrow[i];
  }
}

void codec_colour_close(codec_colour *colour) {
  if (!colour) return;
  cmsDeleteTransform(colour->transform);
  cmsDeleteContext(colour->context);
  free(colour);
}
