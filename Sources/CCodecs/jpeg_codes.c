#include "jpeg_codes.h"

static int fill_codes(struct jpeg_codes *codes, const JHUFF_TBL *from) {
  codes->values = from->huffval;
  int code = 0, index = 0;
  for (int length = 1; length <= 16; length++, code <<= 1) {
    codes->offset[length] = index - code;
    for (int i = 0; i < from->bits[length]; i++, code++, index++) {
      if (index > 255 || code >= 1 << length) return -1;
      if (length > PEEK) continue;
      uint16_t *first = codes->codes + (code << (PEEK - length));
      for (int k = 0; k < 1 << (PEEK - length); k++) first[k] = (uint16_t)(from->huffval[index] << 8 | length);
    }
    codes->largest[length] = from->bits[length] ? code - 1 : -1;
  }
  return 0;
}

static void join_runs(struct jpeg_codes *codes) {
  for (int peeked = 0; peeked < 1 << PEEK; peeked++) {
    int bits = 0, advance = 0, ends = 0;
    while (!ends) {
      int code = codes->codes[(peeked << bits) & ((1 << PEEK) - 1)];
      int symbol = code >> 8, whole = (code & 255) + (symbol & 15), step = (symbol >> 4) + 1;
      if (code == 0 || bits + whole > PEEK || advance + step >= DCTSIZE2) break;
      ends = ends_block(symbol);
      if (!ends) advance += step;
      bits += whole;
    }
    codes->runs[peeked] = (uint16_t)(ends << 15 | advance << 8 | bits);
  }
}

static void join_values(struct jpeg_codes *codes) {
  for (int glanced = 0; glanced < 1 << GLANCE; glanced++) {
    int code = codes->codes[glanced << (PEEK - GLANCE)], symbol = code >> 8, size = symbol & 15;
    struct jpeg_bits bits = {(uint64_t)glanced << (64 - GLANCE), GLANCE};
    drop(&bits, code & 255);
    if (code == 0 || bits.count < size) continue;
    codes->steps[glanced] = (struct jpeg_step){
      .value = (int16_t)next_value(&bits, size),
      .steps = ends_block(symbol) ? 0 : (uint8_t)((symbol >> 4) + 1),
      .bits = (uint8_t)(GLANCE - bits.count),
    };
  }
}

int jpeg_codes_fill(struct jpeg_codes *codes, const JHUFF_TBL *from, int joined) {
  memset(codes, 0, sizeof *codes);
  if (fill_codes(codes, from) < 0) return -1;
  if (joined) {
    join_runs(codes);
    join_values(codes);
  }
  return 0;
}

static int next_byte(j_decompress_ptr codec) {
  struct jpeg_source_mgr *source = codec->src;
  if (source->bytes_in_buffer == 0) source->fill_input_buffer(codec);
  source->bytes_in_buffer--;
  return *source->next_input_byte++;
}

struct jpeg_bits jpeg_bits_more(struct jpeg_stream *stream, struct jpeg_bits bits) {
  for (; bits.count < 56; bits.count += 8) {
    int byte = stream->marker ? 0 : next_byte(stream->codec);
    if (byte == 0xFF) {
      do stream->marker = next_byte(stream->codec);
      while (stream->marker == 0xFF);
      if (stream->marker) byte = 0;
    }
    if (stream->marker) stream->missing += 8;
    bits.bits |= (uint64_t)byte << (56 - bits.count);
  }
  return bits;
}

int jpeg_bits_marker(struct jpeg_stream *stream) {
  if (!stream->marker) stream->rest = jpeg_bits_more(stream, stream->rest);
  int left = stream->rest.count - stream->missing;
  int found = left < 0 || left > 7 || !stream->marker ? -1 : stream->marker;
  stream->rest = (struct jpeg_bits){0, 0};
  stream->missing = stream->marker = 0;
  return found;
}
