/* HEIF and AVIF by libheif, which turns, crops and joins tiles as the file says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libheif/heif.h>

#include "excerpt.h"
#include "picture.h"

/* The primaries and the transfer that stand for sRGB when a file does not say (ITU-T H.273). */
enum { UNSPECIFIED = 2 };

/* libheif's errors, by its subcodes: its codes alone don't tell what is wrong with a file from what it can't read. */
static enum status status_of(struct heif_error error) {
  int subcode = error.subcode;
  switch (subcode) {
  case heif_suberror_End_of_data: return STATUS_INCOMPLETE;
  case heif_suberror_Security_limit_exceeded: return STATUS_TOO_LARGE;
  case heif_suberror_Unsupported_bit_depth: case heif_suberror_Unknown_color_profile_type:
  case heif_suberror_Unknown_NCLX_color_primaries: case heif_suberror_Unknown_NCLX_transfer_characteristics:
  case heif_suberror_Unknown_NCLX_matrix_coefficients: return STATUS_UNSUPPORTED;
  default: break;
  }
  /* All of "Unsupported_feature", which newer versions have more of. */
  if (subcode >= heif_suberror_Unsupported_codec && subcode < heif_suberror_Unsupported_bit_depth)
    return STATUS_UNSUPPORTED;
  switch (error.code) {
  case heif_error_Memory_allocation_error: return STATUS_TOO_LARGE;
  case heif_error_Unsupported_feature: case heif_error_Unsupported_filetype: case heif_error_Plugin_loading_error:
    return STATUS_UNSUPPORTED;
  default: return STATUS_DAMAGED;
  }
}

static void require(struct heif_error error) {
  if (error.code != heif_error_Ok) refuse(status_of(error), error.message);
}

static uint32_t number(const uint8_t *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Whether the file's brands have one of a sequence of pictures. */
static int is_sequence(struct source source) {
  size_t end = number(source.bytes) < source.size ? number(source.bytes) : source.size;
  for (size_t at = 8; at + 4 <= end; at += 4) {
    if (memcmp(source.bytes + at, "avis", 4) == 0 || memcmp(source.bytes + at, "msf1", 4) == 0 ||
        memcmp(source.bytes + at, "hevc", 4) == 0)
      return 1;
  }
  return 0;
}

/* The ICC profile, or else the code points of the colour space. */
static uint8_t *colour(const struct heif_image_handle *handle, struct head *head) {
  enum { LARGEST_PROFILE = 4 << 20 };
  size_t size = heif_image_handle_get_raw_color_profile_size(handle);
  uint8_t *profile = size > 0 && size <= LARGEST_PROFILE ? malloc(size) : NULL;
  if (profile && heif_image_handle_get_raw_color_profile(handle, profile).code == heif_error_Ok) {
    head->profile_size = (uint32_t)size;
    return profile;
  }
  struct heif_color_profile_nclx *nclx = NULL;
  if (heif_image_handle_get_nclx_color_profile(handle, &nclx).code == heif_error_Ok && nclx) {
    int primaries = (int)nclx->color_primaries, transfer = (int)nclx->transfer_characteristics;
    head->code_points[0] = primaries == UNSPECIFIED ? 1 : (uint8_t)primaries;
    head->code_points[1] = transfer == UNSPECIFIED ? 13 : (uint8_t)transfer;
    head->code_points[3] = 1;
    heif_nclx_color_profile_free(nclx);
  }
  return NULL;
}

/* Samples of `depth` bits as samples of 16 bits. */
static void widen(uint8_t *rows, int stride, const struct head *head, int depth) {
  for (uint32_t y = 0; y < head->height; y++) {
    uint16_t *row = (uint16_t *)(void *)(rows + (size_t)y * (size_t)stride);
    for (size_t i = 0; i < (size_t)head->width * head->channels; i++)
      row[i] = (uint16_t)(row[i] << (16 - depth) | row[i] >> (2 * depth - 16));
  }
}

/* Divides colours by the alpha that they were multiplied by. */
static void divide(uint8_t *rows, int stride, const struct head *head) {
  int is_wide = head->depth == 16;
  uint32_t most = is_wide ? 65535 : 255;
  for (uint32_t y = 0; y < head->height; y++) {
    uint8_t *narrow = rows + (size_t)y * (size_t)stride;
    uint16_t *wide = (uint16_t *)(void *)narrow;
    for (size_t i = 0; i < (size_t)head->width * 4; i++) {
      uint32_t alpha = is_wide ? wide[i | 3] : narrow[i | 3], value = is_wide ? wide[i] : narrow[i];
      if ((i & 3) == 3 || alpha == 0) continue;
      uint64_t divided = ((uint64_t)value * most + alpha / 2) / alpha;
      if (divided > most) divided = most;
      if (is_wide) wide[i] = (uint16_t)divided;
      else narrow[i] = (uint8_t)divided;
    }
  }
}

/* Alpha of another size than the picture, which libheif 1.15 has among other auxiliary pictures; NULL when there is
 * none. */
static struct heif_image_handle *other_alpha(const struct heif_image_handle *handle) {
  heif_item_id id;
  struct heif_image_handle *alpha = NULL;
  if (!heif_image_handle_has_alpha_channel(handle) &&
      heif_image_handle_get_list_of_auxiliary_image_IDs(handle, LIBHEIF_AUX_IMAGE_FILTER_OMIT_DEPTH, &id, 1) == 1)
    require(heif_image_handle_get_auxiliary_image_handle(handle, id, &alpha));
  return alpha;
}

/* Decodes alpha, and puts it into rows in their size. */
static void put_alpha(const struct heif_image_handle *handle, uint8_t *rows, int stride, const struct head *head) {
  struct heif_image *image = NULL, *alpha = NULL;
  require(heif_decode_image(handle, &image, heif_colorspace_monochrome, heif_chroma_monochrome, NULL));
  require(heif_image_scale_image(image, &alpha, (int)head->width, (int)head->height, NULL));
  int from_stride = 0, bits = heif_image_get_bits_per_pixel_range(alpha, heif_channel_Y);
  const uint8_t *from = heif_image_get_plane_readonly(alpha, heif_channel_Y, &from_stride);
  if (!from || bits < 8 || bits > 16) refuse(STATUS_UNSUPPORTED, "alpha of a strange bit depth");
  for (uint32_t y = 0; y < head->height; y++, from += from_stride, rows += stride) {
    const uint16_t *from_wide = (const uint16_t *)(const void *)from;
    uint16_t *wide = (uint16_t *)(void *)rows;
    for (uint32_t x = 0; x < head->width; x++) {
      uint32_t sample = bits == 8 ? from[x] : from_wide[x];
      uint32_t full = bits == 8 ? sample * 257 : sample << (16 - bits) | sample >> (2 * bits - 16);
      if (head->depth == 16) wide[4 * x + 3] = (uint16_t)full;
      else rows[4 * x + 3] = (uint8_t)(full >> 8);
    }
  }
}

void decode_heif(struct source source) {
  int is_animation = is_sequence(source);
  struct excerpt excerpt;
  if (!make_excerpt(&excerpt, source))
    refuse(is_animation ? STATUS_NO_PRIMARY : STATUS_DAMAGED, "no primary picture");
  struct heif_context *context = heif_context_alloc();
  struct heif_image_handle *handle = NULL;
  if (!context) refuse(STATUS_TOO_LARGE, "out of memory");
  heif_context_set_max_decoding_threads(context, 0);
  struct heif_error error = heif_context_read_from_reader(context, &excerpt_reader, &excerpt, NULL);
  if (error.code == heif_error_Ok) error = heif_context_get_primary_image_handle(context, &handle);
  if (error.code != heif_error_Ok && is_animation) refuse(STATUS_NO_PRIMARY, error.message);
  require(error);

  int depth = heif_image_handle_get_luma_bits_per_pixel(handle);
  struct heif_image_handle *alpha = other_alpha(handle);
  int has_alpha = alpha || heif_image_handle_has_alpha_channel(handle);
  struct head head = {
    .width = (uint32_t)heif_image_handle_get_width(handle),
    .height = (uint32_t)heif_image_handle_get_height(handle), .channels = has_alpha ? 4 : 3,
    .depth = depth > 8 ? 16 : 8, .is_animation = (uint32_t)is_animation,
  };
  uint8_t *profile = colour(handle, &head);
  send_head(&head, profile);

  struct heif_decoding_options *options = heif_decoding_options_alloc();
  if (!options) refuse(STATUS_TOO_LARGE, "out of memory");
  options->strict_decoding = 1;
  enum heif_chroma chroma = head.depth == 8
    ? (has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB)
    : (has_alpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE);
  struct heif_image *image = NULL;
  require(heif_decode_image(handle, &image, heif_colorspace_RGB, chroma, options));
  int stride = 0, bits = heif_image_get_bits_per_pixel_range(image, heif_channel_interleaved);
  uint8_t *rows = heif_image_get_plane(image, heif_channel_interleaved, &stride);
  if (!rows || heif_image_get_width(image, heif_channel_interleaved) != (int)head.width ||
      heif_image_get_height(image, heif_channel_interleaved) != (int)head.height)
    refuse(STATUS_DAMAGED, "the coded picture has another size");
  if (head.depth == 16 && (bits < 9 || bits > 16)) refuse(STATUS_UNSUPPORTED, "a strange bit depth");
  if (head.depth == 16 && bits < 16) widen(rows, stride, &head, bits);
  if (alpha) put_alpha(alpha, rows, stride, &head);
  if (has_alpha && heif_image_handle_is_premultiplied_alpha(handle)) divide(rows, stride, &head);
  send_rows(&head, rows, (size_t)stride);
}
