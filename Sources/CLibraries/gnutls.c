#include "cgnutls.h"

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
