#pragma once
#include <stddef.h>
#include <stdint.h>

/* The composed form (NFC, UAX #15) of `count` bytes of UTF-8, allocated with malloc, its length in `result_count`; NULL if
   there is no memory, or the text is not UTF-8. */
uint8_t *cunistring_compose(const uint8_t *text, size_t count, size_t *result_count);

/* The same with compatibility characters replaced, such as wide letters and ligatures (NFKC). */
uint8_t *cunistring_compose_compatibly(const uint8_t *text, size_t count, size_t *result_count);
