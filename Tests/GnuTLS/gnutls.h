#pragma once
/* Another TLS library than the server's, for the clients of its tests. */
#include <gnutls/gnutls.h>
