/* Decoders of sound for the plugin `sound`; the server links none of them. */
#pragma once
#include <mpg123.h>   /* MPEG audio layers I to III */
#include <neaacdec.h> /* AAC */

/* Samples shall come as floats, and nothing be printed; mpg123_param is a macro, which Swift cannot see. */
static inline int csound_use_floats(mpg123_handle *decoder) {
  return mpg123_param(decoder, MPG123_ADD_FLAGS, MPG123_FORCE_FLOAT | MPG123_QUIET, 0);
}
