/* A baseline JPEG at 1/8 or 2/8: the means of blocks, or of their quarters, need the first coefficients alone. What
   follows is still coded, and to read it is nearly all that a decoder does; so its codes are passed over several at a
   time. libjpeg reads the header with its tables, and begins again where anything is unusual. */
#include "jpeg_codes.h"
#include "jpeg_reduced.h"

enum { KEPT = 5, LOOKS = 56 / PEEK }; /* coefficients up to the last of the lowest 2x2, in zigzag order */

/* Reads a block: adds to its mean, and writes what follows up to `kept`. */
static inline int read_block(
  struct jpeg_stream *stream, const struct jpeg_codes *dc, const struct jpeg_codes *ac, int kept, int *coefficients
) {
  struct jpeg_bits bits = filled(stream, stream->rest);
  int size = next_symbol(&bits, dc), k = 1;
  if (size < 0 || size > 11) return -1;
  coefficients[0] += next_value(&bits, size);
  while (k < kept) {
    bits = filled(stream, bits);
    int symbol = next_symbol(&bits, ac);
    if (symbol < 0 || (symbol & 15) > 10) return -1;
    if (ends_block(symbol)) goto ended;
    k += symbol >> 4;
    int value = next_value(&bits, symbol & 15);
    if (k < kept) coefficients[k] = value;
    k++;
  }
  while (k < DCTSIZE2) {
    bits = filled(stream, bits);
    for (int i = 0; i < LOOKS; i++) {
      int run = ac->runs[peek(bits, PEEK)], advance = run >> 8 & 127;
      if (!run || k + advance >= DCTSIZE2) goto single;
      drop(&bits, run & 255);
      if (run >> 15) goto ended;
      k += advance;
    }
    continue;
  single:
    bits = filled(stream, bits);
    int symbol = next_symbol(&bits, ac);
    if (symbol < 0) return -1;
    if (ends_block(symbol)) goto ended;
    drop(&bits, symbol & 15);
    k += (symbol >> 4) + 1;
  }
  if (k > DCTSIZE2) return -1;
ended:
  stream->rest = bits;
  return 0;
}

static inline JSAMPLE level(int sum) {
  int value = ((sum + 4) >> 3) + CENTERJSAMPLE;
  return (JSAMPLE)(value < 0 ? 0 : value > MAXJSAMPLE ? MAXJSAMPLE : value);
}

/* The inverse transform of one point, or of two in each direction. */
static inline void write_block(const int *c, const UINT16 *quant, int size, JSAMPROW out, size_t stride) {
  int mean = c[0] * quant[0];
  if (size == 1) {
    *out = level(mean);
    return;
  }
  int across = c[1] * quant[1], down = c[2] * quant[8], both = c[4] * quant[9];
  out[0] = level(mean + across + down + both);
  out[1] = level(mean - across + down - both);
  out[stride] = level(mean + across - down - both);
  out[stride + 1] = level(mean - across - down + both);
}

struct component {
  const struct jpeg_codes *dc, *ac;
  const UINT16 *quant;
  JSAMPROW samples;
  size_t stride;
  int across, down, mean; /* blocks in a unit (MCU); the sum of the means' differences */
};

/* A scan of all components: how many units it has, and what they are made of. */
struct scan {
  struct jpeg_stream stream;
  struct component parts[CODEC_PLANES];
  int count, size, columns, rows;
};

static const struct jpeg_codes *codes_of(j_decompress_ptr codec, const JHUFF_TBL *from, int joined) {
  if (!from) return NULL;
  struct jpeg_codes *codes = codec->mem->alloc_large((j_common_ptr)codec, JPOOL_IMAGE, sizeof *codes);
  return jpeg_codes_fill(codes, from, joined) < 0 ? NULL : codes;
}

static int prepare_part(struct scan *scan, int index, int is_alone) {
  j_decompress_ptr codec = scan->stream.codec;
  const jpeg_component_info *info = codec->comp_info + index;
  struct component *part = scan->parts + index;
  if (codec->cur_comp_info[index] != info || info->quant_tbl_no >= NUM_QUANT_TBLS) return 0;
  if (info->dc_tbl_no >= NUM_HUFF_TBLS || info->ac_tbl_no >= NUM_HUFF_TBLS) return 0;
  const JQUANT_TBL *quant = codec->quant_tbl_ptrs[info->quant_tbl_no];
  if (!quant) return 0;
  *part = (struct component){
    .quant = quant->quantval,
    .across = is_alone ? 1 : info->h_samp_factor,
    .down = is_alone ? 1 : info->v_samp_factor,
  };
  for (int i = 0; i < index; i++) { /* Cr has the tables of Cb */
    if (codec->comp_info[i].dc_tbl_no == info->dc_tbl_no) part->dc = scan->parts[i].dc;
    if (codec->comp_info[i].ac_tbl_no == info->ac_tbl_no) part->ac = scan->parts[i].ac;
  }
  if (!part->dc) part->dc = codes_of(codec, codec->dc_huff_tbl_ptrs[info->dc_tbl_no], 0);
  if (!part->ac) part->ac = codes_of(codec, codec->ac_huff_tbl_ptrs[info->ac_tbl_no], 1);
  part->stride = (size_t)(scan->columns * part->across * scan->size);
  part->samples = codec->mem->alloc_large(
    (j_common_ptr)codec, JPOOL_IMAGE, part->stride * (size_t)(scan->rows * part->down * scan->size));
  return part->dc && part->ac;
}

/* 0 unless it is baseline and in one scan. */
static int prepare(struct scan *scan, j_decompress_ptr codec, int size, codec_plane *planes) {
  if (codec->progressive_mode || codec->arith_code || codec->data_precision != 8) return 0;
  if (codec->comps_in_scan != codec->num_components || codec->num_components > CODEC_PLANES) return 0;
  int is_alone = codec->num_components == 1;
  int widest = (is_alone ? 1 : codec->max_h_samp_factor) * DCTSIZE;
  int highest = (is_alone ? 1 : codec->max_v_samp_factor) * DCTSIZE;
  int width = (int)codec->image_width, height = (int)codec->image_height;
  *scan = (struct scan){
    .stream = {.codec = codec},
    .count = codec->num_components,
    .size = size,
    .columns = (width + widest - 1) / widest,
    .rows = (height + highest - 1) / highest,
  };
  for (int i = 0; i < scan->count; i++) {
    const struct component *part = scan->parts + i;
    if (!prepare_part(scan, i, is_alone)) return 0;
    int across = part->across * size, down = part->down * size;
    planes[i] = (codec_plane){
      .width = (width * across + widest - 1) / widest,
      .height = (height * down + highest - 1) / highest,
      .row_bytes = (int)part->stride,
      .band_rows = down,
      .across = (double)across / widest,
      .down = (double)down / highest,
    };
  }
  return 1;
}

static int read_unit(struct scan *scan, int column, int row) {
  int size = scan->size, kept = size == 1 ? 1 : KEPT;
  for (struct component *part = scan->parts; part < scan->parts + scan->count; part++) {
    for (int y = 0; y < part->down; y++) {
      JSAMPROW out = part->samples + part->stride * (size_t)((row * part->down + y) * size);
      for (int x = 0; x < part->across; x++) {
        int coefficients[KEPT] = {part->mean};
        if (read_block(&scan->stream, part->dc, part->ac, kept, coefficients) < 0) return -1;
        part->mean = coefficients[0];
        if (part->mean < -4096 || part->mean > 4096) return -1;
        write_block(coefficients, part->quant, size, out + (column * part->across + x) * size, part->stride);
      }
    }
  }
  return 0;
}

static int read_scan(struct scan *scan) {
  int interval = (int)scan->stream.codec->restart_interval, left = interval, number = 0;
  for (int row = 0; row < scan->rows; row++) {
    for (int column = 0; column < scan->columns; column++, left--) {
      if (interval && left == 0) {
        if (jpeg_bits_marker(&scan->stream) != JPEG_RST0 + number) return -1;
        for (int i = 0; i < scan->count; i++) scan->parts[i].mean = 0;
        left = interval;
        number = (number + 1) & 7;
      }
      if (read_unit(scan, column, row) < 0) return -1;
    }
    if (scan->stream.rest.count < scan->stream.missing) return -1;
  }
  return jpeg_bits_marker(&scan->stream) == JPEG_EOI ? 1 : -1;
}

int jpeg_reduced_read(j_decompress_ptr codec, int size, struct jpeg_reduced *out, codec_plane *planes) {
  struct scan scan;
  if (!prepare(&scan, codec, size, planes)) return 0;
  for (int i = 0; i < scan.count; i++) out->samples[i] = scan.parts[i].samples;
  out->bands = scan.rows;
  out->band = 0;
  return read_scan(&scan);
}

int jpeg_reduced_band(
  struct jpeg_reduced *reduced, const codec_plane *planes, int count, const codec_band *band
) {
  if (reduced->band == reduced->bands) return 0;
  for (int i = 0; i < count; i++) {
    size_t stride = (size_t)planes[i].row_bytes;
    for (int y = 0; y < planes[i].band_rows; y++) {
      int row = reduced->band * planes[i].band_rows + y;
      memcpy(band->rows[i] + band->strides[i] * (size_t)y, reduced->samples[i] + stride * (size_t)row, stride);
    }
  }
  reduced->band++;
  return 1;
}
