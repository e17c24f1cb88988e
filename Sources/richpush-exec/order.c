#include "order.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool number(const char *text, long *value) {
  char *end;
  errno = 0;
  *value = strtol(text, &end, 10);
  return errno == 0 && *text && !*end && *value >= 0;
}

/* The value of `word` when its key is `key`. */
static const char *value_of(const char *word, const char *key) {
  size_t length = strlen(key);
  return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static bool take(struct order *order, const char *word) {
  const struct {
    const char *key;
    const char **place;
  } texts[] = {{"program", &order->program}, {"folder", &order->folder}, {"open", &order->open}};
  const struct {
    const char *key;
    long *place;
  } numbers[] = {
      {"deadline", &order->deadline}, {"grace", &order->grace},
      {"data", &order->data},         {"cpu", &order->cpu},
      {"files", &order->files},       {"file-size", &order->file_size},
      {"processes", &order->processes}, {"network", &order->network},
      {"space", &order->space},       {"calls", &order->calls},
      {"rest", &order->rest},         {"memory", &order->memory},
      {"uid", &order->uid},           {"empty", &order->empty},
  };
  const char *value;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if ((value = value_of(word, texts[i].key))) return *texts[i].place = value, true;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if ((value = value_of(word, numbers[i].key))) return number(value, numbers[i].place);
  if ((value = value_of(word, "read")))
    return order->read_count < most_paths && (order->read[order->read_count++] = value);
  if ((value = value_of(word, "write")))
    return order->write_count < most_paths && (order->write[order->write_count++] = value);
  if (!(value = value_of(word, "sandbox"))) return false;
  order->strict = strcmp(value, "strict") == 0;
  order->sandboxed = order->strict || strcmp(value, "standard") == 0;
  return order->sandboxed || strcmp(value, "off") == 0;
}

bool order_read(struct order *order, char **words) {
  *order = (struct order){
      .data = -1, .cpu = -1, .files = -1, .file_size = -1, .processes = -1, .space = -1, .rest = -1,
      .memory = -1};
  for (; *words && strcmp(*words, "--") != 0; words++)
    if (!take(order, *words)) return false;
  order->environment = *words ? words + 1 : words;
  if (order->open || order->empty) return order->write_count == 1;
  return order->program && order->program[0] == '/';
}
