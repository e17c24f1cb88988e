/* A baseline JPEG at 1/8, 2/8 or 4/8: one, four or sixteen samples of a block need as many of its lowest coefficients.
   What follows is still coded, and to read it is nearly all that a decoder does; so its codes are passed over several
   at a time. libjpeg reads the header with its tables, and the whole picture again where anything is unusual. */
#include "jpeg_codes.h"
#include "jpeg_inverse.h"
#include "jpeg_reduced.h"

enum { MOST_KEPT = 25, RUN = 16, LOOKS = 56 / PEEK };

/* Coefficients up to the last of the lowest, in zigzag order. */
static inline int kept_at(int size) { return size == 1 ? 1 : size == 2 ? 5 : MOST_KEPT; }

/* Reads a block: adds to its mean, and writes what follows up to `kept`, or a run further. */
static inline int read_block(
  struct jpeg_stream *stream, const struct jpeg_codes *dc, const struct jpeg_codes *ac, int kept, int *coefficients
) {
  struct jpeg_bits bits = filled(stream, stream->rest);
  int size = next_symbol(&bits, dc), k = 1;
  if (size < 0 || size > 11) return -1;
  coefficients[0] += next_value(&bits, size);
  while (k < kept) {
    if (bits.count < 32) bits = filled(stream, bits);
    struct jpeg_step step = ac->steps[peek(bits, GLANCE)];
    if (step.bits) {
      drop(&bits, step.bits);
      if (step.steps == 0) goto ended;
      k += step.steps;
      coefficients[k - 1] = step.value;
      continue;
    }
    int symbol = next_symbol(&bits, ac);
    if (symbol < 0 || (symbol & 15) > 10) return -1;
    if (ends_block(symbol)) goto ended;
    k += (symbol >> 4) + 1;
    coefficients[k - 1] = next_value(&bits, symbol & 15);
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

struct component {
  const struct jpeg_codes *dc, *ac;
  const UINT16 *quant;
  int across, down, mean; /* blocks in a unit (MCU); the sum of the means' differences */
};

/* A scan of all components: how many units it has, and what they are made of. */
struct jpeg_reduced {
  struct jpeg_stream stream;
  struct component parts[CODEC_PLANES];
  int count, size, columns, rows, row;
  int left, marker; /* units before the next restart marker, and its number */
};

static const struct jpeg_codes *codes_of(j_decompress_ptr codec, const JHUFF_TBL *from, int joined) {
  if (!from) return NULL;
  struct jpeg_codes *codes = codec->mem->alloc_large((j_common_ptr)codec, JPOOL_IMAGE, sizeof *codes);
  return jpeg_codes_fill(codes, from, joined) < 0 ? NULL : codes;
}

static int prepare_part(struct jpeg_reduced *scan, int index, int is_alone) {
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
  return part->dc && part->ac;
}

/* 0 unless it is baseline and in one scan. */
static int prepare(struct jpeg_reduced *scan, j_decompress_ptr codec, int size, codec_plane *planes) {
  if (codec->progressive_mode || codec->arith_code || codec->data_precision != 8) return 0;
  if (codec->comps_in_scan != codec->num_components || codec->num_components > CODEC_PLANES) return 0;
  int is_alone = codec->num_components == 1;
  int widest = (is_alone ? 1 : codec->max_h_samp_factor) * DCTSIZE;
  int highest = (is_alone ? 1 : codec->max_v_samp_factor) * DCTSIZE;
  int width = (int)codec->image_width, height = (int)codec->image_height;
  *scan = (struct jpeg_reduced){
    .stream = {.codec = codec},
    .count = codec->num_components,
    .size = size,
    .columns = (width + widest - 1) / widest,
    .rows = (height + highest - 1) / highest,
    .left = (int)codec->restart_interval,
  };
  for (int i = 0; i < scan->count; i++) {
    const struct component *part = scan->parts + i;
    if (!prepare_part(scan, i, is_alone)) return 0;
    int across = part->across * size, down = part->down * size;
    planes[i] = (codec_plane){
      .width = (width * across + widest - 1) / widest,
      .height = (height * down + highest - 1) / highest,
      .row_bytes = scan->columns * across,
      .band_rows = down,
      .across = (double)across / widest,
      .down = (double)down / highest,
    };
  }
  return 1;
}

static int read_unit(struct jpeg_reduced *scan, int column, const codec_band *band) {
  int size = scan->size, kept = kept_at(size);
  for (int i = 0; i < scan->count; i++) {
    struct component *part = scan->parts + i;
    size_t stride = band->strides[i];
    for (int y = 0; y < part->down; y++) {
      JSAMPROW out = band->rows[i] + stride * (size_t)(y * size) + column * part->across * size;
      for (int x = 0; x < part->across; x++) {
        int coefficients[MOST_KEPT + RUN];
        memset(coefficients, 0, sizeof(int) * (size_t)kept);
        coefficients[0] = part->mean;
        if (read_block(&scan->stream, part->dc, part->ac, kept, coefficients) < 0) return -1;
        part->mean = coefficients[0];
        if (part->mean < -4096 || part->mean > 4096) return -1;
        write_block(coefficients, part->quant, size, out + x * size, stride);
      }
    }
  }
  return 0;
}

static int restart(struct jpeg_reduced *scan) {
  if (jpeg_bits_marker(&scan->stream) != JPEG_RST0 + scan->marker) return -1;
  for (int i = 0; i < scan->count; i++) scan->parts[i].mean = 0;
  scan->left = (int)scan->stream.codec->restart_interval;
  scan->marker = (scan->marker + 1) & 7;
  return 0;
}

struct jpeg_reduced *jpeg_reduced_start(j_decompress_ptr codec, int size, codec_plane *planes) {
  struct jpeg_reduced *scan = codec->mem->alloc_small((j_common_ptr)codec, JPOOL_IMAGE, sizeof *scan);
  return prepare(scan, codec, size, planes) ? scan : NULL;
}

int jpeg_reduced_band(struct jpeg_reduced *scan, const codec_band *band) {
  if (scan->row == scan->rows) return 0;
  int restarts = scan->stream.codec->restart_interval > 0;
  for (int column = 0; column < scan->columns; column++, scan->left--) {
    if (restarts && scan->left == 0 && restart(scan) < 0) return -1;
    if (read_unit(scan, column, band) < 0) return -1;
  }
  if (scan->stream.rest.count < scan->stream.missing) return -1;
  if (++scan->row < scan->rows) return 1;
  return jpeg_bits_marker(&scan->stream) == JPEG_EOI ? 1 : -1;
}
