#pragma once
#include <microhttpd.h>

/* What one daemon (one thread, one listening socket) is started with. */
struct cmicrohttpd_settings {
  int listener;             /* a listening, non-blocking socket; closed by MHD_stop_daemon */
  unsigned connections;     /* how many may be open at once */
  size_t memory;            /* bytes per connection for the request's head and for buffers */
  const char *certificate;  /* PEM, or NULL for plain HTTP */
  const char *key;          /* PEM */
  const char *priorities;   /* GnuTLS priority string */
  void *context;            /* handed to every callback */
  MHD_AcceptPolicyCallback admit;
  MHD_NotifyConnectionCallback connected;
  void *(*targeted)(void *context, const char *target, struct MHD_Connection *connection);
  MHD_AccessHandlerCallback access;
  MHD_RequestCompletedCallback completed;
  void (*refused)(struct MHD_Connection *connection, unsigned status); /* the same for all daemons */
};

/* MHD_start_daemon, which is variadic, with the flags this server stands on; NULL with errno set. */
struct MHD_Daemon *cmicrohttpd_start(const struct cmicrohttpd_settings *settings);

/* MHD_get_connection_info is variadic too: the descriptor, the context of MHD_OPTION_NOTIFY_CONNECTION,
   and the peer's address. */
int cmicrohttpd_descriptor(struct MHD_Connection *connection);
void *cmicrohttpd_context(struct MHD_Connection *connection);
const struct sockaddr *cmicrohttpd_address(struct MHD_Connection *connection);

/* Whether the other side of a socket has not closed it, nor have we. */
int cmicrohttpd_is_open(int descriptor);

/* Connections a daemon has open (MHD_get_daemon_info). */
unsigned cmicrohttpd_connections(struct MHD_Daemon *daemon);

/* MHD_queue_response for a response of ours. MHD's own calls of it, which answer a head that it cannot
   read with a page of HTML, go to `refused`, and the connection is closed. */
enum MHD_Result cmicrohttpd_queue(struct MHD_Connection *connection, unsigned status,
                                  struct MHD_Response *response);

/* Writes bytes past MHD, through TLS where there is TLS, as far as that does not block. */
void cmicrohttpd_write(struct MHD_Connection *connection, const void *bytes, size_t count);

/* An address without its port as text (inet_ntop), empty when it is neither IPv4 nor IPv6. */
void cmicrohttpd_write_address(const struct sockaddr *address, char text[64]);

/* The usual spelling of a numeric address; 0 when it is none. */
int cmicrohttpd_canonical(const char *address, char text[64]);

/* A non-blocking socket listening on a numeric address, with SO_REUSEPORT so that several threads
   share the port; -1 with errno set. `port` is read, and written back when it was 0. */
int cmicrohttpd_listen(const char *host, unsigned short *port, int backlog);

/* Whether somebody listens on the port already, though SO_REUSEPORT would hide it. */
int cmicrohttpd_is_taken(const char *host, unsigned short port);
