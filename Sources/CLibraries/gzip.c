#include "czlib.h"

#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

uint8_t *czlib_gzip(const void *bytes, size_t count, size_t *size) {
  z_stream stream = {0};
  // 16 more than the largest window: the header and the trailer of gzip.
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    return NULL;
  size_t bound = deflateBound(&stream, count);
  uint8_t *output = malloc(bound);
  stream.next_in = (Bytef *)bytes;
  stream.avail_in = (uInt)count;
  stream.next_out = output;
  stream.avail_out = (uInt)bound;
  bool isComplete = output && deflate(&stream, Z_FINISH) == Z_STREAM_END;
  *size = stream.total_out;
  deflateEnd(&stream);
  if (isComplete) return output;
  free(output);
  return NULL;
}
