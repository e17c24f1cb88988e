/* Decoders of sound for the plugin `sound`; the server links none of them. */
#pragma once
#include <mpg123.h>   /* MPEG audio layers I to III */
#include <neaacdec.h> /* AAC */

/* Samples shall come as floats, all of them, and nothing be printed: of files that were joined or cut, the first frame
   describes another file, and what is between the parts has any length. mpg123_param is a macro, which Swift cannot see. */
static inline int csound_configure(mpg123_handle *decoder) {
  int status = mpg123_param(
      decoder, MPG123_ADD_FLAGS, MPG123_FORCE_FLOAT | MPG123_QUIET | MPG123_IGNORE_INFOFRAME, 0);
  return status == MPG123_OK ? mpg123_param(decoder, MPG123_RESYNC_LIMIT, -1, 0) : status;
}
