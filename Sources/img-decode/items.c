#include <stdlib.h>
#include <string.h>

#include <libheif/heif.h>

#include "items.h"

/* More than cameras write; the last one is the number of pictures that are decoded for one. */
enum { MOST_ITEMS = 20000, MOST_PROPERTIES = 20000, DEEPEST = 8, MOST_DECODED = 70000 };

static _Noreturn void refuse_code(enum status status, uint32_t code) {
  char text[] = {(char)(code >> 24), (char)(code >> 16), (char)(code >> 8), (char)code, 0};
  refuse(status, text);
}

static size_t left(struct span span) { return (size_t)(span.end - span.at); }

uint64_t next_number(struct span *rest, size_t bytes) {
  uint64_t number = 0;
  if (left(*rest) < bytes) refuse(STATUS_DAMAGED, "a box is too short");
  for (size_t i = 0; i < bytes; i++) number = number << 8 | *rest->at++;
  return number;
}

uint32_t next_version(struct span *rest) { return (uint32_t)next_number(rest, 4) >> 24; }

enum box_reading read_box(struct span *rest, struct box *box) {
  *box = (struct box){.whole = *rest};
  uint64_t available = left(*rest);
  if (available == 0) return BOX_NONE;
  if (available < 8) return BOX_BROKEN;
  uint64_t size = next_number(rest, 4);
  box->type = (uint32_t)next_number(rest, 4);
  if (size == 0) size = available; /* to the end */
  if (size == 1 && available >= 16) size = next_number(rest, 8);
  if (size > available || size < (uint64_t)(rest->at - box->whole.at)) return BOX_BROKEN;
  box->whole.end = box->whole.at + size;
  box->content = (struct span){rest->at, box->whole.end};
  rest->at = box->whole.end;
  return BOX_READ;
}

int next_box(struct span *rest, struct box *box) {
  enum box_reading reading = read_box(rest, box);
  if (reading == BOX_BROKEN) refuse(STATUS_DAMAGED, "a box is larger than the one that it is in");
  return reading == BOX_READ;
}

/* The content of the first box of a type; nothing when there is none. */
static struct span first(struct span boxes, uint32_t type) {
  struct box box;
  while (next_box(&boxes, &box))
    if (box.type == type) return box.content;
  return (struct span){NULL, NULL};
}

static size_t count_boxes(struct span boxes, size_t most) {
  size_t count = 0;
  struct box box;
  while (next_box(&boxes, &box))
    if (++count > most) refuse(STATUS_TOO_LARGE, "too many items or properties");
  return count;
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) refuse(STATUS_TOO_LARGE, "out of memory");
  return memory;
}

static int by_identifier(const void *one, const void *two) {
  const struct item *a = one, *b = two;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

static struct item *find(const struct items *items, uint64_t id) {
  size_t low = 0, high = items->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (items->list[middle].id < id) low = middle + 1;
    else high = middle;
  }
  return low < items->count && items->list[low].id == id ? &items->list[low] : NULL;
}

/* `iinf`: which items there are. */
static void read_entries(struct items *items) {
  struct span rest = first(items->meta, CODE('i', 'i', 'n', 'f'));
  if (!rest.at) refuse(STATUS_DAMAGED, "no iinf");
  next_number(&rest, next_version(&rest) == 0 ? 2 : 4);
  items->list = allocate(count_boxes(rest, MOST_ITEMS), sizeof *items->list);
  struct box box;
  while (next_box(&rest, &box)) {
    if (box.type != CODE('i', 'n', 'f', 'e')) continue;
    struct item *item = &items->list[items->count];
    *item = (struct item){.order = (uint32_t)items->count, .entry = box.whole};
    items->count++;
    uint32_t version = next_version(&box.content);
    item->id = (uint32_t)next_number(&box.content, version < 3 ? 2 : 4);
    next_number(&box.content, 2);
    if (version >= 2) item->type = (uint32_t)next_number(&box.content, 4);
  }
  qsort(items->list, items->count, sizeof *items->list, by_identifier);
}

static int is_known(uint32_t property) {
  static const char known[] = "hvcCav1CispepixicolrirotimirclappaspauxCcllimdcvcclvamvelsela1op";
  for (const char *at = known; *at; at += 4)
    if (property == CODE(at[0], at[1], at[2], at[3])) return 1;
  return 0;
}

static int is_alpha(struct span content) {
  static const char *const names[] = {
    "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:avc:2015:auxid:1", "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t size = strlen(names[i]) + 1;
    if (left(content) >= 4 + size && memcmp(content.at + 4, names[i], size) == 0) return 1;
  }
  return 0;
}

/* `ipma` and `ipco`: which items are alpha, and which can't be shown. */
static void read_properties(struct items *items) {
  struct span iprp = first(items->meta, CODE('i', 'p', 'r', 'p'));
  struct span rest = first(iprp, CODE('i', 'p', 'c', 'o'));
  struct box box, *properties = allocate(count_boxes(rest, MOST_PROPERTIES), sizeof *properties);
  size_t count = 0;
  while (next_box(&rest, &box)) properties[count++] = box;
  while (next_box(&iprp, &box)) {
    if (box.type != CODE('i', 'p', 'm', 'a')) continue;
    struct span at = box.content;
    uint32_t head = (uint32_t)next_number(&at, 4);
    for (uint64_t entries = next_number(&at, 4); entries > 0; entries--) {
      struct item *item = find(items, next_number(&at, head >> 24 == 0 ? 2 : 4));
      size_t bytes = head & 1 ? 2 : 1;
      for (uint64_t left = next_number(&at, 1); left > 0; left--) {
        uint64_t value = next_number(&at, bytes), essential = (uint64_t)1 << (8 * bytes - 1);
        size_t index = (size_t)(value & (essential - 1));
        if (!item || index == 0 || index > count) continue;
        const struct box *property = &properties[index - 1];
        if (value & essential && !is_known(property->type)) item->unknown_property = property->type;
        if (property->type == CODE('a', 'u', 'x', 'C') && is_alpha(property->content)) item->is_alpha = 1;
      }
    }
  }
  free(properties);
}

/* `iref`: what items are made of, and their alpha. Of several alphas the one of the largest identifier counts, as in
 * libheif. */
static void read_references(struct items *items) {
  struct span rest = first(items->meta, CODE('i', 'r', 'e', 'f'));
  if (!rest.at) return;
  items->reference_bytes = next_version(&rest) == 0 ? 2 : 4;
  struct box box;
  while (next_box(&rest, &box)) {
    struct span at = box.content;
    struct item *from = find(items, next_number(&at, items->reference_bytes));
    uint64_t count = next_number(&at, 2);
    if (count * items->reference_bytes > left(at)) refuse(STATUS_DAMAGED, "a box is too short");
    if (!from) continue;
    if (box.type == CODE('d', 'i', 'm', 'g') && !from->has_parts) {
      from->has_parts = 1;
      from->parts = at;
      from->part_count = (uint32_t)count;
    } else if (box.type == CODE('p', 'r', 'e', 'm')) {
      from->is_premultiplied = 1;
    } else if (box.type == CODE('a', 'u', 'x', 'l') && from->is_alpha) {
      for (; count > 0; count--) {
        struct item *master = find(items, next_number(&at, items->reference_bytes));
        if (master && (!master->alpha || master->alpha->id < from->id)) master->alpha = from;
      }
    }
  }
}

int is_derived(const struct item *item) {
  return item->type == CODE('g', 'r', 'i', 'd') || item->type == CODE('i', 'o', 'v', 'l') ||
         item->type == CODE('i', 'd', 'e', 'n');
}

static int has_decoder(uint32_t type) {
  switch (type) {
  case CODE('h', 'v', 'c', '1'): return heif_have_decoder_for_format(heif_compression_HEVC);
  case CODE('a', 'v', '0', '1'): return heif_have_decoder_for_format(heif_compression_AV1);
  default: return 0;
  }
}

/* Marks what an item needs, as libheif decodes it: parts that are shown twice are decoded twice. */
static void need(const struct items *items, struct item *item, int depth, size_t *decoded) {
  if (depth > DEEPEST || ++*decoded > MOST_DECODED) refuse(STATUS_TOO_LARGE, "too many pictures in pictures");
  if (item->unknown_property) refuse_code(STATUS_UNKNOWN_PROPERTY, item->unknown_property);
  item->role = OPEN;
  if (!is_derived(item) && !has_decoder(item->type)) refuse_code(STATUS_UNKNOWN_CODING, item->type);
  struct span parts = item->parts;
  for (uint32_t i = 0; is_derived(item) && i < item->part_count; i++) {
    struct item *part = find(items, next_number(&parts, items->reference_bytes));
    if (!part) refuse(STATUS_DAMAGED, "a part is missing");
    if (part->role == OPEN) refuse(STATUS_DAMAGED, "a picture is a part of itself");
    need(items, part, depth + 1, decoded);
  }
  if (item->alpha && item->alpha->role == OPEN) item->alpha = NULL;
  if (item->alpha) need(items, item->alpha, depth + 1, decoded);
  item->role = NEEDED;
}

void read_items(struct items *items, struct span meta) {
  *items = (struct items){.meta = meta};
  struct span pitm = first(meta, CODE('p', 'i', 't', 'm'));
  if (!pitm.at) return;
  uint64_t id = next_number(&pitm, next_version(&pitm) == 0 ? 2 : 4);
  read_entries(items);
  read_properties(items);
  read_references(items);
  items->primary = find(items, id);
  size_t decoded = 0;
  if (items->primary) need(items, items->primary, 0, &decoded);
}
