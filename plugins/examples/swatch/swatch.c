/* The rich type swatch, in C on libfcgi, resident: a colour such as #5C4FF2 as a picture.
 *
 *   cc -O2 -o swatch swatch.c -lfcgi
 *
 * A PNG is a few chunks; the picture's bytes are stored in it and not compressed, so no library is
 * needed. RICH_WIDTH and RICH_HEIGHT say how large it shall be. */
#include <fcgi_stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint32_t crc_of(const uint8_t *bytes, size_t count) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < count; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

static uint8_t *put(uint8_t *to, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) *to++ = (uint8_t)(number >> shift);
  return to;
}

/* A chunk of `count` bytes that stand at `to + 8` already. */
static uint8_t *close_chunk(uint8_t *to, const char *type, size_t count) {
  put(to, (uint32_t)count);
  memcpy(to + 4, type, 4);
  return put(to + 8 + count, crc_of(to + 4, count + 4));
}

/* A palette of one colour, and rows of one bit a pixel that are all 0. */
static size_t draw(uint8_t *png, uint32_t colour, uint32_t width, uint32_t height) {
  static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  size_t count = height * (1 + (width + 7) / 8);
  memcpy(png, signature, 8);
  uint8_t *at = png + 8;
  memcpy(put(put(at + 8, width), height), "\1\3\0\0\0", 5);
  at = close_chunk(at, "IHDR", 13);
  for (int i = 0; i < 3; i++) at[8 + i] = (uint8_t)(colour >> (16 - 8 * i));
  at = close_chunk(at, "PLTE", 3);
  uint8_t *data = at + 8;
  *data++ = 0x78, *data++ = 1;  /* zlib: stored blocks */
  for (size_t left = count; left;) {
    size_t block = left < 65535 ? left : 65535;
    left -= block;
    *data++ = !left;
    *data++ = block & 255, *data++ = block >> 8, *data++ = ~block & 255, *data++ = ~block >> 8 & 255;
    memset(data, 0, block), data += block;
  }
  data = put(data, (uint32_t)(count % 65521) << 16 | 1); /* Adler-32 of so many zeroes */
  at = close_chunk(at, "IDAT", (size_t)(data - at - 8));
  return (size_t)(close_chunk(at, "IEND", 0) - png);
}

static uint32_t edge(const char *name) {
  const char *text = getenv(name);
  long size = text ? atol(text) : 0;
  return size >= 1 && size <= 2560 ? (uint32_t)size : 320;
}

int main(void) {
  static uint8_t png[1 << 20];
  while (FCGI_Accept() >= 0) {
    const char *payload = getenv("RICH_PAYLOAD"), *verb = getenv("RICH_VERB");
    if (!payload || *payload != '#' || strlen(payload) != 7 ||
        strspn(payload + 1, "0123456789abcdefABCDEF") != 6) {
      printf("Status: 422\r\nContent-Type: text/plain\r\n\r\nA swatch is a colour such as #5C4FF2.");
    } else if (verb && strcmp(verb, "validate") == 0) {
      printf("Content-Type: application/json\r\n\r\n{\"title\":\"%s\"}", payload);
    } else {
      size_t size = draw(png, (uint32_t)strtoul(payload + 1, NULL, 16), edge("RICH_WIDTH"), edge("RICH_HEIGHT"));
      printf("Content-Type: image/png\r\n\r\n");
      fwrite(png, 1, size, stdout);
    }
  }
  return 0;
}
