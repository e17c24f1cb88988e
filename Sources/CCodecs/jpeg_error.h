#pragma once
/* libjpeg's errors as a longjmp inside C and a message outside of it. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#include "ccodecs.h"

struct jpeg_failure {
  struct jpeg_error_mgr manager;
  jmp_buf escape;
  codec_jpeg_health health;
  char message[JMSG_LENGTH_MAX];
};

/* Makes `failure` the error manager; the caller sets `escape` before each libjpeg call. */
struct jpeg_error_mgr *jpeg_failure_begin(struct jpeg_failure *failure);

/* Copies the words of the last error out; returns -1. */
int jpeg_failure_say(const struct jpeg_failure *failure, char *message);
