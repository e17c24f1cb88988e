#include "copenssl.h"
#include <errno.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Found once: OpenSSL 3 searches for an algorithm by its name whenever it is not given one. */
static EVP_MD *sha256;
static EVP_MD *sha1;
static EVP_CIPHER *aes128gcm;

/* A thread's own context for hashes, which saves a quarter of a short one's time. */
static _Thread_local EVP_MD_CTX *own_context;
static pthread_key_t context_of_thread;

/* Otherwise OpenSSL frees what other threads still use when the process ends. */
__attribute__((constructor)) static void keep_until_the_end(void) {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

static void require(_Bool works) {
  if (works) return;
  fputs("OpenSSL cannot compute a hash: it lacks memory or an algorithm.\n", stderr);
  abort();
}

static void free_context(void *context) { EVP_MD_CTX_free(context); }

static void find_algorithms(void) {
  sha256 = EVP_MD_fetch(NULL, "SHA2-256", NULL);
  sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
  aes128gcm = EVP_CIPHER_fetch(NULL, "AES-128-GCM", NULL);
  require(sha256 && sha1 && aes128gcm);
  require(pthread_key_create(&context_of_thread, free_context) == 0);
}

static void begin(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_algorithms);
}

/* SHA-256 */

static void put_hex(const unsigned char digest[32], char hex[65]) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < 32; i++) {
    hex[2 * i] = digits[digest[i] >> 4];
    hex[2 * i + 1] = digits[digest[i] & 15];
  }
  hex[64] = 0;
}

static EVP_MD_CTX *make_context(void) {
  begin();
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  require(context && EVP_DigestInit_ex2(context, sha256, NULL));
  return context;
}

/* Hashes two blocks, one after the other. */
static void hash(const void *first, size_t first_size, const void *second, size_t second_size,
                 unsigned char digest[32]) {
  if (!own_context) {
    own_context = make_context();
    pthread_setspecific(context_of_thread, own_context);
  }
  require(EVP_DigestInit_ex2(own_context, NULL, NULL) &&
          EVP_DigestUpdate(own_context, first, first_size) &&
          EVP_DigestUpdate(own_context, second, second_size) &&
          EVP_DigestFinal_ex(own_context, digest, NULL));
}

void copenssl_sha256(const void *bytes, size_t count, void *digest) {
  hash(bytes, count, NULL, 0, digest);
}

void copenssl_sha1(const void *bytes, size_t count, unsigned char digest[20]) {
  begin();
  require(EVP_Digest(bytes, count, digest, NULL, sha1, NULL));
}

void copenssl_sha256_hex(const void *bytes, size_t count, char hex[65]) {
  unsigned char digest[32];
  copenssl_sha256(bytes, count, digest);
  put_hex(digest, hex);
}

_Bool copenssl_sha256_hex_of_file(int file, long offset, size_t count, char hex[65]) {
  char piece[64 << 10];
  unsigned char digest[32];
  struct copenssl_hash *hash = copenssl_hash_make();
  ssize_t read = 1;
  while (count > 0 && read > 0) {
    do read = pread(file, piece, count < sizeof piece ? count : sizeof piece, offset);
    while (read < 0 && errno == EINTR);
    if (read > 0) copenssl_hash_add(hash, piece, (size_t)read), count -= (size_t)read, offset += read;
  }
  int error = read == 0 ? EIO : errno;
  copenssl_hash_finish(hash, digest);
  copenssl_hash_free(hash);
  put_hex(digest, hex);
  errno = error;
  return count == 0;
}

/* A struct copenssl_hash is an EVP_MD_CTX, of which Swift need know nothing. */

struct copenssl_hash *copenssl_hash_make(void) { return (struct copenssl_hash *)make_context(); }

void copenssl_hash_add(struct copenssl_hash *hash, const void *bytes, size_t count) {
  require(EVP_DigestUpdate((EVP_MD_CTX *)hash, bytes, count));
}

void copenssl_hash_finish(struct copenssl_hash *hash, unsigned char digest[32]) {
  EVP_MD_CTX *context = (EVP_MD_CTX *)hash;
  require(EVP_DigestFinal_ex(context, digest, NULL) && EVP_DigestInit_ex2(context, NULL, NULL));
}

void copenssl_hash_free(struct copenssl_hash *hash) { EVP_MD_CTX_free((EVP_MD_CTX *)hash); }

/* HMAC (RFC 2104) and HKDF (RFC 5869). OpenSSL's own, EVP_MAC and EVP_KDF, take four times as long for a short text,
   1.3 us for a signed link. */

void copenssl_hmac_sha256(const void *key, size_t key_size, const void *bytes, size_t count,
                          unsigned char code[32]) {
  enum { block = 64, inner = 0x36, outer = 0x5c };
  unsigned char pad[block] = {0};
  if (key_size > block) copenssl_sha256(key, key_size, pad);
  else if (key_size > 0) memcpy(pad, key, key_size);
  for (int i = 0; i < block; i++) pad[i] ^= inner;
  hash(pad, block, bytes, count, code);
  for (int i = 0; i < block; i++) pad[i] ^= inner ^ outer;
  hash(pad, block, code, 32, code);
  OPENSSL_cleanse(pad, block);
}

_Bool copenssl_hkdf_sha256(const void *salt, size_t salt_size, const void *key, size_t key_size,
                           const void *info, size_t info_size, unsigned char *output,
                           size_t output_size) {
  unsigned char extract[32], text[256], code[32];
  if (output_size > 32 || info_size >= sizeof text) return 0;
  copenssl_hmac_sha256(salt, salt_size, key, key_size, extract);
  memcpy(text, info, info_size);
  text[info_size] = 1;
  copenssl_hmac_sha256(extract, 32, text, info_size + 1, code);
  memcpy(output, code, output_size);
  OPENSSL_cleanse(extract, sizeof extract);
  OPENSSL_cleanse(code, sizeof code);
  return 1;
}

/* AES-128-GCM */

_Bool copenssl_aes128gcm_encrypt(const unsigned char key[16], const unsigned char nonce[12],
                                 const void *bytes, size_t count, unsigned char *output) {
  begin();
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int size, rest;
  _Bool works = context && count <= INT_MAX &&
                EVP_EncryptInit_ex2(context, aes128gcm, key, nonce, NULL) &&
                EVP_EncryptUpdate(context, output, &size, bytes, (int)count) &&
                EVP_EncryptFinal_ex(context, output + size, &rest) &&
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, output + count);
  EVP_CIPHER_CTX_free(context);
  return works;
}

_Bool copenssl_aes128gcm_decrypt(const unsigned char key[16], const unsigned char nonce[12],
                                 const void *bytes, size_t count, unsigned char *output) {
  if (count < 16 || count > INT_MAX) return 0;
  begin();
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int size, rest;
  unsigned char tag[16];
  memcpy(tag, (const unsigned char *)bytes + count - 16, 16);
  _Bool works = context && EVP_DecryptInit_ex2(context, aes128gcm, key, nonce, NULL) &&
                EVP_DecryptUpdate(context, output, &size, bytes, (int)count - 16) &&
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, tag) &&
                EVP_DecryptFinal_ex(context, output + size, &rest);
  EVP_CIPHER_CTX_free(context);
  return works;
}

/* Random bytes, comparison, wiping */

_Bool copenssl_random(void *bytes, size_t count) {
  return count <= INT_MAX && RAND_priv_bytes(bytes, (int)count) == 1;
}

_Bool copenssl_equal(const void *one, const void *other, size_t count) {
  return CRYPTO_memcmp(one, other, count) == 0;
}

void copenssl_wipe(void *bytes, size_t count) { OPENSSL_cleanse(bytes, count); }
