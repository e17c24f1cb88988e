#include "cgnutls.h"
#include <string.h>

void cgnutls_sha256_hex(const void *bytes, size_t count, char hex[65]) {
  unsigned char digest[32] = {0};
  gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, count, digest);
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < 32; i++) {
    hex[2 * i] = digits[digest[i] >> 4];
    hex[2 * i + 1] = digits[digest[i] & 15];
  }
  hex[64] = 0;
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
