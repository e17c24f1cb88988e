#pragma once
#include <stddef.h>
#include <stdint.h>

/* The composed form (NFC, UAX #15) of `count` bytes of UTF-8, allocated with malloc, its length in `result_count`; NULL if
   there is no memory, or the text is not UTF-8. */
uint8_t *cunistring_compose(const uint8_t *text, size_t count, size_t *result_count);

/* The same with compatibility characters replaced, such as wide letters and ligatures (NFKC). */
uint8_t *cunistring_compose_compatibly(const uint8_t *text, size_t count, size_t *result_count);

/* Scripts that rules for passwords name (RFC 5892, appendix A); Hiragana, Katakana and Han are one. */
enum { CUNISTRING_OTHER, CUNISTRING_GREEK, CUNISTRING_HEBREW, CUNISTRING_JAPANESE };
long cunistring_script(uint32_t character);

/* How a character joins its neighbours in cursive scripts: a set of these. */
enum {
  CUNISTRING_TRANSPARENT = 1,
  CUNISTRING_JOINS_PREVIOUS = 2,
  CUNISTRING_JOINS_NEXT = 4,
};
long cunistring_joining(uint32_t character);

/* The text without differences of case, decomposed (NFKD, UAX #15), to be compared; as above. */
uint8_t *cunistring_fold(const uint8_t *text, size_t count, size_t *result_count);
