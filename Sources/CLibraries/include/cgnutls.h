#pragma once
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stddef.h>

/* SHA-256 of a block of memory, as 64 lower-case hexadecimal digits and a NUL (gnutls_hash_fast). */
void cgnutls_sha256_hex(const void *bytes, size_t count, char hex[65]);
