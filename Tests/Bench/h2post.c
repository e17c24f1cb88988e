/* h2post URL FILE COUNT CONCURRENT [CA]: COUNT POSTs of FILE to URL/0, URL/1, … over HTTP/2 by libcurl's multi
   interface, so many at once, with the fields of a push. Prints the seconds they took. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes; (void)context;
  return size * count;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static char url[512];
static const char *base;
static int next;

static void begin(CURLM *multi, CURL *handle) {
  snprintf(url, sizeof url, "%s/%08x", base, next++);
  curl_easy_setopt(handle, CURLOPT_URL, url);
  curl_multi_add_handle(multi, handle);
}

int main(int count, char **words) {
  if (count < 5) return 64;
  base = words[1];
  int total = atoi(words[3]), concurrent = atoi(words[4]), done = 0, failed = 0, running;
  char body[4096];
  FILE *file = fopen(words[2], "r");
  if (!file) return 66;
  long size = (long)fread(body, 1, sizeof body, file);
  fclose(file);
  char token[256];
  memset(token, 'x', sizeof token);
  snprintf(token, 23, "authorization: bearer ");
  token[22] = 'x'; token[220] = 0;
  struct curl_slist *fields = NULL;
  const char *lines[] = {token, "apns-topic: com.example.richpush",
    "apns-id: 00000000-0000-4000-8000-000000000000", "apns-push-type: background",
    "apns-priority: 5", "content-type: application/json", "apns-collapse-id: rich-0"};
  for (int i = 0; i < 7; i++) fields = curl_slist_append(fields, lines[i]);
  curl_global_init(CURL_GLOBAL_ALL);
  CURLM *multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 4L);
  curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 1000L);
  double start = now();
  for (int i = 0; i < concurrent && next < total; i++) {
    CURL *handle = curl_easy_init();
    curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(handle, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, size);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, discard);
    if (count > 5) curl_easy_setopt(handle, CURLOPT_CAINFO, words[5]);
    begin(multi, handle);
  }
  while (done < total) {
    curl_multi_perform(multi, &running);
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left))) {
      CURL *handle = message->easy_handle;
      long status = 0;
      curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
      if ((message->data.result != CURLE_OK || status != 200) && failed++ < 5)
        fprintf(stderr, "h2post: status %ld, %s\n", status, curl_easy_strerror(message->data.result));
      done++;
      curl_multi_remove_handle(multi, handle);
      if (next < total) begin(multi, handle);
    }
    if (done < total) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  printf("%.3f\n", now() - start);
  if (failed) fprintf(stderr, "h2post: %d of %d failed\n", failed, total);
  return failed != 0;
}
