#include "cqrcode.h"

#include <qrencode.h>
#include <stdlib.h>

uint8_t *cqrcode_modules(const char *text, size_t *width) {
  // The smallest version that holds the text; a seventh of the code may be covered.
  QRcode *code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M);
  if (!code) return NULL;
  size_t count = (size_t)code->width * (size_t)code->width;
  uint8_t *modules = malloc(count);
  if (modules) {
    for (size_t index = 0; index < count; index++) modules[index] = code->data[index] & 1;
    *width = (size_t)code->width;
  }
  QRcode_free(code);
  return modules;
}
