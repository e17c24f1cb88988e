#pragma once
#include <stddef.h>
#include <stdint.h>

/* The modules of the QR code (ISO/IEC 18004) of a text, row by row, 1 for a dark one, without a quiet zone; allocated with
   malloc, the length of a row in `width`. NULL if there is no memory, or the text is empty or too long. */
uint8_t *cqrcode_modules(const char *text, size_t *width);
