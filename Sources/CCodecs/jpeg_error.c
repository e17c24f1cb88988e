#include "jpeg_error.h"

static void on_error(j_common_ptr codec) {
  struct jpeg_failure *failure = (struct jpeg_failure *)codec->err;
  codec->err->format_message(codec, failure->message);
  longjmp(failure->escape, 1);
}

/* Bytes between the segments before the first scan are no part of the picture. */
static int is_harmless(j_common_ptr codec) {
  return codec->is_decompressor && codec->err->msg_code == JWRN_EXTRANEOUS_DATA &&
    ((j_decompress_ptr)codec)->input_scan_number == 0;
}

static void on_message(j_common_ptr codec, int level) {
  struct jpeg_failure *failure = (struct jpeg_failure *)codec->err;
  if (level >= 0 || is_harmless(codec)) return;
  if (codec->err->msg_code == JWRN_JPEG_EOF) failure->health.truncated = 1;
  if (failure->health.warnings++ == 0) {
    char text[JMSG_LENGTH_MAX];
    codec->err->format_message(codec, text);
    snprintf(failure->health.first, CODEC_MESSAGE, "%s", text);
  }
}

static void on_output(j_common_ptr codec) { (void)codec; }

struct jpeg_error_mgr *jpeg_failure_begin(struct jpeg_failure *failure) {
  jpeg_std_error(&failure->manager);
  failure->manager.error_exit = on_error;
  failure->manager.emit_message = on_message;
  failure->manager.output_message = on_output;
  return &failure->manager;
}

int jpeg_failure_say(const struct jpeg_failure *failure, char *message) {
  snprintf(message, CODEC_MESSAGE, "%s", failure->message);
  return -1;
}
