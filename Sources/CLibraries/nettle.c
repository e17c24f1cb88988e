#include "cnettle.h"
#include <gmp.h>
#include <nettle/ecc-curve.h>
#include <nettle/ecc.h>
#include <string.h>

/* Writes a number below 2^256 as 32 bytes. */
static void put_number(const mpz_t number, unsigned char bytes[32]) {
  memset(bytes, 0, 32);
  size_t count = (mpz_sizeinbase(number, 2) + 7) / 8;
  if (count <= 32) mpz_export(bytes + 32 - count, NULL, 1, 1, 1, 0, number);
}

/* `result` must be initialized; false if the bytes are no point of its curve. */
static bool read_point(struct ecc_point *result, const unsigned char bytes[65]) {
  if (bytes[0] != 4) return false;
  mpz_t x, y;
  mpz_inits(x, y, NULL);
  mpz_import(x, 32, 1, 1, 1, 0, bytes + 1);
  mpz_import(y, 32, 1, 1, 1, 0, bytes + 33);
  bool is_point = ecc_point_set(result, x, y);
  mpz_clears(x, y, NULL);
  return is_point;
}

/* `result` must be initialized; false if the key is out of range. */
static bool read_scalar(struct ecc_scalar *result, const unsigned char key[32]) {
  mpz_t number;
  mpz_init(number);
  mpz_import(number, 32, 1, 1, 1, 0, key);
  bool is_scalar = ecc_scalar_set(result, number);
  mpz_clear(number);
  return is_scalar;
}

bool cnettle_p256_is_point(const unsigned char bytes[65]) {
  struct ecc_point point;
  ecc_point_init(&point, nettle_get_secp_256r1());
  bool is_point = read_point(&point, bytes);
  ecc_point_clear(&point);
  return is_point;
}

/* Multiplies `*base`, or the curve's generator if it is NULL. */
static bool multiply(const unsigned char key[32], const struct ecc_point *base, mpz_t x, mpz_t y) {
  struct ecc_scalar scalar;
  struct ecc_point product;
  ecc_scalar_init(&scalar, nettle_get_secp_256r1());
  ecc_point_init(&product, nettle_get_secp_256r1());
  bool is_valid = read_scalar(&scalar, key);
  if (is_valid) {
    if (base) ecc_point_mul(&product, &scalar, base);
    else ecc_point_mul_g(&product, &scalar);
    ecc_point_get(&product, x, y);
  }
  ecc_scalar_clear(&scalar);
  ecc_point_clear(&product);
  return is_valid;
}

bool cnettle_p256_public(const unsigned char key[32], unsigned char point[65]) {
  mpz_t x, y;
  mpz_inits(x, y, NULL);
  bool is_valid = multiply(key, NULL, x, y);
  point[0] = 4;
  put_number(x, point + 1);
  put_number(y, point + 33);
  mpz_clears(x, y, NULL);
  return is_valid;
}

bool cnettle_p256_agree(const unsigned char key[32], const unsigned char bytes[65],
                        unsigned char secret[32]) {
  struct ecc_point point;
  mpz_t x, y;
  ecc_point_init(&point, nettle_get_secp_256r1());
  mpz_inits(x, y, NULL);
  bool is_valid = read_point(&point, bytes) && multiply(key, &point, x, y);
  put_number(x, secret);
  mpz_clears(x, y, NULL);
  ecc_point_clear(&point);
  return is_valid;
}
