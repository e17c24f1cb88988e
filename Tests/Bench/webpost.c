/* webpost FILE COUNT CONCURRENT: COUNT Web Pushes to the subscriptions in FILE, in turn, by libcurl's multi
   interface, so many at once; each is encrypted with new keys (RFC 8291), by the same functions as in richpush.
   A line of FILE is "URL P256DH AUTH", the keys in hexadecimal. Prints the seconds they took, the processor
   time of the encryption in microseconds for each, and how many failed. */
#include "copenssl.h"
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { padded = 512, longest = 20000 };

struct subscription {
  char url[128];
  unsigned char key[65], secret[16];
};

struct transfer {
  CURL *handle;
  unsigned char body[86 + padded + 1 + 16];
};

static struct subscription subscriptions[longest];
static int known, next;
static double encryption;
static const char text[] = "{\"richId\":\"0\",\"richMessage\":\"Look\",\"richType\":\"img\"}";

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes; (void)context;
  return size * count;
}

static void read_hex(const char *digits, unsigned char *bytes, int count) {
  for (int i = 0; i < count; i++) sscanf(digits + 2 * i, "%2hhx", bytes + i);
}

static void encrypt(const struct subscription *to, unsigned char *body) {
  unsigned char key[32], point[65], shared[32], input[32], content[16], nonce[12], record[padded + 1] = {0};
  unsigned char info[14 + 130] = "WebPush: info";
  do copenssl_random(key, sizeof key); while (!copenssl_p256_public(key, point));
  copenssl_p256_agree(key, to->key, shared);
  memcpy(info + 14, to->key, 65);
  memcpy(info + 79, point, 65);
  copenssl_hkdf_sha256(to->secret, 16, shared, 32, info, sizeof info, input, 32);
  copenssl_random(body, 16);
  copenssl_hkdf_sha256(body, 16, input, 32, "Content-Encoding: aes128gcm", 28, content, 16);
  copenssl_hkdf_sha256(body, 16, input, 32, "Content-Encoding: nonce", 24, nonce, 12);
  memcpy(record, text, sizeof text - 1);
  record[sizeof text - 1] = 2;
  memcpy(body + 16, "\0\0\x10\0\x41", 5);
  memcpy(body + 21, point, 65);
  copenssl_aes128gcm_encrypt(content, nonce, record, sizeof record, body + 86);
}

static void begin(CURLM *multi, struct transfer *transfer) {
  const struct subscription *to = &subscriptions[next++ % known];
  double start = now(CLOCK_THREAD_CPUTIME_ID);
  encrypt(to, transfer->body);
  encryption += now(CLOCK_THREAD_CPUTIME_ID) - start;
  curl_easy_setopt(transfer->handle, CURLOPT_URL, to->url);
  curl_multi_add_handle(multi, transfer->handle);
}

int main(int count, char **words) {
  if (count < 4) return 64;
  FILE *file = fopen(words[1], "r");
  if (!file) return 66;
  char key[132], secret[34];
  while (known < longest && fscanf(file, "%127s %131s %33s", subscriptions[known].url, key, secret) == 3) {
    read_hex(key, subscriptions[known].key, 65);
    read_hex(secret, subscriptions[known++].secret, 16);
  }
  fclose(file);
  int total = atoi(words[2]), concurrent = atoi(words[3]), done = 0, failed = 0, running;
  char token[400] = "Authorization: vapid t=";
  memset(token + 23, 'x', 330);
  struct curl_slist *fields = NULL;
  const char *lines[] = {token, "Content-Type: application/octet-stream", "Content-Encoding: aes128gcm",
    "TTL: 2419200", "Urgency: high", "Topic: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "Expect:"};
  for (int i = 0; i < 7; i++) fields = curl_slist_append(fields, lines[i]);
  curl_global_init(CURL_GLOBAL_ALL);
  CURLM *multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 64L);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 4096L);
  struct transfer *transfers = calloc((size_t)concurrent, sizeof *transfers);
  double start = now(CLOCK_MONOTONIC);
  for (int i = 0; i < concurrent && next < total; i++) {
    CURL *handle = transfers[i].handle = curl_easy_init();
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, (long)sizeof transfers[i].body);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, transfers[i].body);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(handle, CURLOPT_PRIVATE, &transfers[i]);
    begin(multi, &transfers[i]);
  }
  while (done < total) {
    curl_multi_perform(multi, &running);
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left))) {
      CURL *handle = message->easy_handle;
      struct transfer *transfer = NULL;
      long status = 0;
      curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
      curl_easy_getinfo(handle, CURLINFO_PRIVATE, &transfer);
      failed += message->data.result != CURLE_OK || status != 201;
      done++;
      curl_multi_remove_handle(multi, handle);
      if (next < total) begin(multi, transfer);
    }
    if (done < total) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  printf("%.3f %.1f %d\n", now(CLOCK_MONOTONIC) - start, encryption / total * 1e6, failed);
  return 0;
}
