#include "ctls.h"
#include "openssl-keys.h"

#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* -- Ticket keys -- */

struct ctls_tickets {
  pthread_rwlock_t lock;
  size_t count;
  unsigned char keys[CTLS_TICKET_KEYS][CTLS_TICKET_KEY];
};

struct ctls_tickets *ctls_tickets_new(void) {
  struct ctls_tickets *tickets = calloc(1, sizeof *tickets);
  if (tickets) pthread_rwlock_init(&tickets->lock, NULL);
  return tickets;
}

void ctls_tickets_free(struct ctls_tickets *tickets) {
  if (!tickets) return;
  pthread_rwlock_destroy(&tickets->lock);
  OPENSSL_cleanse(tickets->keys, sizeof tickets->keys);
  free(tickets);
}

void ctls_tickets_set(struct ctls_tickets *tickets, const unsigned char *keys, size_t count) {
  if (count > CTLS_TICKET_KEYS) count = CTLS_TICKET_KEYS;
  pthread_rwlock_wrlock(&tickets->lock);
  OPENSSL_cleanse(tickets->keys, sizeof tickets->keys);
  if (count > 0) memcpy(tickets->keys, keys, count * CTLS_TICKET_KEY);
  tickets->count = count;
  pthread_rwlock_unlock(&tickets->lock);
}

static bool has_keys(struct ctls_tickets *tickets) {
  pthread_rwlock_rdlock(&tickets->lock);
  bool has = tickets->count > 0;
  pthread_rwlock_unlock(&tickets->lock);
  return has;
}

/* Copies the key by which a ticket is named, or the first if `name` is NULL; returns its index, or -1. */
static int find_key(struct ctls_tickets *tickets, const unsigned char *name, unsigned char key[CTLS_TICKET_KEY]) {
  int found = -1;
  pthread_rwlock_rdlock(&tickets->lock);
  for (size_t i = 0; i < tickets->count && found < 0; i++)
    if (!name || memcmp(tickets->keys[i], name, 16) == 0) {
      memcpy(key, tickets->keys[i], CTLS_TICKET_KEY);
      found = (int)i;
    }
  pthread_rwlock_unlock(&tickets->lock);
  return found;
}

/* -- Contexts -- */

/* What all contexts share: OpenSSL looks an algorithm up by its name in much of the time that it takes to use it. */
static struct {
  EVP_CIPHER *ticket_cipher;
  BIO_METHOD *socket;
  int tickets_index;
} shared;

static pthread_once_t shared_once = PTHREAD_ONCE_INIT;
static int write_socket(BIO *bio, const char *bytes, int count);
static int read_socket(BIO *bio, char *bytes, int count);
static long control_socket(BIO *bio, int command, long number, void *pointer);

static void make_shared(void) {
  shared.ticket_cipher = EVP_CIPHER_fetch(NULL, "AES-256-CBC", NULL);
  shared.tickets_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
  shared.socket = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "richpush socket");
  if (!shared.socket) return;
  BIO_meth_set_write(shared.socket, write_socket);
  BIO_meth_set_read(shared.socket, read_socket);
  BIO_meth_set_ctrl(shared.socket, control_socket);
}

/* Chooses the key that makes or opens a ticket (SSL_CTX_set_tlsext_ticket_key_evp_cb): 1 to use it, 2 to also make a new
   ticket, 0 for a full handshake. */
static int choose_ticket_key(SSL *ssl, unsigned char name[16], unsigned char *iv, EVP_CIPHER_CTX *cipher,
                             EVP_MAC_CTX *mac, int encrypts) {
  unsigned char key[CTLS_TICKET_KEY];
  struct ctls_tickets *tickets = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), shared.tickets_index);
  int index = find_key(tickets, encrypts ? NULL : name, key);
  if (index < 0) return 0;
  if (encrypts) memcpy(name, key, 16);
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key + 48, 32),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 0), OSSL_PARAM_construct_end()};
  bool works = (!encrypts || RAND_bytes(iv, 16) == 1) &&
               EVP_CipherInit_ex2(cipher, shared.ticket_cipher, key + 16, iv, encrypts, NULL) == 1 &&
               EVP_MAC_CTX_set_params(mac, parameters) == 1;
  OPENSSL_cleanse(key, sizeof key);
  if (!works) return -1;
  /* Clients use a ticket of TLS 1.3 once (RFC 8446, appendix C.4). */
  return index > 0 || SSL_version(ssl) == TLS1_3_VERSION ? 2 : 1;
}

/* http/1.1 for clients that offer protocols (RFC 7301). */
static int choose_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *size, const unsigned char *offered,
                           unsigned int count, void *context) {
  (void)ssl, (void)context;
  static const unsigned char protocol[] = "\x08http/1.1";
  int result = SSL_select_next_proto((unsigned char **)chosen, size, protocol, sizeof protocol - 1, offered, count);
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* How long a session can be resumed at most, in seconds; a ticket's key goes after 36 hours. */
enum { SESSION_TIME = 24 * 60 * 60 };

struct ctls_context *ctls_context_new(struct ctls_tickets *tickets) {
  pthread_once(&shared_once, make_shared);
  SSL_CTX *context = shared.ticket_cipher && shared.socket ? SSL_CTX_new(TLS_server_method()) : NULL;
  if (!context) return NULL;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION); /* RFC 8996 */
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                   SSL_OP_PRIORITIZE_CHACHA | SSL_OP_IGNORE_UNEXPECTED_EOF);
  /* Without AUTO_RETRY, a call ends after a record without content, of which a peer could send one after the other. */
  SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_mode(context, SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_timeout(context, SESSION_TIME);
  SSL_CTX_set_num_tickets(context, 1);
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, choose_ticket_key);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
  /* AES-128 and SHA-256 first: their key schedule is the cheapest. */
  bool works =
      SSL_CTX_set_ex_data(context, shared.tickets_index, tickets) == 1 &&
      SSL_CTX_set_ciphersuites(
          context, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384") == 1 &&
      SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 &&
      SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") == 1 &&
      SSL_CTX_set_session_id_context(context, (const unsigned char *)"richpush", 8) == 1;
  if (!works) return SSL_CTX_free(context), NULL;
  return (struct ctls_context *)context;
}

void ctls_context_free(struct ctls_context *context) { SSL_CTX_free((SSL_CTX *)context); }

/* OpenSSL would ask for a password at the terminal. */
static int no_password(char *buffer, int size, int writes, void *data) {
  (void)buffer, (void)size, (void)writes, (void)data;
  return -1;
}

/* More certificates than any chain has. */
enum { LONGEST_CHAIN = 32 };

/* Reads a chain; NULL if there is no certificate, or one that cannot be read. */
static STACK_OF(X509) *read_chain(const char *text, size_t size) {
  BIO *file = BIO_new_mem_buf(text, size <= INT32_MAX ? (int)size : 0);
  STACK_OF(X509) *chain = sk_X509_new_null();
  X509 *certificate = NULL;
  bool works = file && chain;
  while (works && (certificate = PEM_read_bio_X509(file, NULL, no_password, NULL)) != NULL)
    if (sk_X509_num(chain) == LONGEST_CHAIN || sk_X509_push(chain, certificate) == 0)
      X509_free(certificate), works = false;
  /* The end of the file is that no other begins. */
  works = works && sk_X509_num(chain) > 0 && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  BIO_free(file);
  if (works) return chain;
  sk_X509_pop_free(chain, X509_free);
  return NULL;
}

static const char *reason(const char *otherwise) {
  const char *text = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return text ? text : otherwise;
}

const char *ctls_context_add(struct ctls_context *handle, const char *chain_text, size_t chain_size,
                             const char *key_text, size_t key_size) {
  SSL_CTX *context = (SSL_CTX *)handle;
  ERR_clear_error();
  STACK_OF(X509) *chain = read_chain(chain_text, chain_size);
  if (!chain) return "the file of the certificate has none in PEM";
  X509 *certificate = sk_X509_shift(chain);
  const char *complaint = NULL;
  EVP_PKEY *key = openssl_read_key(key_text, key_size, &complaint);
  if (key && X509_check_private_key(certificate, key) != 1)
    complaint = "the key is not the certificate's";
  else if (key && (SSL_CTX_use_certificate(context, certificate) != 1 || SSL_CTX_use_PrivateKey(context, key) != 1 ||
                   SSL_CTX_set1_chain(context, chain) != 1))
    complaint = reason("OpenSSL does not take them");
  ERR_clear_error();
  X509_free(certificate);
  EVP_PKEY_free(key);
  sk_X509_pop_free(chain, X509_free);
  return complaint;
}

/* -- Sessions -- */

struct ctls_session {
  SSL *ssl;
  int socket;
  /* Whether records wait for ctls_session_flush(): those of a flight, and the ticket that goes with the first response. */
  bool is_corked;
  /* Whether the socket had nothing when it was read last, or has none left, as it did not fill the buffer; and how often
     it had something without content. */
  bool is_drained, has_none_left;
  int quiet;
  /* What the socket has not taken: `held` bytes from `start`. */
  unsigned char *memory;
  size_t start, held, capacity;
};

/* The most content of a record (RFC 8446, section 5.1), how many of them wait for each other, and how much may be held: a
   peer that only sends key updates, and reads no answer, is disconnected. */
enum { RECORD = 1 << 14, CORKED = 4 * RECORD, MOST_HELD = CORKED + 2 * RECORD };

/* How often something without content may arrive, such as a record with a change of keys or a buffer full of them. */
enum { MOST_QUIET = 32 };

struct ctls_session *ctls_session_new(struct ctls_context *handle, int socket) {
  SSL_CTX *context = (SSL_CTX *)handle;
  struct ctls_session *session = calloc(1, sizeof *session);
  if (!session) return NULL;
  session->socket = socket;
  session->is_corked = true;
  session->ssl = SSL_new(context);
  BIO *bio = session->ssl ? BIO_new(shared.socket) : NULL;
  if (!bio) {
    ERR_clear_error();
    return ctls_session_free(session), NULL;
  }
  BIO_set_data(bio, session);
  BIO_set_init(bio, 1);
  SSL_set_bio(session->ssl, bio, bio);
  SSL_set_accept_state(session->ssl);
  if (!has_keys(SSL_CTX_get_ex_data(context, shared.tickets_index))) {
    SSL_set_num_tickets(session->ssl, 0);
    SSL_set_options(session->ssl, SSL_OP_NO_TICKET);
  }
  return session;
}

void ctls_session_free(struct ctls_session *session) {
  if (!session) return;
  SSL_free(session->ssl);
  free(session->memory);
  free(session);
}

static bool hold(struct ctls_session *session, const char *bytes, size_t count) {
  if (session->held + count > MOST_HELD) return false;
  if (session->start + session->held + count > session->capacity) {
    size_t capacity = session->held + count < RECORD / 4 ? RECORD / 4 : MOST_HELD;
    unsigned char *memory = malloc(capacity);
    if (!memory) return false;
    if (session->held > 0) memcpy(memory, session->memory + session->start, session->held);
    free(session->memory);
    session->memory = memory;
    session->capacity = capacity;
    session->start = 0;
  }
  memcpy(session->memory + session->start + session->held, bytes, count);
  session->held += count;
  return true;
}

/* Sends without SIGPIPE: how much the socket took, 0 if it is full, or -1. */
static ssize_t send_now(int socket, const void *bytes, size_t count) {
  ssize_t sent;
  do sent = send(socket, bytes, count, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent < 0 && errno == EAGAIN ? 0 : sent;
}

/* Takes all that OpenSSL writes: what the socket does not take now is held. */
static int write_socket(BIO *bio, const char *bytes, int count) {
  struct ctls_session *session = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  ssize_t sent = 0;
  if (!session->is_corked && session->held == 0) sent = send_now(session->socket, bytes, (size_t)count);
  if (sent < 0) return -1;
  return sent == count || hold(session, bytes + sent, (size_t)(count - sent)) ? count : -1;
}

static int read_socket(BIO *bio, char *bytes, int count) {
  struct ctls_session *session = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  ssize_t read;
  do read = recv(session->socket, bytes, (size_t)count, 0);
  while (read < 0 && errno == EINTR);
  session->is_drained = read < 0 && errno == EAGAIN;
  session->has_none_left = read > 0 && read < count;
  if (session->is_drained) BIO_set_retry_read(bio);
  if (read == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return (int)read;
}

static long control_socket(BIO *bio, int command, long number, void *pointer) {
  (void)number, (void)pointer;
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
  return command == BIO_CTRL_FLUSH;
}

int ctls_session_flush(struct ctls_session *session) {
  while (session->held > 0) {
    ssize_t sent = send_now(session->socket, session->memory + session->start, session->held);
    if (sent < 0) return CTLS_FAILED;
    if (sent == 0) return CTLS_BLOCKED;
    session->start += (size_t)sent;
    session->held -= (size_t)sent;
  }
  free(session->memory);
  session->memory = NULL;
  session->start = session->capacity = 0;
  return 0;
}

int ctls_session_handshake(struct ctls_session *session) {
  ERR_clear_error();
  int result = SSL_do_handshake(session->ssl);
  /* What is held now, such as a ticket, goes with the first response, or when the peer waits for it. */
  if (result == 1) {
    /* From now on it may wait for long, and then without buffers. */
    SSL_set_mode(session->ssl, SSL_MODE_RELEASE_BUFFERS);
    return 0;
  }
  bool is_waiting = SSL_get_error(session->ssl, result) == SSL_ERROR_WANT_READ;
  /* Also an alert. */
  int flushed = ctls_session_flush(session);
  return is_waiting && flushed != CTLS_FAILED ? CTLS_BLOCKED : CTLS_FAILED;
}

ssize_t ctls_session_receive(struct ctls_session *session, void *bytes, size_t count) {
  for (; session->quiet < MOST_QUIET; session->quiet++) {
    size_t received = 0;
    session->is_drained = false;
    ERR_clear_error();
    int result = SSL_read_ex(session->ssl, bytes, count, &received);
    if (result == 1) {
      session->quiet = 0;
      return (ssize_t)received;
    }
    switch (SSL_get_error(session->ssl, result)) {
      case SSL_ERROR_ZERO_RETURN: return 0;
      case SSL_ERROR_WANT_READ: break;
      default: ctls_session_flush(session); return CTLS_FAILED;
    }
    if (session->is_drained) {
      /* The peer may wait for it. */
      session->is_corked = false;
      return ctls_session_flush(session) == CTLS_FAILED ? CTLS_FAILED : CTLS_BLOCKED;
    }
  }
  return CTLS_FAILED;
}

bool ctls_session_is_empty(struct ctls_session *session) {
  return session->has_none_left && !SSL_has_pending(session->ssl);
}

ssize_t ctls_session_send(struct ctls_session *session, const void *bytes, size_t count, bool has_more) {
  if (count == 0 || count > RECORD) return count == 0 ? 0 : CTLS_FAILED;
  size_t sent = 0;
  session->is_corked = has_more || session->held > 0;
  ERR_clear_error();
  if (SSL_write_ex(session->ssl, bytes, count, &sent) != 1 || sent != count) return CTLS_FAILED;
  if (has_more && session->held < CORKED) return (ssize_t)count;
  session->is_corked = false;
  int flushed = ctls_session_flush(session);
  return flushed == 0 ? (ssize_t)count : flushed;
}

void ctls_session_finish(struct ctls_session *session) {
  ERR_clear_error();
  session->is_corked = session->held > 0;
  SSL_shutdown(session->ssl);
  ctls_session_flush(session);
}

/* -- Facts of certificates -- */

static bool seconds(const ASN1_TIME *text, long long *result) {
  struct tm parts;
  if (ASN1_TIME_to_tm(text, &parts) != 1) return false;
  *result = timegm(&parts);
  return true;
}

bool ctls_chain_facts(const char *text, size_t size, struct ctls_facts *facts) {
  STACK_OF(X509) *chain = read_chain(text, size);
  bool works = chain != NULL;
  for (int i = 0; works && i < sk_X509_num(chain); i++) {
    long long start, end;
    const X509 *certificate = sk_X509_value(chain, i);
    works = seconds(X509_get0_notBefore(certificate), &start) && seconds(X509_get0_notAfter(certificate), &end);
    if (!works) break;
    if (i == 0 || start > facts->start) facts->start = start;
    if (i == 0 || end < facts->end) facts->end = end;
  }
  if (works) {
    X509 *first = sk_X509_value(chain, 0);
    facts->is_for_servers = X509_check_purpose(first, X509_PURPOSE_SSL_SERVER, 0) == 1;
    const EVP_PKEY *key = X509_get0_pubkey(first);
    int kind = key ? EVP_PKEY_get_base_id(key) : EVP_PKEY_NONE;
    facts->key = kind == EVP_PKEY_EC                                  ? CTLS_KEY_ECDSA
                 : kind == EVP_PKEY_RSA || kind == EVP_PKEY_RSA_PSS ? CTLS_KEY_RSA
                                                                    : CTLS_KEY_OTHER;
  }
  sk_X509_pop_free(chain, X509_free);
  ERR_clear_error();
  return works;
}

bool ctls_chain_is_for(const char *text, size_t size, const char *host) {
  STACK_OF(X509) *chain = read_chain(text, size);
  if (!chain) return false;
  X509 *first = sk_X509_value(chain, 0);
  bool is_for = X509_check_host(first, host, 0, 0, NULL) == 1 || X509_check_ip_asc(first, host, 0) == 1;
  sk_X509_pop_free(chain, X509_free);
  ERR_clear_error();
  return is_for;
}
