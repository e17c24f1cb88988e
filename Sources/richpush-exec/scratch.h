#pragma once
#include "order.h"

/* What the server cannot do itself in a folder that belongs to a plugin's user: `order->write[0]`. */

/* Sends a descriptor of the regular file `order->open` below the folder over `channel`, or `failed`. */
void scratch_open(const struct order *order, int channel);

/* Removes all that the folder holds, however deep and whatever its modes, and sends `done` or `failed`. */
void scratch_empty(const struct order *order, int channel);
