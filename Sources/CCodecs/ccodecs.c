#include "ccodecs.h"

int ccodecs_ready(void) { return 1; }
