/* The reader of HEIF's boxes in img-decode, for libFuzzer: what it makes of any bytes is read again, by itself. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* A refusal ends img-decode's process, and its memory with it. Here all that was taken is released after each input. */
static void *taken[16];
static size_t taken_count;

static void *keep(void *memory) {
  if (taken_count == sizeof taken / sizeof *taken) abort();
  return taken[taken_count++] = memory;
}
static void *keep_zeros(size_t count, size_t size) { return keep(calloc(count, size)); }
static void *keep_bytes(size_t size) { return keep(malloc(size)); }

#define calloc keep_zeros
#define malloc keep_bytes
#define free(memory) ((void)(memory))
#include "../../Sources/img-decode/items.c"
#include "../../Sources/img-decode/excerpt.c"
#undef free

static jmp_buf refused;

void refuse(enum status status, const char *text) {
  (void)status;
  if (strlen(text) > 200) abort();
  longjmp(refused, 1);
}

/* Everything, in pieces of `step` bytes. */
static uint8_t *all(struct excerpt *excerpt, size_t step) {
  uint8_t *bytes = malloc(excerpt->size + 1);
  excerpt_reader.seek(0, excerpt);
  for (size_t at = 0; at < excerpt->size; at += step) {
    size_t count = excerpt->size - at < step ? excerpt->size - at : step;
    if (excerpt_reader.read(bytes + at, count, excerpt) != 0) abort();
  }
  if (excerpt_reader.read(bytes, 1, excerpt) == 0) abort();
  return bytes;
}

/* The new `meta` is well-formed, and all that is in it is needed. */
static void check(const uint8_t *start, const uint8_t *end) {
  struct items items;
  struct span rest = {start, end};
  struct box box;
  if (setjmp(refused) != 0) abort();
  if (!next_box(&rest, &box) || rest.at != rest.end) abort();
  next_number(&box.content, 4);
  read_items(&items, box.content);
  if (!items.primary) abort();
  for (size_t i = 0; i < items.count; i++)
    if (items.list[i].role != NEEDED) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct excerpt excerpt;
  if (size == 0) return 0;
  if (setjmp(refused) == 0 && make_excerpt(&excerpt, (struct source){data, size})) {
    const uint8_t *bytes = all(&excerpt, size);
    if (memcmp(bytes, all(&excerpt, 7), excerpt.size) != 0) abort();
    if (excerpt.meta) check(bytes + size, bytes + excerpt.size);
  }
  while (taken_count > 0) free(taken[--taken_count]);
  return 0;
}
