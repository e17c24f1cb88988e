#define _GNU_SOURCE
#include "cmicrohttpd.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The path is wanted raw: percent-escapes are decoded once, by us, after it was split at "/". */
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context, (void)connection;
  return strlen(text);
}

typedef enum MHD_Result queueing(struct MHD_Connection *, unsigned, struct MHD_Response *);
static void (*_Atomic refused)(struct MHD_Connection *connection, unsigned status);

/* This definition comes before the library's in the search for symbols, for the library's own calls too. */
enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned status,
                                   struct MHD_Response *response) {
  (void)response;
  void (*say)(struct MHD_Connection *, unsigned) = atomic_load(&refused);
  if (say) say(connection, status);
  return MHD_NO;
}

enum MHD_Result cmicrohttpd_queue(struct MHD_Connection *connection, unsigned status,
                                  struct MHD_Response *response) {
  static queueing *_Atomic library;
  queueing *queue = atomic_load_explicit(&library, memory_order_relaxed);
  if (!queue) atomic_store(&library, queue = (queueing *)dlsym(RTLD_NEXT, "MHD_queue_response"));
  return queue ? queue(connection, status, response) : MHD_NO;
}

struct MHD_Daemon *cmicrohttpd_start(const struct cmicrohttpd_settings *s) {
  unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME;
  struct MHD_OptionItem tls[] = {
      {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)s->certificate},
      {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)s->key},
      {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)s->priorities},
      {MHD_OPTION_END, 0, NULL},
  };
  atomic_store(&refused, s->refused);
  if (s->certificate) flags |= MHD_USE_TLS;
  else tls[0] = tls[3];
  /* STRICT_FOR_CLIENT 0: MHD's own refusal of a missing Host is malformed, ours is not. */
  return MHD_start_daemon(
      flags, 0, s->admit, s->context, s->access, s->context,
      MHD_OPTION_LISTEN_SOCKET, s->listener,
      MHD_OPTION_CONNECTION_LIMIT, s->connections,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, s->memory,
      MHD_OPTION_CONNECTION_TIMEOUT, 0u,
      MHD_OPTION_STRICT_FOR_CLIENT, 0,
      MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
      MHD_OPTION_URI_LOG_CALLBACK, s->targeted, s->context,
      MHD_OPTION_NOTIFY_CONNECTION, s->connected, s->context,
      MHD_OPTION_NOTIFY_COMPLETED, s->completed, s->context,
      MHD_OPTION_ARRAY, tls,
      MHD_OPTION_END);
}

int cmicrohttpd_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

int cmicrohttpd_is_open(int descriptor) {
  char byte;
  return recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
}

void *cmicrohttpd_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

unsigned cmicrohttpd_connections(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info =
      MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
  return info ? info->num_connections : 0;
}

void cmicrohttpd_write(struct MHD_Connection *connection, const void *bytes, size_t count) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  if (info && info->tls_session) {
    (void)gnutls_record_send(info->tls_session, bytes, count);
  } else {
    (void)send(cmicrohttpd_descriptor(connection), bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

const struct sockaddr *cmicrohttpd_address(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

void cmicrohttpd_write_address(const struct sockaddr *address, char text[64]) {
  text[0] = 0;
  if (!address) return;
  if (address->sa_family == AF_INET) {
    inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text, 64);
  } else if (address->sa_family == AF_INET6) {
    inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text, 64);
  }
}

int cmicrohttpd_canonical(const char *address, char text[64]) {
  unsigned char bytes[sizeof(struct in6_addr)];
  int family = strchr(address, ':') ? AF_INET6 : AF_INET;
  return inet_pton(family, address, bytes) == 1 && inet_ntop(family, bytes, text, 64) != NULL;
}

/* A peer that acknowledges nothing for so many milliseconds is gone. */
static const unsigned patience = 60000;

static int bind_to(const struct addrinfo *at, int share) {
  int descriptor = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (share) setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* accepted sockets inherit it */
  setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience); /* and this */
  if (bind(descriptor, at->ai_addr, at->ai_addrlen) == 0) return descriptor;
  int fault = errno;
  close(descriptor);
  errno = fault;
  return -1;
}

static unsigned short port_of(int descriptor) {
  struct sockaddr_storage address;
  socklen_t size = sizeof address;
  if (getsockname(descriptor, (struct sockaddr *)&address, &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                             : ((struct sockaddr_in *)&address)->sin_port);
}

/* Binds to a numeric address; `share` lets others of the same user bind to it too. */
static int bind_address(const char *host, unsigned short port, int share) {
  struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
  struct addrinfo *at = NULL;
  if (getaddrinfo(host, NULL, &hints, &at) != 0 || !at) {
    errno = EADDRNOTAVAIL;
    return -1;
  }
  if (at->ai_family == AF_INET6) ((struct sockaddr_in6 *)at->ai_addr)->sin6_port = htons(port);
  else ((struct sockaddr_in *)at->ai_addr)->sin_port = htons(port);
  int descriptor = bind_to(at, share);
  freeaddrinfo(at);
  return descriptor;
}

int cmicrohttpd_is_taken(const char *host, unsigned short port) {
  int descriptor = bind_address(host, port, 0);
  if (descriptor < 0) return errno == EADDRINUSE;
  close(descriptor);
  return 0;
}

int cmicrohttpd_listen(const char *host, unsigned short *port, int backlog) {
  int descriptor = bind_address(host, *port, 1);
  if (descriptor < 0) return -1;
  if (listen(descriptor, backlog) != 0) {
    int fault = errno;
    close(descriptor);
    errno = fault;
    return -1;
  }
  *port = port_of(descriptor);
  return descriptor;
}
