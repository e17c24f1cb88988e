#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The most that the server sends: a plugin's environment is a fraction of it. */
enum { largest_packet = 256 * 1024, most_words = 1024, most_descriptors = 4 };

/* Receives a packet of at most `largest_packet` bytes and up to `most` descriptors; missing ones are -1.
 * Returns its length; 0 when the other end is closed. */
ssize_t packet_receive(int socket, char *packet, int *files, int most);

/* Splits a packet into its words, each terminated by NUL; false when there are too many. */
bool packet_split(char *packet, size_t length, char *words[most_words + 1]);

/* Sends `text` with a descriptor, unless `file` is -1. */
void packet_send(int socket, const char *text, int file);
