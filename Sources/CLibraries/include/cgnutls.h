#pragma once
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stddef.h>

/* SHA-256 of a block of memory, as 64 lower-case hexadecimal digits and a NUL (gnutls_hash_fast). */
void cgnutls_sha256_hex(const void *bytes, size_t count, char hex[65]);

/* The same of a part of a file, which is read. False with errno if that fails; EIO if the file is too short. */
_Bool cgnutls_sha256_hex_of_file(int file, long offset, size_t count, char hex[65]);

/* HMAC-SHA-256 of a block of memory (gnutls_hmac_fast). */
void cgnutls_hmac_sha256(const void *key, size_t key_size, const void *bytes, size_t count,
                         unsigned char code[32]);

/* Signs a block of memory with ES256 (RFC 7518 section 3.4: r and s, 32 bytes each).
   `pem` is a P-256 private key in PKCS#8 or SEC1. Returns NULL, or why it did not work. */
const char *cgnutls_es256_sign(const char *pem, size_t pem_size, const void *bytes, size_t count,
                               unsigned char signature[64]);

/* The same with a raw key: 32 bytes, and its point on P-256 (4, x, y). */
const char *cgnutls_es256_sign_raw(const unsigned char key[32], const unsigned char point[65],
                                   const void *bytes, size_t count, unsigned char signature[64]);

/* The most bytes of an RSA signature. */
enum { CGNUTLS_LONGEST_RSA = 1024 };

/* Signs a block of memory with RS256 (RFC 7518 section 3.3). `pem` is an RSA key in PKCS#8 or PKCS#1.
   Returns NULL, or why it did not work. */
const char *cgnutls_rs256_sign(const char *pem, size_t pem_size, const void *bytes, size_t count,
                               unsigned char signature[CGNUTLS_LONGEST_RSA], size_t *size);

/* Random bytes for keys (gnutls_rnd); false if the system has none. */
_Bool cgnutls_random(void *bytes, size_t count);

/* HKDF with SHA-256 (RFC 5869). */
_Bool cgnutls_hkdf_sha256(const void *salt, size_t salt_size, const void *key, size_t key_size,
                          const void *info, size_t info_size, void *output, size_t output_size);

/* AES-128-GCM without associated data: `count` bytes and a tag of 16. */
_Bool cgnutls_aes128gcm_encrypt(const unsigned char key[16], const unsigned char nonce[12],
                                const void *bytes, size_t count, unsigned char *output);

/* The reverse: `count` bytes including the tag; false if they were changed. */
_Bool cgnutls_aes128gcm_decrypt(const unsigned char key[16], const unsigned char nonce[12],
                                const void *bytes, size_t count, unsigned char *output);
