/* Sockets. The words: the path of a stream socket, of a datagram socket, an abstract name, a TCP port and a
 * UDP port on the loopback. */
#define _GNU_SOURCE
#include "attack.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un place;

static socklen_t at(const char *path, int is_abstract) {
  memset(&place, 0, sizeof place);
  place.sun_family = AF_UNIX;
  strncpy(place.sun_path + is_abstract, path, sizeof place.sun_path - 2);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)is_abstract + strlen(path));
}

static void stream(char **words) {
  int socket_ = socket(AF_UNIX, SOCK_STREAM, 0);
  say("socket", socket_);
  socklen_t size = at(words[0], 0);
  say("connect", connect(socket_, (struct sockaddr *)&place, size));
  say("write", write(socket_, "attack", 6));
}

static void datagram(char **words) {
  int socket_ = socket(AF_UNIX, SOCK_DGRAM, 0);
  socklen_t size = at(words[1], 0);
  say("sendto", sendto(socket_, "attack", 6, 0, (struct sockaddr *)&place, size));
}

static void message(char **words) {
  int socket_ = socket(AF_UNIX, SOCK_DGRAM, 0);
  socklen_t size = at(words[1], 0);
  struct iovec bytes = {"attack", 6};
  struct msghdr header = {.msg_name = &place, .msg_namelen = size, .msg_iov = &bytes, .msg_iovlen = 1};
  say("sendmsg", sendmsg(socket_, &header, 0));
  struct mmsghdr several = {.msg_hdr = header};
  say("sendmmsg", sendmmsg(socket_, &several, 1, 0));
}

/* A pair of datagram sockets needs no socket(), and may be sent elsewhere. */
static void datagram_of_pair(char **words) {
  int pair[2] = {-1, -1};
  say("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
  socklen_t size = at(words[1], 0);
  say("sendto", sendto(pair[0], "attack", 6, 0, (struct sockaddr *)&place, size));
}

static void connected_pair(char **words) {
  int pair[2] = {-1, -1};
  say("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
  socklen_t size = at(words[1], 0);
  say("connect", connect(pair[0], (struct sockaddr *)&place, size));
  say("write", write(pair[0], "attack", 6));
}

static void abstract(char **words) {
  int socket_ = socket(AF_UNIX, SOCK_STREAM, 0);
  socklen_t size = at(words[2], 1);
  say("connect", connect(socket_, (struct sockaddr *)&place, size));
}

static struct sockaddr_in loopback(const char *port) {
  return (struct sockaddr_in){.sin_family = AF_INET,
                              .sin_port = htons((unsigned short)atoi(port)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void tcp(char **words) {
  struct sockaddr_in address = loopback(words[3]);
  int socket_ = socket(AF_INET, SOCK_STREAM, 0);
  say("socket", socket_);
  say("connect", connect(socket_, (struct sockaddr *)&address, sizeof address));
}

/* TCP Fast Open sends without connecting. */
static void tcp_fast(char **words) {
  struct sockaddr_in address = loopback(words[3]);
  int socket_ = socket(AF_INET, SOCK_STREAM, 0);
  say("sendto MSG_FASTOPEN",
      sendto(socket_, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&address, sizeof address));
}

static void multipath(char **words) {
  struct sockaddr_in address = loopback(words[3]);
  int socket_ = socket(AF_INET, SOCK_STREAM, 262 /* IPPROTO_MPTCP */);
  say("connect MPTCP", connect(socket_, (struct sockaddr *)&address, sizeof address));
}

static void udp(char **words) {
  struct sockaddr_in address = loopback(words[4]);
  int socket_ = socket(AF_INET, SOCK_DGRAM, 0);
  say("sendto", sendto(socket_, "attack", 6, 0, (struct sockaddr *)&address, sizeof address));
}

const struct attack_entry attacks_on_sockets[] = {
    {"unix-stream", stream}, {"unix-datagram", datagram}, {"unix-message", message},
    {"unix-pair", datagram_of_pair}, {"unix-pair-connected", connected_pair},
    {"unix-abstract", abstract}, {"tcp", tcp}, {"tcp-fast", tcp_fast}, {"mptcp", multipath},
    {"udp", udp}, {NULL, NULL},
};
