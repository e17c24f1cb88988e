#include "ccrypt.h"
#include "copenssl.h"

#include <crypt.h>
#include <string.h>

static bool hash_with(const char *password, const char *setting, char *hash, size_t capacity) {
  struct crypt_data data = {0};
  const char *result = crypt_rn(password, setting, &data, sizeof data);
  bool fits = result && strlen(result) < capacity;
  if (fits) strcpy(hash, result);
  copenssl_wipe(&data, sizeof data);
  return fits;
}

bool ccrypt_hash(const char *password, char *hash, size_t capacity) {
  char setting[CRYPT_GENSALT_OUTPUT_SIZE];
  if (!crypt_gensalt_rn("$y$", 0, NULL, 0, setting, sizeof setting)) return false;
  return hash_with(password, setting, hash, capacity);
}

bool ccrypt_verify(const char *password, const char *hash) {
  char again[CRYPT_OUTPUT_SIZE] = {0};
  if (!hash_with(password, hash, again, sizeof again)) return false;
  size_t count = strlen(hash);
  return strlen(again) == count && copenssl_equal(again, hash, count);
}
