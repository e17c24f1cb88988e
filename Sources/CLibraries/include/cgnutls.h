#pragma once
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stddef.h>

/* SHA-256 of a block of memory, as 64 lower-case hexadecimal digits and a NUL (gnutls_hash_fast). */
void cgnutls_sha256_hex(const void *bytes, size_t count, char hex[65]);

/* HMAC-SHA-256 of a block of memory (gnutls_hmac_fast). */
void cgnutls_hmac_sha256(const void *key, size_t key_size, const void *bytes, size_t count,
                         unsigned char code[32]);

/* Signs a block of memory with ES256 (RFC 7518 section 3.4: r and s, 32 bytes each).
   `pem` is a P-256 private key in PKCS#8 or SEC1. Returns NULL, or why it did not work. */
const char *cgnutls_es256_sign(const char *pem, size_t pem_size, const void *bytes, size_t count,
                               unsigned char signature[64]);
