#pragma once
/* What Linux has and Swift's Glibc module does not show: each room adds the calls it needs. */
#include <stdint.h>
#include <sys/types.h>
