#pragma once

#include <openssl/types.h>
#include <stddef.h>

/* A private key in PEM; or NULL and why. */
EVP_PKEY *openssl_read_key(const char *pem, size_t size, const char **complaint);
