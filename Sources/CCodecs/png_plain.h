#pragma once
/* The rows of a PNG whose samples are 8-bit grey, RGB or RGBA, not interlaced, and wanted as they are. */
#include "ccodecs.h"

struct png_plain;

/* Begins at the data of the first IDAT, which are at offset `at`. NULL when there is no memory. */
struct png_plain *png_plain_open(codec_source from, size_t at, size_t row_bytes, int channels);

/* Reads the next row; what is wrong, or NULL. */
const char *png_plain_row(struct png_plain *plain, uint8_t *to);

void png_plain_close(struct png_plain *plain);
