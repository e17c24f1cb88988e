#include "cgnutls.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

static void put_hex(const unsigned char digest[32], char hex[65]) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < 32; i++) {
    hex[2 * i] = digits[digest[i] >> 4];
    hex[2 * i + 1] = digits[digest[i] & 15];
  }
  hex[64] = 0;
}

void cgnutls_sha256_hex(const void *bytes, size_t count, char hex[65]) {
  unsigned char digest[32] = {0};
  gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, count, digest);
  put_hex(digest, hex);
}

_Bool cgnutls_sha256_hex_of_file(int file, long offset, size_t count, char hex[65]) {
  char piece[64 << 10];
  unsigned char digest[32] = {0};
  gnutls_hash_hd_t hash;
  if (gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) != 0) return errno = ENOMEM, 0;
  ssize_t read = 1;
  while (count > 0 && read > 0) {
    do read = pread(file, piece, count < sizeof piece ? count : sizeof piece, offset);
    while (read < 0 && errno == EINTR);
    if (read > 0) gnutls_hash(hash, piece, (size_t)read), count -= (size_t)read, offset += read;
  }
  int error = read == 0 ? EIO : errno;
  gnutls_hash_deinit(hash, digest);
  put_hex(digest, hex);
  errno = error;
  return count == 0;
}

void cgnutls_hmac_sha256(const void *key, size_t key_size, const void *bytes, size_t count,
                         unsigned char code[32]) {
  memset(code, 0, 32);
  gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, key_size, bytes, count, code);
}

/* Right-aligns a big-endian integer, which may have a leading zero, in 32 bytes. */
static int put_integer(const gnutls_datum_t *integer, unsigned char field[32]) {
  const unsigned char *digits = integer->data;
  size_t size = integer->size;
  for (; size > 0 && *digits == 0; digits++) size--;
  if (size > 32) return -1;
  memset(field, 0, 32);
  memcpy(field + 32 - size, digits, size);
  return 0;
}

static const char *sign(gnutls_privkey_t key, const void *bytes, size_t count,
                        unsigned char signature[64]) {
  gnutls_ecc_curve_t curve = GNUTLS_ECC_CURVE_INVALID;
  if (gnutls_privkey_export_ecc_raw(key, &curve, NULL, NULL, NULL) < 0 ||
      curve != GNUTLS_ECC_CURVE_SECP256R1)
    return "it is not a P-256 elliptic-curve key";
  const gnutls_datum_t message = {(unsigned char *)bytes, (unsigned int)count};
  gnutls_datum_t sequence = {NULL, 0}, r = {NULL, 0}, s = {NULL, 0};
  int code = gnutls_privkey_sign_data2(key, GNUTLS_SIGN_ECDSA_SHA256, 0, &message, &sequence);
  if (code == 0) code = gnutls_decode_rs_value(&sequence, &r, &s);
  if (code == 0 && (put_integer(&r, signature) < 0 || put_integer(&s, signature + 32) < 0))
    code = GNUTLS_E_PK_SIGN_FAILED;
  gnutls_free(sequence.data);
  gnutls_free(r.data);
  gnutls_free(s.data);
  return code == 0 ? NULL : gnutls_strerror(code);
}

const char *cgnutls_es256_sign(const char *pem, size_t pem_size, const void *bytes, size_t count,
                               unsigned char signature[64]) {
  gnutls_privkey_t key;
  int code = gnutls_privkey_init(&key);
  if (code < 0) return gnutls_strerror(code);
  const gnutls_datum_t text = {(unsigned char *)pem, (unsigned int)pem_size};
  code = gnutls_privkey_import_x509_raw(key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
  const char *complaint = code < 0 ? gnutls_strerror(code) : sign(key, bytes, count, signature);
  gnutls_privkey_deinit(key);
  return complaint;
}

const char *cgnutls_es256_sign_raw(const unsigned char key[32], const unsigned char point[65],
                                   const void *bytes, size_t count, unsigned char signature[64]) {
  gnutls_privkey_t handle;
  int code = gnutls_privkey_init(&handle);
  if (code < 0) return gnutls_strerror(code);
  const gnutls_datum_t x = {(unsigned char *)point + 1, 32}, y = {(unsigned char *)point + 33, 32};
  const gnutls_datum_t number = {(unsigned char *)key, 32};
  code = gnutls_privkey_import_ecc_raw(handle, GNUTLS_ECC_CURVE_SECP256R1, &x, &y, &number);
  const char *complaint = code < 0 ? gnutls_strerror(code) : sign(handle, bytes, count, signature);
  gnutls_privkey_deinit(handle);
  return complaint;
}

const char *cgnutls_rs256_sign(const char *pem, size_t pem_size, const void *bytes, size_t count,
                               unsigned char signature[CGNUTLS_LONGEST_RSA], size_t *size) {
  gnutls_privkey_t key;
  int code = gnutls_privkey_init(&key);
  if (code < 0) return gnutls_strerror(code);
  const gnutls_datum_t text = {(unsigned char *)pem, (unsigned int)pem_size};
  const gnutls_datum_t message = {(unsigned char *)bytes, (unsigned int)count};
  gnutls_datum_t result = {NULL, 0};
  unsigned int bits = 0;
  const char *complaint = NULL;
  code = gnutls_privkey_import_x509_raw(key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
  if (code == 0 &&
      (gnutls_privkey_get_pk_algorithm(key, &bits) != GNUTLS_PK_RSA || bits < 2048 ||
       bits > 8 * CGNUTLS_LONGEST_RSA))
    complaint = "it is not an RSA key of 2048 to 8192 bits";
  else if (code == 0)
    code = gnutls_privkey_sign_data2(key, GNUTLS_SIGN_RSA_SHA256, 0, &message, &result);
  if (code < 0) complaint = gnutls_strerror(code);
  if (!complaint) memcpy(signature, result.data, *size = result.size);
  gnutls_free(result.data);
  gnutls_privkey_deinit(key);
  return complaint;
}

_Bool cgnutls_random(void *bytes, size_t count) {
  return gnutls_rnd(GNUTLS_RND_KEY, bytes, count) == 0;
}

_Bool cgnutls_hkdf_sha256(const void *salt, size_t salt_size, const void *key, size_t key_size,
                          const void *info, size_t info_size, void *output, size_t output_size) {
  unsigned char extract[32];
  const gnutls_datum_t salts = {(unsigned char *)salt, (unsigned int)salt_size};
  const gnutls_datum_t keys = {(unsigned char *)key, (unsigned int)key_size};
  const gnutls_datum_t infos = {(unsigned char *)info, (unsigned int)info_size};
  const gnutls_datum_t extracts = {extract, sizeof extract};
  return gnutls_hkdf_extract(GNUTLS_MAC_SHA256, &keys, &salts, extract) == 0 &&
         gnutls_hkdf_expand(GNUTLS_MAC_SHA256, &extracts, &infos, output, output_size) == 0;
}

static _Bool open_cipher(gnutls_aead_cipher_hd_t *cipher, const unsigned char key[16]) {
  const gnutls_datum_t keys = {(unsigned char *)key, 16};
  return gnutls_aead_cipher_init(cipher, GNUTLS_CIPHER_AES_128_GCM, &keys) == 0;
}

_Bool cgnutls_aes128gcm_encrypt(const unsigned char key[16], const unsigned char nonce[12],
                                const void *bytes, size_t count, unsigned char *output) {
  gnutls_aead_cipher_hd_t cipher;
  if (!open_cipher(&cipher, key)) return 0;
  size_t size = count + 16;
  int code =
      gnutls_aead_cipher_encrypt(cipher, nonce, 12, NULL, 0, 16, bytes, count, output, &size);
  gnutls_aead_cipher_deinit(cipher);
  return code == 0 && size == count + 16;
}

_Bool cgnutls_aes128gcm_decrypt(const unsigned char key[16], const unsigned char nonce[12],
                                const void *bytes, size_t count, unsigned char *output) {
  gnutls_aead_cipher_hd_t cipher;
  if (count < 16 || !open_cipher(&cipher, key)) return 0;
  size_t size = count - 16;
  int code =
      gnutls_aead_cipher_decrypt(cipher, nonce, 12, NULL, 0, 16, bytes, count, output, &size);
  gnutls_aead_cipher_deinit(cipher);
  return code == 0 && size == count - 16;
}
