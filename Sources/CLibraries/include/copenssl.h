#pragma once
#include <stddef.h>

/* Hashes, codes, ciphers and signatures by OpenSSL 3. Safe in all threads at once. What cannot fail but for a broken
   library or a lack of memory ends the process then: a wrong hash would name another's content. */

/* SHA-256 of a block of memory; `digest` has 32 bytes. */
void copenssl_sha256(const void *bytes, size_t count, void *digest);

/* SHA-1 of a block of memory, which protects nothing: the handshake of a WebSocket has it (RFC 6455, section 1.3). */
void copenssl_sha1(const void *bytes, size_t count, unsigned char digest[20]);

/* SHA-256, as 64 lower-case hexadecimal digits and a NUL. */
void copenssl_sha256_hex(const void *bytes, size_t count, char hex[65]);

/* The same of a part of a file, which is read. False with errno if that fails; EIO if the file is too short. */
_Bool copenssl_sha256_hex_of_file(int file, long offset, size_t count, char hex[65]);

/* SHA-256 of what comes in pieces. */
struct copenssl_hash;
struct copenssl_hash *copenssl_hash_make(void);
void copenssl_hash_add(struct copenssl_hash *hash, const void *bytes, size_t count);
/* The digest of all pieces so far; then it begins again. */
void copenssl_hash_finish(struct copenssl_hash *hash, unsigned char digest[32]);
void copenssl_hash_free(struct copenssl_hash *hash);

/* HMAC-SHA-256 of a block of memory. */
void copenssl_hmac_sha256(const void *key, size_t key_size, const void *bytes, size_t count,
                          unsigned char code[32]);

/* HKDF with SHA-256 (RFC 5869): 32 bytes at most, by an `info` of 255 at most; false for more. */
_Bool copenssl_hkdf_sha256(const void *salt, size_t salt_size, const void *key, size_t key_size,
                           const void *info, size_t info_size, unsigned char *output,
                           size_t output_size);

/* AES-128-GCM without associated data: `count` bytes and a tag of 16. */
_Bool copenssl_aes128gcm_encrypt(const unsigned char key[16], const unsigned char nonce[12],
                                 const void *bytes, size_t count, unsigned char *output);

/* The reverse: `count` bytes including the tag; false if they were changed. */
_Bool copenssl_aes128gcm_decrypt(const unsigned char key[16], const unsigned char nonce[12],
                                 const void *bytes, size_t count, unsigned char *output);

/* Signs a block of memory with ES256 (RFC 7518 section 3.4: r and s, 32 bytes each).
   `pem` is a P-256 private key in PKCS#8 or SEC1. Returns NULL, or why it did not work. */
const char *copenssl_es256_sign(const char *pem, size_t pem_size, const void *bytes, size_t count,
                                unsigned char signature[64]);

/* The same with a raw key: 32 bytes, and its point on P-256 (4, x, y). */
const char *copenssl_es256_sign_raw(const unsigned char key[32], const unsigned char point[65],
                                    const void *bytes, size_t count, unsigned char signature[64]);

/* The most bytes of an RSA signature. */
enum { COPENSSL_LONGEST_RSA = 1024 };

/* Signs a block of memory with RS256 (RFC 7518 section 3.3). `pem` is an RSA key in PKCS#8 or PKCS#1.
   Returns NULL, or why it did not work. */
const char *copenssl_rs256_sign(const char *pem, size_t pem_size, const void *bytes, size_t count,
                                unsigned char signature[COPENSSL_LONGEST_RSA], size_t *size);

/* Whether a signature of a block of memory is right: RS256 or, with `is_pss`, PS256 (RFC 7518, sections 3.3 and 3.5).
   The RSA key has 2048 to 8192 bits; modulus and exponent are big-endian. */
_Bool copenssl_rsa_verify(const unsigned char *modulus, size_t modulus_size,
                          const unsigned char *exponent, size_t exponent_size, _Bool is_pss,
                          const void *bytes, size_t count, const unsigned char *signature,
                          size_t size);

/* The same for ES256, with a point on P-256 (4, x, y). */
_Bool copenssl_es256_verify(const unsigned char point[65], const void *bytes, size_t count,
                            const unsigned char signature[64]);

/* Diffie-Hellman on P-256 (NIST SP 800-186). A point is uncompressed: 4, x, y. All numbers are big-endian. */

/* Whether `point` is on the curve. */
_Bool copenssl_p256_is_point(const unsigned char point[65]);

/* The point of a private key; false if the key is 0 or not below the curve's order. */
_Bool copenssl_p256_public(const unsigned char key[32], unsigned char point[65]);

/* The x coordinate that a private key and another's point have in common (RFC 6090); false for an invalid key
   and for a point that is not on the curve. */
_Bool copenssl_p256_agree(const unsigned char key[32], const unsigned char point[65],
                          unsigned char secret[32]);

/* Random bytes for keys; false if the system has none. */
_Bool copenssl_random(void *bytes, size_t count);

/* Whether blocks of memory of one size are equal; takes the same time for all contents. */
_Bool copenssl_equal(const void *one, const void *other, size_t count);

/* Overwrites a secret, also if it is not read again. */
void copenssl_wipe(void *bytes, size_t count);
