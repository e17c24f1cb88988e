#pragma once
/* A decoded picture, and how it goes to img: a head, a status, and then rows without padding, top to bottom. */
#include <stddef.h>
#include <stdint.h>

enum status {
  STATUS_OK, STATUS_DAMAGED, STATUS_INCOMPLETE, STATUS_TOO_LARGE, STATUS_UNSUPPORTED, STATUS_NO_PRIMARY,
  STATUS_UNKNOWN_CODING, STATUS_UNKNOWN_PROPERTY /* the text is its code of four characters */
};

struct source {
  const uint8_t *bytes;
  size_t size;
};

/* Sent before decoding, behind "img1"; numbers are in this machine's byte order. */
struct head {
  uint32_t width, height; /* as they are seen, but for the EXIF orientation of a WebP */
  uint32_t channels, depth; /* RGB or RGBA; 8 or 16 bits */
  uint32_t is_animation;
  uint8_t code_points[4]; /* primaries, transfer, matrix 0, full range (ITU-T H.273); zeros when unknown */
  uint32_t profile_size; /* of the ICC profile that follows */
};

/* Sends the head with a profile. */
void send_head(const struct head *head, const uint8_t *profile);
/* Ends with the head's picture: nothing but its rows is sent after this. */
void send_rows(const struct head *head, const uint8_t *rows, size_t stride);
/* Ends with a status other than STATUS_OK and a text for a log. */
_Noreturn void refuse(enum status status, const char *text);

void decode_heif(struct source source);
void decode_webp(struct source source);
