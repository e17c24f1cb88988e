#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The server's side of TLS 1.2 and 1.3 (OpenSSL's libssl). No function raises SIGPIPE. */

/* The keys of session tickets, which threads may share. */
struct ctls_tickets;

/* The bytes of a key: its name (16), an AES-256 key (32) and an HMAC-SHA-256 key (32); and the most keys. */
enum { CTLS_TICKET_KEY = 80, CTLS_TICKET_KEYS = 8 };

/* No keys, with which no session is resumed. NULL without memory. */
struct ctls_tickets *ctls_tickets_new(void);
void ctls_tickets_free(struct ctls_tickets *tickets);

/* Makes tickets with the first of `count` keys from now on, and accepts those of all. Keys above the most are ignored. */
void ctls_tickets_set(struct ctls_tickets *tickets, const unsigned char *keys, size_t count);

/* Certificates and keys, and how TLS is spoken with them; threads may share it once it is complete. */
struct ctls_context;

/* `tickets` must live as long as the context. NULL without memory. */
struct ctls_context *ctls_context_new(struct ctls_tickets *tickets);
void ctls_context_free(struct ctls_context *context);

/* Adds a chain of certificates, that of the server first, and its private key without a password, both in PEM; one for each
   kind of key. Returns NULL, or why they cannot be used. */
const char *ctls_context_add(struct ctls_context *context, const char *chain, size_t chain_size, const char *key,
                             size_t key_size);

/* TLS on one non-blocking socket; its context must live as long. One thread at a time may use it. */
struct ctls_session;

/* NULL without memory. */
struct ctls_session *ctls_session_new(struct ctls_context *context, int socket);
void ctls_session_free(struct ctls_session *session);

/* What a call did if it did not transfer bytes. */
enum { CTLS_BLOCKED = -1, CTLS_FAILED = -2 };

/* Goes on with the handshake: 0 once it is over. */
int ctls_session_handshake(struct ctls_session *session);

/* Receives up to `count` bytes of content; 0 if the peer sends no more. */
ssize_t ctls_session_receive(struct ctls_session *session, void *bytes, size_t count);

/* Whether nothing that was sent waits to be received, unless its end came with it. */
bool ctls_session_is_empty(struct ctls_session *session);

/* Sends a record of at most 16,384 bytes: `count`. If it blocks, the record is kept, and ctls_session_flush() sends it.
   With `has_more` it may wait for the next one, so that one system call sends both. */
ssize_t ctls_session_send(struct ctls_session *session, const void *bytes, size_t count, bool has_more);

/* Sends what was kept: 0 once nothing is left. */
int ctls_session_flush(struct ctls_session *session);

/* Tells the peer that nothing more will be sent (close_notify), as far as the socket takes it now. */
void ctls_session_finish(struct ctls_session *session);

/* The kinds of keys that certificates have. */
enum ctls_key { CTLS_KEY_OTHER, CTLS_KEY_RSA, CTLS_KEY_ECDSA };

/* What clients look at in a chain. */
struct ctls_facts {
  /* When all its certificates are valid, in seconds since 1970. */
  long long start, end;
  /* Whether the first may be used by a server. */
  bool is_for_servers;
  /* The kind of the first one's key. */
  enum ctls_key key;
};

/* Reads a chain in PEM, that of the server first; false if it is none. */
bool ctls_chain_facts(const char *chain, size_t size, struct ctls_facts *facts);

/* Whether the first certificate is for a host: a name or an address. */
bool ctls_chain_is_for(const char *chain, size_t size, const char *host);
