#pragma once
#include <stddef.h>
#include <stdint.h>

/* A block of memory as gzip (RFC 1952), allocated with malloc, its length in `size`; NULL if there is no memory. */
uint8_t *czlib_gzip(const void *bytes, size_t count, size_t *size);
