#include "launch_spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_number(const char *text, long *value) {
  char *end;
  errno = 0;
  *value = strtol(text, &end, 10);
  return errno == 0 && *text && !*end && *value >= 0;
}

/* The value of `word` when its key is `key`, else NULL. */
static const char *value_of(const char *word, const char *key) {
  size_t length = strlen(key);
  return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static bool read_word(struct launch_spec *spec, const char *word) {
  const struct {
    const char *key, **text;
    long *number;
  } keys[] = {
      {"program", &spec->program, 0},       {"folder", &spec->folder, 0},
      {"open", &spec->open, 0},             {"deadline", 0, &spec->deadline},
      {"grace", 0, &spec->grace},           {"data", 0, &spec->data},
      {"cpu", 0, &spec->cpu},               {"files", 0, &spec->files},
      {"file-size", 0, &spec->file_size},   {"processes", 0, &spec->processes},
      {"network", 0, &spec->network},       {"space", 0, &spec->space},
      {"calls", 0, &spec->per_call},        {"idle-cpu", 0, &spec->idle_cpu},
      {"memory", 0, &spec->memory},         {"uid", 0, &spec->uid},
      {"empty", 0, &spec->empty},           {"assets", &spec->assets, 0},
      {"root-file", 0, &spec->root_file},
  };
  const char *value;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (!(value = value_of(word, keys[i].key))) continue;
    return keys[i].number ? read_number(value, keys[i].number) : (*keys[i].text = value, true);
  }
  if ((value = value_of(word, "read")))
    return spec->read_count < most_paths && (spec->read[spec->read_count++] = value);
  if ((value = value_of(word, "write")))
    return spec->write_count < most_paths && (spec->write[spec->write_count++] = value);
  if (!(value = value_of(word, "sandbox"))) return false;
  spec->strict = strcmp(value, "strict") == 0;
  spec->sandboxed = spec->strict || strcmp(value, "standard") == 0;
  return spec->sandboxed || strcmp(value, "off") == 0;
}

bool launch_spec_read(struct launch_spec *spec, char **words) {
  *spec = (struct launch_spec){.data = -1, .cpu = -1, .files = -1, .file_size = -1, .processes = -1,
                               .space = -1, .idle_cpu = -1, .memory = -1};
  for (; *words && strcmp(*words, "--") != 0; words++)
    if (!read_word(spec, *words)) return false;
  spec->environment = *words ? words + 1 : words;
  if (spec->open || spec->empty) return spec->write_count == 1;
  return spec->root_file || (spec->program && spec->program[0] == '/');
}
