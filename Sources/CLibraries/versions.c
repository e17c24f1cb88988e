#include "cversions.h"

#include <curl/curl.h>
#include <gnu/libc-version.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <stdio.h>

#define TEXT(word) #word
#define TEXT_OF(macro) TEXT(macro)

const char *cversions_commit(void) { return TEXT_OF(RICHPUSH_COMMIT); }

const char *cversions_libraries(void) {
  static _Thread_local char text[256];
  snprintf(text, sizeof text, "SQLite %s, libcurl %s, OpenSSL %s, glibc %s", sqlite3_libversion(),
           curl_version_info(CURLVERSION_NOW)->version, OpenSSL_version(OPENSSL_VERSION_STRING),
           gnu_get_libc_version());
  return text;
}
