#pragma once
/* The doors to libjpeg, libpng and LittleCMS. setjmp stays behind them, nothing here calls back, and every
   function that can fail fills `message` (CODEC_MESSAGE bytes) with the library's own words. */
#include <stddef.h>
#include <stdint.h>

enum { CODEC_MESSAGE = 200, CODEC_PLANES = 4 };

/* Where compressed bytes come from: `bytes` when it is set, else the descriptor, read with pread from offset 0. */
typedef struct { const uint8_t *bytes; size_t size; int fd; } codec_source;

/* Compressed bytes made by a writer; codec_free gives them back. */
typedef struct { uint8_t *bytes; size_t size; } codec_buffer;
void codec_free(codec_buffer *buffer);

/* ---- JPEG in: open (header) -> start (scale) -> band, band, ... -> finish -> close ---- */
enum { CODEC_GREY = 1, CODEC_RGB = 2, CODEC_YCC = 3, CODEC_CMYK = 4, CODEC_YCCK = 5 };

typedef struct {
  int width, height;     /* samples of this plane at the chosen scale */
  int row_bytes;         /* bytes a row is written with: whole blocks */
  int band_rows;         /* rows one band brings */
  double across, down;   /* samples per pixel of the full picture */
} codec_plane;

typedef struct {
  int width, height, components, colour, progressive;
  int several_scans;     /* whether its coefficients are held completely, as those of a progressive one always are */
  int horizontal[CODEC_PLANES], vertical[CODEC_PLANES];   /* sampling factors */
  codec_plane planes[CODEC_PLANES];                       /* valid after codec_jpeg_start */
} codec_jpeg_info;

/* Where the rows of one band go: row i of plane p is at rows[p] + i * strides[p]. */
typedef struct { uint8_t *rows[CODEC_PLANES]; size_t strides[CODEC_PLANES]; } codec_band;

/* How well the data read: warnings of libjpeg, and whether the file ended early. */
typedef struct { int warnings, truncated, scans; char first[CODEC_MESSAGE]; } codec_jpeg_health;

typedef struct codec_jpeg codec_jpeg;
codec_jpeg *codec_jpeg_open(codec_source source, codec_jpeg_info *info, char *message);
/* eighths is 1, 2, 4 or 8. A progressive file at 1/8 is read only as far as its coefficients are used.
   More than scan_limit scans are an error. */
int codec_jpeg_start(codec_jpeg *jpeg, int eighths, int scan_limit, codec_jpeg_info *info, char *message);
/* 1: a band was written; 0: there are no more; -1: error; 2: the file is unusual, and all bands are void: begin again
   with codec_jpeg_start. */
int codec_jpeg_band(codec_jpeg *jpeg, const codec_band *band, char *message);
/* Instead of codec_jpeg_start: full size, rows of interleaved grey, RGB or CMYK samples (inks as stored). */
int codec_jpeg_start_rows(codec_jpeg *jpeg, int scan_limit, char *message);
/* 1: a row was written; 0: there are no more; -1: error. */
int codec_jpeg_row(codec_jpeg *jpeg, uint8_t *row, char *message);
/* Reads what is left of the file, so that its end is known. */
int codec_jpeg_finish(codec_jpeg *jpeg, char *message);
void codec_jpeg_health_of(const codec_jpeg *jpeg, codec_jpeg_health *health);
void codec_jpeg_close(codec_jpeg *jpeg);

/* ---- JPEG out ---- */
/* channels 1 or 3 interleaved in planes[0]; or, with planar, Y and half-size Cb and Cr in planes[0...2],
   rows padded to whole blocks (16 samples of Y, 8 of Cb and Cr). */
typedef struct {
  int width, height, channels, planar;
  const uint8_t *planes[3];
  size_t strides[3];
} codec_raster;
int codec_jpeg_write(const codec_raster *raster, int quality, int optimise, codec_buffer *out, char *message);

/* ---- PNG in: open (header) -> start -> rows, rows, ... -> close ---- */
typedef struct {
  int width, height, depth, colour_type, interlaced;
  int channels;                    /* of the rows delivered: 1 grey, 3 RGB, 4 RGBA */
  int has_transparency, has_srgb, has_gamma, has_chromaticities;
  double gamma, chromaticities[8]; /* white x y, red, green, blue */
  const uint8_t *profile;          /* iCCP, inflated; lives as long as the reader */
  size_t profile_size;
  int limited;                     /* a profile was left out because it inflates beyond the limit */
} codec_png_info;

typedef struct codec_png codec_png;
/* Chunks that inflate or cache beyond chunk_limit bytes are refused; checking verifies the pixels' CRC and Adler-32. */
codec_png *codec_png_open(
  codec_source source, size_t chunk_limit, int checking, codec_png_info *info, char *message);
/* sixteen: rows of 16-bit samples in the machine's byte order, else 8-bit ones (rounded). */
int codec_png_start(codec_png *png, int sixteen, codec_png_info *info, char *message);
int codec_png_rows(codec_png *png, uint8_t *to, size_t stride, int count, char *message);
/* Reads the chunks behind the pixels. */
int codec_png_finish(codec_png *png, char *message);
void codec_png_close(codec_png *png);

/* ---- PNG out ---- */
/* Samples of a byte each in planes[0]: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA; a single one may be below 2^depth
   with a depth of 1, 2, 4 or 8, the others have 8. With colours > 0 that one is the number of a colour in the palette,
   which holds colours RGBA quadruples. */
int codec_png_write(
  const codec_raster *raster, const uint8_t *palette, int colours, int depth, int level, int filtered,
  codec_buffer *out, char *message);

/* ---- Colour ---- */
/* Rows of planes (`colour` as in codec_jpeg_info) as interleaved RGB or, for four planes, CMYK. */
void codec_mix(const uint8_t *const *rows, int channels, int colour, uint8_t *out, int width);
/* CMYK without a profile. */
void codec_inks_to_rgb(const uint8_t *cmyk, uint8_t *rgb, int width);

/* What goes into a transform: grey, RGB, RGBA or inks (CMYK), of 8 or 16 bits. The samples of inks are the
   light that each leaves, 255 for none of it: so Adobe stores them in a JPEG, and so every program reads them there,
   whether the file has Adobe's marker or not. */
typedef struct { int channels, inks, sixteen; } codec_pixels;

/* A transform to 8-bit sRGB (RGBA when the pixels have alpha), relative colorimetric with black-point
   compensation; NULL when the profile is broken or is not for such pixels. */
typedef struct codec_colour codec_colour;
codec_colour *codec_colour_of_profile(const uint8_t *profile, size_t size, const codec_pixels *pixels);
/* From a curve (gamma, and a b c d of ICC's parametric type 3, or zeros; or, with entries, a table of light from
   0 to 1) and white and primaries, x y each. */
codec_colour *codec_colour_of_curve(
  const double *curve, const float *table, size_t entries, const double *chromaticities,
  const codec_pixels *pixels);
void codec_colour_apply(const codec_colour *colour, const void *from, uint8_t *to, size_t pixels);
void codec_colour_close(codec_colour *colour);

/* ---- Decoding in another process ---- */
/* Starts img-decode, which is beside the running program, for an open file; -1 when it is missing. Its output can be
   read from the descriptor. */
int codec_decoder_start(int file, int *output);
/* Ends it. */
void codec_decoder_end(int process);

/* ---- Kernels ---- */
/* out[x] = sum of weights[k] * rows[k][x]: 8-bit samples, Q14 weights, Q6 result. */
void codec_blend_rows(
  const uint8_t *const *rows, const int16_t *weights, int taps, int16_t *out, int count);
/* Column x is the weighted sum of `taps` (a multiple of 8 for one channel, else of 2) pixels from starts[x]:
   Q6 samples, Q14 weights, rounded and clamped. `in` is readable eight pixels past its end. With dividing,
   pixels are RGBA whose colours carry alpha and come out without it. */
void codec_blend_columns(
  const int16_t *in, const int16_t *weights, const int32_t *starts, int taps, uint8_t *out, int width,
  int channels, int dividing);
/* sums[i] += row[i]. */
void codec_add_row(const uint8_t *row, uint32_t *sums, size_t count);
/* Multiplies colour by alpha in place. */
void codec_premultiply(uint8_t *rgba, size_t pixels);

/* ---- Linear light ---- */
/* 8-bit codes as light from 0 to 1 by a table of 256; of RGBA the colours are multiplied by alpha. */
void codec_light_of_row(const uint8_t *row, const float *light, float *out, size_t pixels, int channels);
/* Column x is the weighted sum (Q14) of `taps` pixels from starts[x]; `in` is readable `taps` pixels past its end. */
void codec_light_columns(
  const float *in, const int16_t *weights, const int32_t *starts, int taps, float *out, int width, int channels);
void codec_light_rows(const float *const *rows, const int16_t *weights, int taps, float *out, int count);
/* Light as 8-bit codes by a table of 65536; of four channels colour is divided by alpha again. */
void codec_light_to_row(const float *in, const uint8_t *codes, uint8_t *out, size_t pixels, int channels);
