/* The least that a TLS server can do with OpenSSL: accept, handshake, read, write, close, one connection after the
   other, and for each the same answer. The processor time of a handshake with this library, beside the servers.

     tlsfloor CERTIFICATE KEY SIZE     prints its port

   One ticket for a connection, as a server sends that does not expect a client to make several next. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void fail(const char *what) {
  perror(what);
  exit(1);
}

int main(int count, char **arguments) {
  if (count < 4) {
    fprintf(stderr, "usage: tlsfloor CERTIFICATE KEY SIZE\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  if (
    !context || SSL_CTX_use_certificate_chain_file(context, arguments[1]) != 1 ||
    SSL_CTX_use_PrivateKey_file(context, arguments[2], SSL_FILETYPE_PEM) != 1)
    fail("certificate");
  SSL_CTX_set_num_tickets(context, 1);
  size_t size = (size_t)atoll(arguments[3]);
  char *answer = calloc(1, size + 256), request[4096];
  int length = sprintf(
    answer, "HTTP/1.1 200 X\r\nServer: floor\r\nContent-Type: audio/wav\r\nContent-Length: %zu\r\n\r\n", size);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t space = sizeof address;
  int listening = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  if (listening < 0 || bind(listening, (struct sockaddr *)&address, space) || listen(listening, 1024)) fail("listen");
  getsockname(listening, (struct sockaddr *)&address, &space);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    int socket = accept(listening, NULL, NULL);
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    SSL *connection = SSL_new(context);
    SSL_set_fd(connection, socket);
    /* Until the client's close_notify. */
    if (SSL_accept(connection) == 1)
      while (SSL_read(connection, request, sizeof request) > 0) SSL_write(connection, answer, length + (int)size);
    SSL_shutdown(connection);
    SSL_free(connection);
    close(socket);
  }
}
