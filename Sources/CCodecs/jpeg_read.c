/* JPEG in: raw component planes at a DCT scale, band by band. */
#include <errno.h>
#include <unistd.h>

#include "jpeg_error.h"
#include "jpeg_reduced.h"

enum { BUFFER = 1 << 16 };

struct input {
  struct jpeg_source_mgr manager;
  codec_source from;
  size_t at; /* of the next byte that is not in the buffer */
  JOCTET buffer[BUFFER];
};

struct codec_jpeg {
  struct jpeg_decompress_struct codec;
  struct jpeg_failure failure;
  struct jpeg_progress_mgr progress;
  struct input input;
  int scan_limit;
  struct jpeg_reduced *reduced; /* reads the picture, unless it is unusual */
  int is_unusual;
};

static void begin_source(j_decompress_ptr codec) { (void)codec; }

static boolean fill(j_decompress_ptr codec) {
  struct input *input = (struct input *)codec->src;
  ssize_t count = 0;
  if (input->from.bytes && input->at < input->from.size) {
    count = (ssize_t)(input->from.size - input->at);
    input->manager.next_input_byte = input->from.bytes + input->at;
  } else if (!input->from.bytes) {
    do {
      count = pread(input->from.fd, input->buffer, BUFFER, (off_t)input->at);
    } while (count < 0 && errno == EINTR);
    input->manager.next_input_byte = input->buffer;
  }
  if (count <= 0) { /* as libjpeg's own sources do: warn, and pretend that the picture ends here */
    WARNMS(codec, JWRN_JPEG_EOF);
    input->buffer[0] = 0xFF;
    input->buffer[1] = JPEG_EOI;
    input->manager.next_input_byte = input->buffer;
    input->manager.bytes_in_buffer = 2;
    return TRUE;
  }
  input->at += (size_t)count;
  input->manager.bytes_in_buffer = (size_t)count;
  return TRUE;
}

static void skip(j_decompress_ptr codec, long count) {
  struct input *input = (struct input *)codec->src;
  if (count <= 0) return;
  size_t left = (size_t)count;
  if (left > input->manager.bytes_in_buffer) {
    input->at += left - input->manager.bytes_in_buffer;
    left = input->manager.bytes_in_buffer;
  }
  input->manager.next_input_byte += left;
  input->manager.bytes_in_buffer -= left;
}

static void end_source(j_decompress_ptr codec) { (void)codec; }

static void watch(j_common_ptr codec) {
  codec_jpeg *jpeg = (codec_jpeg *)((char *)codec->progress - offsetof(codec_jpeg, progress));
  if (jpeg->scan_limit > 0 && jpeg->codec.input_scan_number > jpeg->scan_limit) {
    snprintf(
      jpeg->failure.message, CODEC_MESSAGE, "more than %d scans", jpeg->scan_limit);
    longjmp(jpeg->failure.escape, 1);
  }
}

codec_jpeg *codec_jpeg_open(codec_source source, codec_jpeg_info *info, char *message) {
  codec_jpeg *jpeg = calloc(1, sizeof *jpeg);
  if (!jpeg) {
    snprintf(message, CODEC_MESSAGE, "out of memory");
    return NULL;
  }
  struct jpeg_decompress_struct *codec = &jpeg->codec;
  codec->err = jpeg_failure_begin(&jpeg->failure);
  if (setjmp(jpeg->failure.escape)) {
    jpeg_failure_say(&jpeg->failure, message);
    codec_jpeg_close(jpeg);
    return NULL;
  }
  jpeg_create_decompress(codec);
  jpeg->input.from = source;
  jpeg->input.manager = (struct jpeg_source_mgr){
    .init_source = begin_source,
    .fill_input_buffer = fill,
    .skip_input_data = skip,
    .resync_to_restart = jpeg_resync_to_restart,
    .term_source = end_source,
  };
  codec->src = &jpeg->input.manager;
  jpeg->progress.progress_monitor = watch;
  codec->progress = &jpeg->progress;
  jpeg_read_header(codec, TRUE);
  *info = (codec_jpeg_info){
    .width = (int)codec->image_width,
    .height = (int)codec->image_height,
    .components = codec->num_components,
    .colour = codec->jpeg_color_space,
    .progressive = codec->progressive_mode,
    .several_scans = jpeg_has_multiple_scans(codec),
  };
  if (codec->num_components != 1 && codec->num_components != 3 && codec->num_components != 4) {
    snprintf(message, CODEC_MESSAGE, "%d colour components", codec->num_components);
    codec_jpeg_close(jpeg);
    return NULL;
  }
  for (int i = 0; i < codec->num_components; i++) {
    info->horizontal[i] = codec->comp_info[i].h_samp_factor;
    info->vertical[i] = codec->comp_info[i].v_samp_factor;
  }
  return jpeg;
}

/* As after the header: what was read behind it is forgotten. */
static void begin_again(codec_jpeg *jpeg) {
  jpeg_abort_decompress(&jpeg->codec);
  jpeg->input.at = 0;
  jpeg->input.manager.bytes_in_buffer = 0;
  jpeg->reduced = NULL;
  jpeg->failure.health = (codec_jpeg_health){0};
  jpeg_read_header(&jpeg->codec, TRUE);
}

/* Whether the scans so far have all that a smaller picture shows.
 *
 * A component uses its DC coefficient, and at a scale the corner of the others. Of what is made at least 1.9 times
 * smaller still, their last bit may be missing: it is less than what coding the result loses. */
static int is_enough(const struct jpeg_decompress_struct *codec) {
  static const int corner[] = {0, 1, 2, 4};
  enum { CORNER_OF_4 = 25 }; /* so many of the first coefficients have all of the 4x4 corner */
  for (int i = 0; i < codec->num_components; i++) {
    const int *bits = codec->coef_bits[i];
    int size = codec->comp_info[i].DCT_scaled_size;
    int count = size == 1 ? 1 : size == 2 ? 4 : size <= 4 ? CORNER_OF_4 : DCTSIZE2;
    if (bits[0] != 0) return 0;
    for (int k = 1; k < count; k++) {
      int missing = bits[size == 2 ? corner[k] : k];
      if (missing < 0 || missing > 1) return 0;
    }
  }
  return 1;
}

int codec_jpeg_start(
  codec_jpeg *jpeg, int eighths, int scan_limit, codec_jpeg_info *info, char *message
) {
  struct jpeg_decompress_struct *codec = &jpeg->codec;
  if (setjmp(jpeg->failure.escape)) return jpeg_failure_say(&jpeg->failure, message);
  jpeg->scan_limit = scan_limit;
  if (eighths < DCTSIZE && !jpeg->is_unusual) jpeg->reduced = jpeg_reduced_start(codec, eighths, info->planes);
  if (jpeg->reduced) return 0;
  codec->scale_num = (unsigned)eighths;
  codec->scale_denom = 8;
  codec->out_color_space = codec->jpeg_color_space;
  codec->raw_data_out = TRUE;
  codec->do_block_smoothing = FALSE;
  int stops_early = codec->progressive_mode && eighths <= 4;
  codec->buffered_image = (boolean)stops_early;
  jpeg_start_decompress(codec);
  if (stops_early) {
    int event;
    do {
      event = jpeg_consume_input(codec);
      watch((j_common_ptr)codec); /* libjpeg does not call it here */
      if (event == JPEG_SCAN_COMPLETED && is_enough(codec)) break;
    } while (event != JPEG_REACHED_EOI && event != JPEG_SUSPENDED);
    jpeg_start_output(codec, codec->input_scan_number);
  }
  for (int i = 0; i < codec->num_components; i++) {
    const jpeg_component_info *part = &codec->comp_info[i];
    int size = part->DCT_scaled_size;
    info->planes[i] = (codec_plane){
      .width = (int)part->downsampled_width,
      .height = (int)part->downsampled_height,
      .row_bytes = (int)part->width_in_blocks * size,
      .band_rows = part->v_samp_factor * size,
      .across = (double)(part->h_samp_factor * size) / (codec->max_h_samp_factor * DCTSIZE),
      .down = (double)(part->v_samp_factor * size) / (codec->max_v_samp_factor * DCTSIZE),
    };
  }
  return 0;
}

int codec_jpeg_band(codec_jpeg *jpeg, const codec_band *band, char *message) {
  struct jpeg_decompress_struct *codec = &jpeg->codec;
  if (setjmp(jpeg->failure.escape)) return jpeg_failure_say(&jpeg->failure, message);
  if (jpeg->reduced) {
    int status = jpeg_reduced_band(jpeg->reduced, band);
    if (status >= 0) return status;
    jpeg->is_unusual = 1;
    begin_again(jpeg);
    return 2;
  }
  if (codec->output_scanline >= codec->output_height) return 0;
  JSAMPROW rows[CODEC_PLANES][MAX_SAMP_FACTOR * DCTSIZE];
  JSAMPARRAY planes[CODEC_PLANES];
  for (int i = 0; i < codec->num_components; i++) {
    int count = codec->comp_info[i].v_samp_factor * codec->comp_info[i].DCT_scaled_size;
    for (int y = 0; y < count; y++) rows[i][y] = band->rows[i] + band->strides[i] * (size_t)y;
    planes[i] = rows[i];
  }
  unsigned lines = (unsigned)(codec->max_v_samp_factor * codec->min_DCT_scaled_size);
  return jpeg_read_raw_data(codec, planes, lines) > 0;
}

int codec_jpeg_start_rows(codec_jpeg *jpeg, int scan_limit, char *message) {
  struct jpeg_decompress_struct *codec = &jpeg->codec;
  if (setjmp(jpeg->failure.escape)) return jpeg_failure_say(&jpeg->failure, message);
  jpeg->scan_limit = scan_limit;
  codec->out_color_space = codec->num_components == 1 ? JCS_GRAYSCALE
    : codec->num_components == 3                      ? JCS_RGB
                                                      : JCS_CMYK;
  codec->do_block_smoothing = FALSE;
  jpeg_start_decompress(codec);
  return 0;
}

int codec_jpeg_row(codec_jpeg *jpeg, uint8_t *row, char *message) {
  struct jpeg_decompress_struct *codec = &jpeg->codec;
  if (setjmp(jpeg->failure.escape)) return jpeg_failure_say(&jpeg->failure, message);
  if (codec->output_scanline >= codec->output_height) return 0;
  JSAMPROW rows[] = {row};
  return jpeg_read_scanlines(codec, rows, 1) > 0;
}

int codec_jpeg_finish(codec_jpeg *jpeg, char *message) {
  if (jpeg->reduced) return 0; /* it was read to its end */
  if (setjmp(jpeg->failure.escape)) return jpeg_failure_say(&jpeg->failure, message);
  if (jpeg->codec.output_scanline >= jpeg->codec.output_height) {
    struct jpeg_decompress_struct *codec = &jpeg->codec;
    while (codec->buffered_image && !jpeg_input_complete(codec)) {
      if (jpeg_consume_input(codec) == JPEG_SUSPENDED) break;
      watch((j_common_ptr)codec);
    }
    if (codec->buffered_image) jpeg_finish_output(codec);
    jpeg_finish_decompress(&jpeg->codec);
  }
  return 0;
}

void codec_jpeg_health_of(const codec_jpeg *jpeg, codec_jpeg_health *health) {
  *health = jpeg->failure.health;
  health->scans = jpeg->codec.input_scan_number;
}

void codec_jpeg_close(codec_jpeg *jpeg) {
  if (!jpeg) return;
  jpeg_destroy_decompress(&jpeg->codec);
  free(jpeg);
}
