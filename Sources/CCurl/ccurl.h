#pragma once
#include <curl/curl.h>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* curl_easy_setopt, curl_multi_setopt and curl_easy_getinfo are variadic, which Swift can't call. */

static inline CURLcode ccurl_set_number(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_bytes(CURL *handle, CURLoption option, const void *value) {
  return curl_easy_setopt(handle, option, value);
}

/* Does `action` without SIGPIPE, which by default ends the process when its peer has closed a connection that is
   written to. libcurl with CURLOPT_NOSIGNAL leaves that to the program, and without it changes the signal's action for
   all threads. Debian 12's libcurl (7.88) writes with MSG_NOSIGNAL; older ones do not for connections by OpenSSL. */
static inline CURLcode ccurl_without_sigpipe(CURL *handle, CURLcode (*action)(CURL *)) {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  CURLcode code = action(handle);
  /* One that was raised here. */
  const struct timespec no_time = {0, 0};
  if (!sigismember(&pending, SIGPIPE)) sigtimedwait(&pipe, NULL, &no_time);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return code;
}

static inline CURLcode ccurl_clean_up(CURL *handle) {
  curl_easy_cleanup(handle);
  return CURLE_OK;
}

/* curl_easy_perform and curl_easy_cleanup for all threads that may receive signals. */
static inline CURLcode ccurl_perform(CURL *handle) {
  return ccurl_without_sigpipe(handle, curl_easy_perform);
}

static inline void ccurl_free(CURL *handle) { ccurl_without_sigpipe(handle, ccurl_clean_up); }

/* Whether certificates in a folder are found by the hashes of their names, as openssl-rehash(1) does it. */
static inline _Bool ccurl_has_hashes(const char *folder) {
  DIR *entries = opendir(folder);
  if (!entries) return 0;
  struct dirent *entry;
  _Bool is_hash = 0;
  while (!is_hash && (entry = readdir(entries)))
    is_hash = strspn(entry->d_name, "0123456789abcdef") == 8 && strcmp(entry->d_name + 8, ".0") == 0;
  closedir(entries);
  return is_hash;
}

/* Trusts the system's authorities and those in a PEM file, unless that is NULL.
   From a folder with hashes OpenSSL reads what a server's certificate needs; from the bundle beside it, which libcurl uses
   by default, all authorities for each connection, which takes 55 ms. */
static inline void ccurl_set_trust(CURL *handle, const char *authorities) {
  static const char folder[] = "/etc/ssl/certs";
  _Bool is_folder = ccurl_has_hashes(folder);
  if (authorities || is_folder) curl_easy_setopt(handle, CURLOPT_CAINFO, authorities);
  /* Without a folder libcurl keeps what it has read of the bundle. */
  curl_easy_setopt(handle, CURLOPT_CAPATH, is_folder ? folder : NULL);
}

typedef size_t (*ccurl_receiver)(char *bytes, size_t size, size_t count, void *context);

/* Hands header lines and body bytes to two functions; `context` is also the handle's own mark. */
static inline void ccurl_set_receivers(CURL *handle, ccurl_receiver header, ccurl_receiver body,
                                       void *context) {
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
  curl_easy_setopt(handle, CURLOPT_PRIVATE, context);
}

/* Hands body bytes to a function; `context` is also the handle's own mark. */
static inline void ccurl_set_receiver(CURL *handle, ccurl_receiver body, void *context) {
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
  curl_easy_setopt(handle, CURLOPT_PRIVATE, context);
}

/* Asks two functions for the bytes of an upload, and to begin again at an offset. */
static inline void ccurl_set_sender(CURL *handle, ccurl_receiver reader, curl_seek_callback seeker,
                                    void *context) {
  curl_easy_setopt(handle, CURLOPT_READFUNCTION, reader);
  curl_easy_setopt(handle, CURLOPT_READDATA, context);
  curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, seeker);
  curl_easy_setopt(handle, CURLOPT_SEEKDATA, context);
}

/* Whether a request has a body, and of how many bytes; the method is set apart. */
static inline void ccurl_set_upload(CURL *handle, _Bool uploads, long count) {
  if (!uploads) curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);
  curl_easy_setopt(handle, CURLOPT_UPLOAD, uploads ? 1L : 0L);
  curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)(uploads ? count : -1));
}

static inline curl_socket_t ccurl_open_socket(void *context, curlsocktype purpose,
                                       struct curl_sockaddr *address) {
  (void)context;
  (void)purpose;
  int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  unsigned int milliseconds = 20000;
  if (fd >= 0 && address->socktype == SOCK_STREAM)
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
  return fd;
}

/* Sockets that no child inherits, and that notice within 20 s when the peer acknowledges nothing. */
static inline void ccurl_set_socket_habits(CURL *handle) {
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, ccurl_open_socket);
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPIDLE, 60L);
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPINTVL, 20L);
}

/* Asks `progress` now and then, once a second at least, whether to go on. */
static inline void ccurl_set_progress(CURL *handle, curl_xferinfo_callback progress,
                                      void *context) {
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, progress);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, context);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
}

static inline long ccurl_status(CURL *handle) {
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

/* Why a transfer failed, for people: what is wrong with a certificate, or else `detail`, the text of
   CURLOPT_ERRORBUFFER if there is one, or else libcurl's text for the code. */
static inline const char *ccurl_reason(CURL *handle, CURLcode code, const char *detail) {
  if (code == CURLE_PEER_FAILED_VERIFICATION) {
    long result = 0;
    curl_easy_getinfo(handle, CURLINFO_SSL_VERIFYRESULT, &result);
    switch (result) { /* OpenSSL's X509_V_ERR_…, which libcurl passes on */
      case 0: return "its certificate is for another host name";
      case 2: case 18: case 19: case 20: case 21:
        return "its certificate is by an authority that this machine does not trust";
      case 9: return "its certificate is not valid yet, or this machine's clock is wrong";
      case 10: return "its certificate has expired, or this machine's clock is wrong";
      case 23: return "its certificate was revoked";
      default: return "its certificate is not valid";
    }
  }
  /* OpenSSL calls an answer without TLS a wrong version. */
  if (code == CURLE_SSL_CONNECT_ERROR && (!detail || !*detail || strstr(detail, "wrong version")))
    return "no TLS connection could be made; is it a server of https?";
  if (detail && *detail) return detail;
  return curl_easy_strerror(code);
}

/* Whether the transfer's connection stood, TLS and all. */
static inline _Bool ccurl_was_connected(CURL *handle) {
  curl_off_t microseconds = 0;
  curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME_T, &microseconds);
  return microseconds > 0;
}

/* The microseconds between a request and the end of its answer. */
static inline long ccurl_answer_time(CURL *handle) {
  curl_off_t start = 0, end = 0;
  curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME_T, &start);
  curl_easy_getinfo(handle, CURLINFO_TOTAL_TIME_T, &end);
  return (long)(end - start);
}

/* A field of the answer's head, of several the first, or NULL; good until the next request. */
static inline const char *ccurl_field(CURL *handle, const char *name) {
  struct curl_header *field;
  CURLHcode code = curl_easy_header(handle, name, 0, CURLH_HEADER, -1, &field);
  return code == CURLHE_OK ? field->value : NULL;
}

/* The context given to ccurl_set_receivers or ccurl_set_receiver. */
static inline void *ccurl_context(CURL *handle) {
  char *context = NULL;
  curl_easy_getinfo(handle, CURLINFO_PRIVATE, &context);
  return context;
}

static inline CURLMcode ccurl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

/* The next finished transfer with its result, or NULL (curl_multi_info_read). */
static inline CURL *ccurl_multi_next_finished(CURLM *multi, CURLcode *result) {
  int left = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}

/* Asks `guard` before a name is looked up; other than 0 forbids it. */
static inline void ccurl_set_resolver_guard(CURL *handle, curl_resolver_start_callback guard,
                                            void *context) {
  curl_easy_setopt(handle, CURLOPT_RESOLVER_START_FUNCTION, guard);
  curl_easy_setopt(handle, CURLOPT_RESOLVER_START_DATA, context);
}

/* Asks `opener` for the socket of every address before it is connected to. */
static inline void ccurl_set_socket_opener(CURL *handle, curl_opensocket_callback opener,
                                           void *context) {
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, opener);
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context);
}
