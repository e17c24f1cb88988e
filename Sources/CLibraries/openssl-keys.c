#include "copenssl.h"
#include "openssl-keys.h"
#include <limits.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <pthread.h>
#include <string.h>

/* Signatures */

/* Why the last call of this thread failed. The thread's list of errors is emptied: SSL_get_error would find them. */
static const char *reason(void) {
  const char *text = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return text ? text : "OpenSSL failed";
}

/* Called for a key with a passphrase, which nobody could be asked for. */
static int no_passphrase(char *buffer, int size, int is_writing, void *is_asked) {
  (void)buffer, (void)size, (void)is_writing;
  *(_Bool *)is_asked = 1;
  return -1;
}

EVP_PKEY *openssl_read_key(const char *pem, size_t size, const char **complaint) {
  _Bool is_encrypted = 0;
  BIO *text = size <= INT_MAX ? BIO_new_mem_buf(pem, (int)size) : NULL;
  EVP_PKEY *key = text ? PEM_read_bio_PrivateKey(text, NULL, no_passphrase, &is_encrypted) : NULL;
  BIO_free(text);
  if (!key)
    *complaint = is_encrypted ? "the key is encrypted with a passphrase" : "the key is not a private key in PEM";
  ERR_clear_error();
  return key;
}

/* Signs by the algorithm of the key, with SHA-256; `size` is how long a signature fits, and then how long it is. */
static const char *sign(EVP_PKEY *key, const void *bytes, size_t count, unsigned char *signature,
                        size_t *size) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  _Bool works = context && EVP_DigestSignInit_ex(context, NULL, "SHA2-256", NULL, NULL, key, NULL) &&
                EVP_DigestSign(context, signature, size, bytes, count);
  EVP_MD_CTX_free(context);
  return works ? NULL : reason();
}

static const char *sign_es256(EVP_PKEY *key, const void *bytes, size_t count,
                              unsigned char signature[64]) {
  char curve[16];
  if (!EVP_PKEY_get_group_name(key, curve, sizeof curve, NULL) || strcmp(curve, SN_X9_62_prime256v1) != 0) {
    ERR_clear_error();
    return "it is not a P-256 elliptic-curve key";
  }
  unsigned char sequence[80];
  size_t size = sizeof sequence;
  const char *complaint = sign(key, bytes, count, sequence, &size);
  if (complaint) return complaint;
  const unsigned char *start = sequence;
  ECDSA_SIG *numbers = d2i_ECDSA_SIG(NULL, &start, (long)size);
  _Bool works = numbers && BN_bn2binpad(ECDSA_SIG_get0_r(numbers), signature, 32) == 32 &&
                BN_bn2binpad(ECDSA_SIG_get0_s(numbers), signature + 32, 32) == 32;
  ECDSA_SIG_free(numbers);
  return works ? NULL : reason();
}

const char *copenssl_es256_sign(const char *pem, size_t pem_size, const void *bytes, size_t count,
                                unsigned char signature[64]) {
  const char *complaint = NULL;
  EVP_PKEY *key = openssl_read_key(pem, pem_size, &complaint);
  if (key) complaint = sign_es256(key, bytes, count, signature);
  EVP_PKEY_free(key);
  return complaint;
}

const char *copenssl_es256_sign_raw(const unsigned char key[32], const unsigned char point[65],
                                    const void *bytes, size_t count, unsigned char signature[64]) {
  /* OpenSSL takes numbers in the order of this machine's bytes. */
  unsigned char number[32];
  BIGNUM *big = BN_bin2bn(key, 32, NULL);
  _Bool works = big && BN_bn2nativepad(big, number, 32) == 32;
  BN_clear_free(big);
  OSSL_PARAM parts[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, SN_X9_62_prime256v1, 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, 65),
      OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, number, 32),
      OSSL_PARAM_construct_end(),
  };
  EVP_PKEY *handle = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  works = works && context && EVP_PKEY_fromdata_init(context) > 0 &&
          EVP_PKEY_fromdata(context, &handle, EVP_PKEY_KEYPAIR, parts) > 0;
  OPENSSL_cleanse(number, sizeof number);
  const char *complaint = works ? sign_es256(handle, bytes, count, signature) : reason();
  EVP_PKEY_free(handle);
  EVP_PKEY_CTX_free(context);
  return complaint;
}

const char *copenssl_rs256_sign(const char *pem, size_t pem_size, const void *bytes, size_t count,
                                unsigned char signature[COPENSSL_LONGEST_RSA], size_t *size) {
  const char *complaint = NULL;
  EVP_PKEY *key = openssl_read_key(pem, pem_size, &complaint);
  if (!key) return complaint;
  int bits = EVP_PKEY_is_a(key, "RSA") ? EVP_PKEY_get_bits(key) : 0;
  *size = COPENSSL_LONGEST_RSA;
  complaint = bits < 2048 || bits > 8 * COPENSSL_LONGEST_RSA
                  ? "it is not an RSA key of 2048 to 8192 bits"
                  : sign(key, bytes, count, signature, size);
  EVP_PKEY_free(key);
  return complaint;
}

/* A public key of these parts, or NULL. */
static EVP_PKEY *public_key(const char *kind, OSSL_PARAM *parts) {
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, kind, NULL);
  if (context && parts && EVP_PKEY_fromdata_init(context) > 0)
    EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parts);
  EVP_PKEY_CTX_free(context);
  return key;
}

static _Bool verify(EVP_PKEY *key, _Bool is_pss, const void *bytes, size_t count,
                    const unsigned char *signature, size_t size) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  EVP_PKEY_CTX *padding = NULL;
  _Bool is_right =
      key && context &&
      EVP_DigestVerifyInit_ex(context, &padding, "SHA2-256", NULL, NULL, key, NULL) > 0 &&
      (!is_pss || (EVP_PKEY_CTX_set_rsa_padding(padding, RSA_PKCS1_PSS_PADDING) > 0 &&
                   EVP_PKEY_CTX_set_rsa_pss_saltlen(padding, RSA_PSS_SALTLEN_DIGEST) > 0)) &&
      EVP_DigestVerify(context, signature, size, bytes, count) == 1;
  EVP_MD_CTX_free(context);
  ERR_clear_error();
  return is_right;
}

_Bool copenssl_rsa_verify(const unsigned char *modulus, size_t modulus_size,
                          const unsigned char *exponent, size_t exponent_size, _Bool is_pss,
                          const void *bytes, size_t count, const unsigned char *signature,
                          size_t size) {
  /* Others sign for seconds, or can be factored. */
  if (modulus_size > COPENSSL_LONGEST_RSA || exponent_size > 4) return 0;
  BIGNUM *n = BN_bin2bn(modulus, (int)modulus_size, NULL);
  BIGNUM *e = BN_bin2bn(exponent, (int)exponent_size, NULL);
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  OSSL_PARAM *parts = NULL;
  if (n && e && builder && BN_num_bits(n) >= 2048 && BN_is_odd(n) && BN_is_odd(e) && !BN_is_one(e) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e))
    parts = OSSL_PARAM_BLD_to_param(builder);
  EVP_PKEY *key = public_key("RSA", parts);
  _Bool is_right = verify(key, is_pss, bytes, count, signature, size);
  EVP_PKEY_free(key);
  OSSL_PARAM_free(parts);
  OSSL_PARAM_BLD_free(builder);
  BN_free(e);
  BN_free(n);
  return is_right;
}

_Bool copenssl_es256_verify(const unsigned char point[65], const void *bytes, size_t count,
                            const unsigned char signature[64]) {
  OSSL_PARAM parts[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, SN_X9_62_prime256v1, 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, 65),
      OSSL_PARAM_construct_end(),
  };
  ECDSA_SIG *numbers = ECDSA_SIG_new();
  BIGNUM *r = BN_bin2bn(signature, 32, NULL), *s = BN_bin2bn(signature + 32, 32, NULL);
  if (!numbers || !r || !s || !ECDSA_SIG_set0(numbers, r, s)) {
    BN_free(s);
    BN_free(r);
    ECDSA_SIG_free(numbers);
    return 0;
  }
  unsigned char *sequence = NULL;
  int size = i2d_ECDSA_SIG(numbers, &sequence);
  EVP_PKEY *key = public_key("EC", parts);
  _Bool is_right = size > 0 && verify(key, 0, bytes, count, sequence, (size_t)size);
  EVP_PKEY_free(key);
  OPENSSL_free(sequence);
  ECDSA_SIG_free(numbers);
  return is_right;
}

/* P-256 */

static EC_GROUP *p256;

static void find_curve(void) { p256 = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1); }

static void begin(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_curve);
}

/* The point of 65 bytes, or NULL if they are none. */
static EC_POINT *read_point(const unsigned char bytes[65]) {
  EC_POINT *point = EC_POINT_new(p256);
  if (point && bytes[0] == 4 && EC_POINT_oct2point(p256, point, bytes, 65, NULL)) return point;
  ERR_clear_error();
  EC_POINT_free(point);
  return NULL;
}

_Bool copenssl_p256_is_point(const unsigned char bytes[65]) {
  begin();
  EC_POINT *point = read_point(bytes);
  EC_POINT_free(point);
  return point != NULL;
}

/* Multiplies a point, or the curve's generator if it is NULL. */
static _Bool multiply(const unsigned char key[32], const EC_POINT *base, unsigned char product[65]) {
  BIGNUM *number = BN_secure_new();
  EC_POINT *result = EC_POINT_new(p256);
  BN_CTX *context = BN_CTX_new();
  _Bool works = number && result && context && BN_bin2bn(key, 32, number) && !BN_is_zero(number) &&
                BN_cmp(number, EC_GROUP_get0_order(p256)) < 0 &&
                EC_POINT_mul(p256, result, base ? NULL : number, base, base ? number : NULL, context) &&
                EC_POINT_point2oct(p256, result, POINT_CONVERSION_UNCOMPRESSED, product, 65, context);
  BN_clear_free(number);
  EC_POINT_clear_free(result);
  BN_CTX_free(context);
  if (!works) ERR_clear_error();
  return works;
}

_Bool copenssl_p256_public(const unsigned char key[32], unsigned char point[65]) {
  begin();
  return multiply(key, NULL, point);
}

_Bool copenssl_p256_agree(const unsigned char key[32], const unsigned char bytes[65],
                          unsigned char secret[32]) {
  begin();
  unsigned char product[65];
  EC_POINT *point = read_point(bytes);
  _Bool works = point && multiply(key, point, product);
  EC_POINT_free(point);
  if (works) memcpy(secret, product + 1, 32);
  OPENSSL_cleanse(product, sizeof product);
  return works;
}
