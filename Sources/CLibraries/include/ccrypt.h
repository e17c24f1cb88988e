#pragma once
#include <stdbool.h>
#include <stddef.h>

/* A fresh yescrypt hash of `password` (crypt(5) "$y$", a salt from the kernel) into `hash`; false when crypt(3) fails. */
bool ccrypt_hash(const char *password, char *hash, size_t capacity);

/* Whether `password` gives `hash`, compared in constant time; false for a hash that crypt(3) refuses. */
bool ccrypt_verify(const char *password, const char *hash);
