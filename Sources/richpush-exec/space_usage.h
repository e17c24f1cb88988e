#pragma once
#include "launch_spec.h"

/* How what the descendants of this process use of the disk compares with the limit of the spec. */
enum space_usage { space_left, space_exceeded, space_uncounted };

/* Adds up their files: those in their writable folders, and those without a name that they have open or mapped.
 *
 * `space_uncounted`: some could not be counted, because they keep a folder from being listed, hide their open files,
 * or have sent descriptors to a socket and not received them; or changed while they were counted. */
enum space_usage measure_space(const struct launch_spec *spec);
