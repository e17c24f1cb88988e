#pragma once
/* What libheif reads instead of a HEIF file: the same bytes, with a `meta` that has only what the primary picture
 * needs.
 *
 * libheif refuses whole files for items that nobody asked it to decode: 1.15 a gain map that belongs to two pictures
 * (`auxl`), EXIF data of two pictures or of a `tmap` (`cdsc`), as iPhones write them since iOS 18. */
#include <libheif/heif.h>

#include "picture.h"

struct excerpt {
  struct source file;
  size_t start;     /* of the file's own `meta`: it and all behind it are a `free` */
  uint8_t free[8];  /* its header */
  uint8_t *meta;    /* the other one, behind the file's bytes */
  size_t size;      /* of both */
  size_t position;  /* of the next byte that is read */
};

/* Makes the excerpt. A file without `meta` stays as it is.
 * Refuses what is damaged or can't be decoded. Returns 0 when there is no primary picture. */
int make_excerpt(struct excerpt *excerpt, struct source file);
/* How libheif reads one. */
extern const struct heif_reader excerpt_reader;
