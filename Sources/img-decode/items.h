#pragma once
/* The items of a HEIF file that its primary picture needs, by the boxes of `meta` (ISO/IEC 14496-12, 23008-12). */
#include <stddef.h>
#include <stdint.h>

#include "picture.h"

#define CODE(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

/* Bytes of the file: from `at` to before `end`. */
struct span {
  const uint8_t *at, *end;
};

struct box {
  uint32_t type;
  struct span whole, content;
};

enum box_reading { BOX_READ, BOX_NONE, BOX_BROKEN };

/* The next box of those in `rest`, which then begins behind it. A broken one, which is larger than `rest` or than it
 * says, has a type if that can be read. */
enum box_reading read_box(struct span *rest, struct box *box);
/* The same; 0 at the end. Refuses what is broken. */
int next_box(struct span *rest, struct box *box);
/* The next number of 1, 2, 4 or 8 bytes. Refuses when there are fewer. */
uint64_t next_number(struct span *rest, size_t bytes);
/* The next number as version and flags of a full box. */
uint32_t next_version(struct span *rest);

enum role { UNUSED, OPEN, NEEDED };

struct item {
  uint32_t id, type, order; /* `order`: by place in the file */
  struct span entry;        /* its `infe` */
  struct span parts;        /* what it is made of: the identifiers in its `dimg` */
  uint32_t part_count;
  struct item *alpha;
  uint32_t unknown_property; /* an essential one that is not known */
  enum role role;
  uint8_t has_parts, is_alpha, is_premultiplied;
};

struct items {
  struct span meta; /* its boxes */
  struct item *list; /* by identifier */
  size_t count;
  struct item *primary; /* NULL when there is none */
  size_t reference_bytes; /* of an identifier in `iref`: 2 or 4 */
};

/* Whether a picture is made of others: of tiles, layers, or another one as it is. */
int is_derived(const struct item *item);

/* The items in the content of a `meta`; those that the primary picture needs are NEEDED.
 * Refuses what can't be decoded, or would take too long. */
void read_items(struct items *items, struct span meta);
