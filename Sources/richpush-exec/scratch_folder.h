#pragma once
#include "launch_spec.h"

/* What the server cannot do itself in `spec->write[0]`, a folder that belongs to a plugin's user. */

/* Sends over `channel` a descriptor of the regular file `spec->open` in the folder with `done`, or `failed`. */
void scratch_open(const struct launch_spec *spec, int channel);

/* Removes everything in the folder, whatever its depth and modes, and sends `done` or `failed`. */
void scratch_empty(const struct launch_spec *spec, int channel);
