#include <stdlib.h>
#include <string.h>

#include "excerpt.h"
#include "items.h"

/* Bytes that are written one after the other; without memory they are only counted. */
struct output {
  uint8_t *bytes;
  size_t size;
};

static void put(struct output *output, const void *bytes, size_t size) {
  if (output->bytes) memcpy(output->bytes + output->size, bytes, size);
  output->size += size;
}

static void put_number(struct output *output, uint64_t number, size_t bytes) {
  uint8_t big[8];
  for (size_t i = 0; i < bytes; i++) big[i] = (uint8_t)(number >> 8 * (bytes - 1 - i));
  put(output, big, bytes);
}

static size_t begin(struct output *output, uint32_t type) {
  size_t start = output->size;
  put_number(output, 0, 4);
  put_number(output, type, 4);
  return start;
}

static void end(struct output *output, size_t start) {
  if (output->bytes) put_number(&(struct output){.bytes = output->bytes + start}, output->size - start, 4);
}

static void put_reference(struct output *output, uint32_t type, uint32_t from, uint32_t to) {
  size_t start = begin(output, type);
  put_number(output, from, 4);
  put_number(output, 1, 2);
  put_number(output, to, 4);
  end(output, start);
}

static void put_references(struct output *output, const struct items *items) {
  size_t start = begin(output, CODE('i', 'r', 'e', 'f'));
  put_number(output, 1 << 24, 4); /* version 1: identifiers of four bytes */
  for (size_t i = 0; i < items->count; i++) {
    const struct item *item = &items->list[i];
    if (item->role != NEEDED) continue;
    if (item->alpha) put_reference(output, CODE('a', 'u', 'x', 'l'), item->alpha->id, item->id);
    if (item->alpha && item->is_premultiplied)
      put_reference(output, CODE('p', 'r', 'e', 'm'), item->id, item->alpha->id);
    if (!is_derived(item)) continue;
    size_t parts = begin(output, CODE('d', 'i', 'm', 'g'));
    put_number(output, item->id, 4);
    put_number(output, item->part_count, 2);
    struct span rest = item->parts;
    for (uint32_t part = 0; part < item->part_count; part++)
      put_number(output, next_number(&rest, items->reference_bytes), 4);
    end(output, parts);
  }
  end(output, start);
}

static void put_meta(struct output *output, const struct items *items, uint32_t version) {
  size_t start = begin(output, CODE('m', 'e', 't', 'a'));
  put_number(output, version, 4);
  struct span rest = items->meta;
  struct box box;
  int has_data = 0;
  while (next_box(&rest, &box)) {
    has_data |= box.type == CODE('i', 'd', 'a', 't');
    switch (box.type) {
    case CODE('h', 'd', 'l', 'r'): case CODE('p', 'i', 't', 'm'): case CODE('d', 'i', 'n', 'f'):
    case CODE('i', 'l', 'o', 'c'): case CODE('i', 'p', 'r', 'p'): case CODE('i', 'd', 'a', 't'): {
      size_t copy = begin(output, box.type);
      put(output, box.content.at, (size_t)(box.content.end - box.content.at));
      end(output, copy);
    }
    }
  }
  /* libheif 1.15 looks for the box also for 0 bytes of it, such as those of an `iden`. */
  if (!has_data) end(output, begin(output, CODE('i', 'd', 'a', 't')));
  size_t entries = begin(output, CODE('i', 'i', 'n', 'f')), count = 0;
  for (size_t i = 0; i < items->count; i++) count += items->list[i].role == NEEDED;
  put_number(output, 1 << 24, 4); /* version 1: a count of four bytes */
  put_number(output, count, 4);
  for (size_t i = 0; i < items->count; i++) {
    struct span entry = items->list[i].entry;
    if (items->list[i].role == NEEDED) put(output, entry.at, (size_t)(entry.end - entry.at));
  }
  end(output, entries);
  put_references(output, items);
  end(output, start);
}

/* Finds the file's `meta`; 0 when there is none. Refuses a file that ends within a box; what follows the last one may
 * be anything. */
static int find_meta(struct source file, struct box *meta) {
  struct span rest = {file.bytes, file.bytes + file.size};
  struct box box;
  int is_found = 0;
  enum box_reading reading;
  while ((reading = read_box(&rest, &box)) == BOX_READ) {
    if (box.type != CODE('m', 'e', 't', 'a') || is_found) continue;
    *meta = box;
    is_found = 1;
  }
  if (reading == BOX_BROKEN && (box.type == CODE('m', 'e', 't', 'a') || box.type == CODE('m', 'd', 'a', 't')))
    refuse(STATUS_INCOMPLETE, "the file ends within a box");
  return is_found;
}

int make_excerpt(struct excerpt *excerpt, struct source file) {
  enum { LARGEST_META = 64 << 20 };
  *excerpt = (struct excerpt){.file = file, .start = file.size, .size = file.size};
  struct box box;
  if (!find_meta(file, &box)) return 1;
  excerpt->start = (size_t)(box.whole.at - file.bytes);
  size_t hidden = file.size - excerpt->start;
  if (hidden > UINT32_MAX || box.content.end - box.content.at > LARGEST_META)
    refuse(STATUS_TOO_LARGE, "a large meta or file");
  uint32_t version = (uint32_t)next_number(&box.content, 4);
  struct items items;
  read_items(&items, box.content);
  if (!items.primary) return 0;
  struct output output = {0};
  put_meta(&output, &items, version);
  output = (struct output){.bytes = malloc(output.size)};
  if (!output.bytes) refuse(STATUS_TOO_LARGE, "out of memory");
  put_meta(&output, &items, version);
  free(items.list);
  excerpt->meta = output.bytes;
  excerpt->size = file.size + output.size;
  output = (struct output){.bytes = excerpt->free};
  put_number(&output, hidden, 4);
  put_number(&output, CODE('f', 'r', 'e', 'e'), 4);
  return 1;
}

/* The bytes from the position, as many of them as are next to each other. */
static struct span continuous(const struct excerpt *excerpt) {
  size_t at = excerpt->position, start = excerpt->start, behind = start + sizeof excerpt->free;
  const uint8_t *bytes = excerpt->file.bytes;
  if (at < start) return (struct span){bytes + at, bytes + start};
  if (at >= excerpt->file.size) {
    const uint8_t *end = excerpt->meta + (excerpt->size - excerpt->file.size);
    return (struct span){excerpt->meta + (at - excerpt->file.size), end};
  }
  if (at < behind) return (struct span){excerpt->free + (at - start), excerpt->free + sizeof excerpt->free};
  return (struct span){bytes + at, bytes + excerpt->file.size};
}

static int64_t position(void *from) { return (int64_t)((struct excerpt *)from)->position; }

static int read_bytes(void *to, size_t size, void *from) {
  struct excerpt *excerpt = from;
  uint8_t *bytes = to;
  if (size > excerpt->size - excerpt->position) return 1;
  while (size > 0) {
    struct span part = continuous(excerpt);
    size_t count = (size_t)(part.end - part.at);
    if (count > size) count = size;
    memcpy(bytes, part.at, count);
    bytes += count;
    size -= count;
    excerpt->position += count;
  }
  return 0;
}

static int seek(int64_t position, void *from) {
  struct excerpt *excerpt = from;
  if (position < 0 || (uint64_t)position > excerpt->size) return 1;
  excerpt->position = (size_t)position;
  return 0;
}

static enum heif_reader_grow_status wait_for(int64_t size, void *from) {
  struct excerpt *excerpt = from;
  return size <= (int64_t)excerpt->size ? heif_reader_grow_status_size_reached
                                        : heif_reader_grow_status_size_beyond_eof;
}

const struct heif_reader excerpt_reader = {
  .reader_api_version = 1, .get_position = position, .read = read_bytes, .seek = seek,
  .wait_for_file_size = wait_for,
};
