/* What clients of TLS send, damaged: the server's side (CLibraries/tls.c) with AddressSanitizer.

     TLSDamage CERTIFICATE KEY CASES SEED

   Each case is a client of OpenSSL whose bytes are changed on their way to the server: bytes of its hello, its ticket or its
   later records are others, an end comes too early or never, records and messages are endless, or are not what they say.
   TLS 1.2 and 1.3 by turns, half of them with a ticket. Whatever comes, the server's side gives up or waits, in few steps and
   little memory; and a good client is served after each hundred. Prints what came of them. */
#define _GNU_SOURCE
#include "ctls.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

size_t __sanitizer_get_current_allocated_bytes(void);

enum { CAPACITY = 1 << 18, MOST_MEMORY = 1 << 20, ENDLESS = 1 << 23 };

enum damage {
  NONE, OTHER_BYTES, CUT_OFF, SILENT, SMALL_RECORDS, OTHER_LENGTH, ENDLESS_MESSAGE, ENDLESS_GARBAGE, ENDLESS_ALERTS, LATER_BYTES,
  LATER_GARBAGE, LATER_RECORDS, DAMAGES
};

static SSL_CTX *clients[2];
static SSL_SESSION *tickets[2];
static struct ctls_context *server;
static uint64_t state;
static size_t peak;
static long complete, refused, waiting;

static void fail(const char *what, long number) {
  fprintf(stderr, "case %ld: %s\n", number, what);
  exit(1);
}

/* xorshift64*: the same cases for the same seed. */
static uint64_t chance(uint64_t below) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (state * 2685821657736338717ull >> 16) % below;
}

static int keep_ticket(SSL *client, SSL_SESSION *session) {
  int version = SSL_version(client) == TLS1_3_VERSION;
  SSL_SESSION_free(tickets[version]);
  tickets[version] = session;
  return 1;
}

/* The two ends of a connection. */
struct pair {
  struct ctls_session *session;
  SSL *client;
  int ours, theirs, is_over, is_shaken, has_answered;
};

/* Lets the server go on as far as it can. */
static void turn(struct pair *pair) {
  static char request[16384];
  while (!pair->is_over) {
    if (!pair->is_shaken) {
      int result = ctls_session_handshake(pair->session);
      pair->is_over = result == CTLS_FAILED;
      if (result) return;
      pair->is_shaken = 1;
      complete++;
    }
    ssize_t count = ctls_session_receive(pair->session, request, sizeof request);
    pair->is_over = count == CTLS_FAILED || count == 0;
    if (count <= 0) return;
    if (!pair->has_answered) ctls_session_send(pair->session, "answer", 6, false);
    pair->has_answered = 1;
  }
}

static void look_at_memory(void) {
  size_t now = __sanitizer_get_current_allocated_bytes();
  if (now > peak) peak = now;
}

/* Sends bytes to the server as far as it takes them. */
static void deliver(struct pair *pair, const unsigned char *bytes, size_t size) {
  while (size && !pair->is_over) {
    ssize_t sent = send(pair->theirs, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) return;
    if (sent > 0) {
      bytes += sent;
      size -= (size_t)sent;
    }
    turn(pair);
    look_at_memory();
    /* What it has to say must not fill the socket. */
    static char waste[CAPACITY];
    if (!pair->client)
      while (recv(pair->theirs, waste, sizeof waste, MSG_DONTWAIT) > 0) continue;
  }
}

/* What the client has to send now. */
static size_t flight(struct pair *pair, unsigned char *bytes) {
  int size = BIO_read(SSL_get_wbio(pair->client), bytes, CAPACITY);
  return size > 0 ? (size_t)size : 0;
}

/* What the server has answered. */
static void hear(struct pair *pair) {
  unsigned char bytes[CAPACITY / 4];
  for (ssize_t size; (size = recv(pair->theirs, bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
    BIO_write(SSL_get_rbio(pair->client), bytes, (int)size);
}

static size_t with_other_bytes(unsigned char *bytes, size_t size) {
  for (uint64_t i = 0, count = 1 + chance(6); size && i < count; i++)
    bytes[chance(size)] = chance(2) ? (unsigned char)chance(256) : (unsigned char)(bytes[chance(size)] + 1);
  if (chance(4) == 0 && size > 8) {
    size_t from = chance(size), to = chance(size), count = chance(size - (from > to ? from : to) + 1);
    memmove(bytes + to, bytes + from, count);
  }
  return size;
}

/* One record for each few bytes of the message in the first record. */
static size_t in_small_records(unsigned char *bytes, size_t size) {
  static unsigned char small[CAPACITY];
  size_t made = 0, step = 1 + chance(40);
  if (size < 6) return size;
  for (size_t i = 5; i < size && made + step + 5 < CAPACITY; i += step) {
    size_t part = size - i < step ? size - i : step;
    memcpy(small + made, (unsigned char[]){bytes[0], bytes[1], bytes[2], 0, (unsigned char)part}, 5);
    memcpy(small + made + 5, bytes + i, part);
    made += 5 + part;
  }
  memcpy(bytes, small, made);
  return made;
}

/* Sends records of a kind until the server has had enough; fails if it takes them for ever. */
static void pour(struct pair *pair, unsigned char kind, int is_random, size_t size, long number) {
  static unsigned char record[5 + 16640];
  for (size_t sent = 0; !pair->is_over; sent += size + 5) {
    if (sent > ENDLESS) fail("it takes everything", number);
    memcpy(record, (unsigned char[]){kind, 3, 3, (unsigned char)(size >> 8), (unsigned char)size}, 5);
    if (is_random) RAND_bytes(record + 5, (int)size);
    else memset(record + 5, kind == 21 ? 1 : 0, size);
    deliver(pair, record, size + 5);
  }
}

static void shake(struct pair *pair) {
  static unsigned char bytes[CAPACITY];
  for (int turns = 0; turns < 10 && !pair->is_over; turns++) {
    int result = SSL_do_handshake(pair->client);
    size_t size = flight(pair, bytes);
    deliver(pair, bytes, size);
    hear(pair);
    if (result == 1) return;
  }
}

static void try_case(long number, enum damage damage) {
  static unsigned char bytes[CAPACITY];
  struct pair pair = {0};
  int ends[2], version = (int)chance(2);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) fail("no sockets", number);
  pair.ours = ends[0];
  pair.theirs = ends[1];
  fcntl(pair.ours, F_SETFL, O_NONBLOCK);
  pair.session = ctls_session_new(server, pair.ours);
  pair.client = SSL_new(clients[version]);
  if (!pair.session || !pair.client) fail("no memory", number);
  SSL_set_bio(pair.client, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_connect_state(pair.client);
  SSL_set_tlsext_host_name(pair.client, "localhost");
  if (tickets[version] && chance(2)) SSL_set_session(pair.client, tickets[version]);

  if (damage == NONE || damage >= LATER_BYTES) {
    if (damage == LATER_BYTES && chance(2)) {
      /* The second flight, with which the handshake ends. */
      SSL_do_handshake(pair.client);
      deliver(&pair, bytes, flight(&pair, bytes));
      hear(&pair);
      SSL_do_handshake(pair.client);
      deliver(&pair, bytes, with_other_bytes(bytes, flight(&pair, bytes)));
    } else {
      shake(&pair);
      if (!pair.is_shaken) fail("a good handshake has failed", number);
      if (damage == LATER_GARBAGE) pour(&pair, (unsigned char)(20 + chance(6)), 1, chance(16640), number);
      if (damage == LATER_RECORDS) {
        for (int i = 0; i < 300 && !pair.is_over; i++) {
          if (version && chance(2)) SSL_key_update(pair.client, SSL_KEY_UPDATE_NOT_REQUESTED);
          SSL_write(pair.client, "x", 1);
          deliver(&pair, bytes, flight(&pair, bytes));
        }
      }
      SSL_write(pair.client, "GET / HTTP/1.1\r\n\r\n", 18);
      size_t size = flight(&pair, bytes);
      deliver(&pair, bytes, damage == LATER_BYTES ? with_other_bytes(bytes, size) : size);
      hear(&pair);
      if (damage == NONE && (SSL_read(pair.client, bytes, 100) != 6 || memcmp(bytes, "answer", 6)))
        fail("a good client has no answer", number);
    }
  } else {
    SSL_do_handshake(pair.client);
    size_t size = flight(&pair, bytes);
    SSL_free(pair.client);
    pair.client = NULL;
    switch (damage) {
    case OTHER_BYTES: size = with_other_bytes(bytes, size); break;
    case CUT_OFF:
    case SILENT: size = chance(size); break;
    case SMALL_RECORDS: size = in_small_records(bytes, size); break;
    case OTHER_LENGTH: bytes[chance(2) ? 3 + chance(2) : 6 + chance(3)] = (unsigned char)chance(256); break;
    case ENDLESS_MESSAGE: bytes[6] = bytes[7] = bytes[8] = 255; break;
    default: size = chance(size); break;
    }
    deliver(&pair, bytes, size);
    if (damage == CUT_OFF) shutdown(pair.theirs, SHUT_WR);
    if (damage == ENDLESS_MESSAGE) pour(&pair, 22, 0, 1 + chance(16384), number);
    if (damage == ENDLESS_GARBAGE) pour(&pair, (unsigned char)chance(256), 1, chance(16640), number);
    if (damage == ENDLESS_ALERTS) pour(&pair, 21, 0, 2, number);
  }
  turn(&pair);
  if (pair.is_over) refused++;
  else waiting++;
  ctls_session_finish(pair.session);
  ctls_session_free(pair.session);
  if (pair.client) {
    hear(&pair);
    SSL_read(pair.client, bytes, 100); /* takes the ticket of TLS 1.3 */
    SSL_shutdown(pair.client);
    SSL_free(pair.client);
  }
  close(pair.ours);
  close(pair.theirs);
}

static char *file(const char *path, size_t *size) {
  FILE *file = fopen(path, "r");
  char *text = malloc(1 << 16);
  if (!file || !text) fail(path, 0);
  *size = fread(text, 1, 1 << 16, file);
  fclose(file);
  return text;
}

int main(int words, char **word) {
  if (words != 5) return 64;
  long cases = atol(word[3]);
  signal(SIGPIPE, SIG_DFL); /* none may be raised */
  state = strtoull(word[4], NULL, 10) * 2 + 1;
  for (int i = 0; i < 100; i++) chance(2);
  struct ctls_tickets *keys = ctls_tickets_new();
  unsigned char key[CTLS_TICKET_KEY];
  memset(key, 7, sizeof key);
  ctls_tickets_set(keys, key, 1);
  server = ctls_context_new(keys);
  size_t chain_size, key_size;
  char *chain = file(word[1], &chain_size), *secret = file(word[2], &key_size);
  const char *problem = ctls_context_add(server, chain, chain_size, secret, key_size);
  if (problem) fail(problem, 0);
  for (int version = 0; version < 2; version++) {
    clients[version] = SSL_CTX_new(TLS_client_method());
    int number = version ? TLS1_3_VERSION : TLS1_2_VERSION;
    SSL_CTX_set_min_proto_version(clients[version], number);
    SSL_CTX_set_max_proto_version(clients[version], number);
    SSL_CTX_set_session_cache_mode(clients[version], SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(clients[version], keep_ticket);
  }
  for (int i = 0; i < 50; i++) try_case(-1, NONE);
  size_t before = __sanitizer_get_current_allocated_bytes();
  peak = before;
  complete = refused = waiting = 0;
  for (long i = 0; i < cases; i++) {
    try_case(i, (enum damage)(1 + chance(DAMAGES - 1)));
    if (i % 100 == 0) try_case(i, NONE);
    if (__sanitizer_get_current_allocated_bytes() > before + MOST_MEMORY) fail("memory is kept", i);
    if (peak > before + MOST_MEMORY) fail("it takes much memory", i);
  }
  printf("%ld cases: %ld handshakes, %ld refused, %ld waiting, at most %zu KiB\n", cases, complete, refused, waiting,
         (peak - before) >> 10);
  SSL_SESSION_free(tickets[0]);
  SSL_SESSION_free(tickets[1]);
  SSL_CTX_free(clients[0]);
  SSL_CTX_free(clients[1]);
  ctls_context_free(server);
  ctls_tickets_free(keys);
  free(chain);
  free(secret);
}
