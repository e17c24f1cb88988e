#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { largest_packet = 256 * 1024, most_words = 1024 };

/* Receives the next packet into `packet`, of the largest size, with at most `most` descriptors; what does not come is -1.
 * Returns its length; 0 when the other end is closed. */
ssize_t packet_receive(int socket, char *packet, int *files, int most);

/* The words of the packet, each of which ends with NUL; false when there are too many. */
bool packet_split(char *packet, size_t length, char *words[most_words + 1]);
