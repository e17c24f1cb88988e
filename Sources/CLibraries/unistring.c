#include "cunistring.h"

#include <string.h>
#include <unicase.h>
#include <uninorm.h>
#include <unictype.h>

uint8_t *cunistring_compose(const uint8_t *text, size_t count, size_t *result_count) {
  return u8_normalize(UNINORM_NFC, text, count, NULL, result_count);
}

uint8_t *cunistring_compose_compatibly(const uint8_t *text, size_t count, size_t *result_count) {
  return u8_normalize(UNINORM_NFKC, text, count, NULL, result_count);
}

long cunistring_script(uint32_t character) {
  const uc_script_t *script = uc_script(character);
  if (!script) return CUNISTRING_OTHER;
  if (!strcmp(script->name, "Greek")) return CUNISTRING_GREEK;
  if (!strcmp(script->name, "Hebrew")) return CUNISTRING_HEBREW;
  bool is_japanese = !strcmp(script->name, "Hiragana") || !strcmp(script->name, "Katakana") ||
                     !strcmp(script->name, "Han");
  return is_japanese ? CUNISTRING_JAPANESE : CUNISTRING_OTHER;
}

long cunistring_joining(uint32_t character) {
  switch (uc_joining_type(character)) {
    case UC_JOINING_TYPE_T: return CUNISTRING_TRANSPARENT;
    case UC_JOINING_TYPE_L: return CUNISTRING_JOINS_NEXT;
    case UC_JOINING_TYPE_R: return CUNISTRING_JOINS_PREVIOUS;
    case UC_JOINING_TYPE_D: return CUNISTRING_JOINS_PREVIOUS | CUNISTRING_JOINS_NEXT;
    default: return 0;
  }
}

uint8_t *cunistring_fold(const uint8_t *text, size_t count, size_t *result_count) {
  return u8_casefold(text, count, NULL, UNINORM_NFKD, NULL, result_count);
}
