#include "cunistring.h"

#include <uninorm.h>

uint8_t *cunistring_compose(const uint8_t *text, size_t count, size_t *result_count) {
  return u8_normalize(UNINORM_NFC, text, count, NULL, result_count);
}

uint8_t *cunistring_compose_compatibly(const uint8_t *text, size_t count, size_t *result_count) {
  return u8_normalize(UNINORM_NFKC, text, count, NULL, result_count);
}
