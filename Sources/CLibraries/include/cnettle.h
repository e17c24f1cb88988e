#pragma once
#include <stdbool.h>

/* Diffie-Hellman on P-256 (NIST SP 800-186), which GnuTLS 3.7 does not offer. A point is uncompressed: 4, x, y.
   All numbers are big-endian. */

/* Whether `point` is on the curve. */
bool cnettle_p256_is_point(const unsigned char point[65]);

/* The point of a private key; false if the key is 0 or not below the curve's order. */
bool cnettle_p256_public(const unsigned char key[32], unsigned char point[65]);

/* The x coordinate that a private key and another's point have in common (RFC 6090); false for an invalid key
   and for a point that is not on the curve. */
bool cnettle_p256_agree(const unsigned char key[32], const unsigned char point[65],
                        unsigned char secret[32]);
