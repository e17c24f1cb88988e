#define _GNU_SOURCE
#include "message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

ssize_t packet_receive(int socket, char *packet, int *files, int most) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int) * most_descriptors)];
  } control;
  struct iovec piece = {packet, largest_packet};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control,
                           .msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)most)};
  ssize_t length;
  do length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (length < 0 && errno == EINTR);
  for (int i = 0; i < most; i++) files[i] = -1;
  if (length > 0 && message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) return errno = EMSGSIZE, -1;
  struct cmsghdr *header = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (header && header->cmsg_type == SCM_RIGHTS)
    memcpy(files, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
  return length;
}

bool packet_split(char *packet, size_t length, char *words[most_words + 1]) {
  size_t count = 0;
  if (packet[length - 1] != 0) return false;
  for (char *word = packet; word < packet + length; word += strlen(word) + 1) {
    if (count == most_words) return false;
    words[count++] = word;
  }
  words[count] = NULL;
  return true;
}

void packet_send(int socket, const char *text, int file) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec piece = {(void *)text, strlen(text)};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  if (file >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    control.header = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(&control.header), &file, sizeof file);
  }
  sendmsg(socket, &message, MSG_NOSIGNAL);
}
