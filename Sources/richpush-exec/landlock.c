#define _GNU_SOURCE
#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bubblewrap.h"
#include "credentials.h"
#include "seccomp.h"

/* Landlock as of Linux 6.12 (landlock(7)); the headers of older systems have less of it. */
enum { create_ruleset = 444, add_rule = 445, restrict_self = 446 };
enum { rule_path_beneath = 1, ask_version = 1 };
enum { scope_abstract_sockets = 1, scope_signals = 2, bind_tcp = 1, connect_tcp = 2 };

struct ruleset {
  uint64_t files, tcp, scoped;
};
struct __attribute__((packed)) path_beneath {
  uint64_t allowed;
  int32_t parent;
};

/* LANDLOCK_ACCESS_FS_…; version 2 added `refer`, version 3 `truncate_file`. */
enum {
  execute = 1 << 0, write_file = 1 << 1, read_file = 1 << 2, read_folder = 1 << 3,
  all_of_version_1 = (1 << 13) - 1, refer = 1 << 13, truncate_file = 1 << 14,
};

const char *const readable_paths[] = {
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/proc",
    "/sys/devices/system/cpu", "/sys/fs/cgroup", "/etc/alternatives", "/etc/fonts",
    "/etc/ImageMagick-6", "/etc/ld.so.cache", "/etc/localtime", "/etc/magic", "/etc/mime.types",
    "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/perl", "/etc/php", "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf", "/etc/python3", "/etc/hosts", "/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf",
    "/etc/services", "/etc/ca-certificates", NULL,
};
// A shared mapping of /dev/zero that is open for writing is shared memory (seccomp.c, filter_mappings).
static const char *const devices[] = {"/dev/zero", "/dev/null", "/dev/full", "/dev/random", "/dev/urandom"};

int landlock_version(void) {
  long version = syscall(create_ruleset, NULL, 0, ask_version);
  return version < 0 ? 0 : (int)version;
}

/* Adds a rule for a path, if it exists. False when that fails. */
static bool allow(int ruleset, const char *path, uint64_t rights) {
  int file = open(path, O_PATH | O_CLOEXEC);
  if (file < 0) return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
  struct stat status;
  bool is_added = fstat(file, &status) == 0;
  if (is_added) {
    if (!S_ISDIR(status.st_mode)) rights &= execute | write_file | read_file | truncate_file;
    struct path_beneath rule = {rights, file};
    is_added = syscall(add_rule, ruleset, rule_path_beneath, &rule, 0) == 0;
  }
  int error = errno;
  close(file);
  errno = error;
  return is_added;
}

bool landlock_prepare(const struct launch_spec *spec, int *ruleset) {
  int abi = landlock_version();
  if (abi == 0) return errno = ENOSYS, !spec->strict;
  uint64_t all = all_of_version_1 | (abi >= 2 ? refer : 0) | (abi >= 3 ? truncate_file : 0);
  struct ruleset rules = {
      .files = all,
      .tcp = abi >= 4 && !spec->network ? bind_tcp | connect_tcp : 0,
      .scoped = abi >= 6 ? scope_abstract_sockets | scope_signals : 0,
  };
  // The kernel refuses a longer structure than its own: version 4 added `tcp`, version 6 `scoped`.
  size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  *ruleset = (int)syscall(create_ruleset, &rules, size, 0);
  if (*ruleset < 0) return false;
  const uint64_t reading = execute | read_file | read_folder;
  bool are_added = true;
  for (int i = 0; are_added && readable_paths[i]; i++)
    are_added = allow(*ruleset, readable_paths[i], reading);
  for (size_t i = 0; are_added && i < sizeof devices / sizeof *devices; i++)
    are_added = allow(*ruleset, devices[i], i == 0 ? read_file : read_file | write_file);
  are_added = are_added && allow(*ruleset, spec->program, reading);
  for (int i = 0; are_added && i < spec->read_count; i++)
    are_added = allow(*ruleset, spec->read[i], reading);
  for (int i = 0; are_added && i < spec->write_count; i++)
    are_added = allow(*ruleset, spec->write[i], all);
  return are_added;
}

bool landlock_enter(int ruleset) {
  return ruleset < 0 || syscall(restrict_self, ruleset, 0) == 0;
}

int sandbox_describe(char *line, size_t size, bool strict, bool namespaces, long first_uid,
                     long last_uid) {
  bool seccomp = !seccomp_is_missing();
  bool uids = can_become_users(first_uid, last_uid);
  // Where only root may create namespaces, bubblewrap protects better than a user ID.
  bool bubblewrap = strict && bubblewrap_works(uids ? first_uid : 0);
  if (strict && uids && !bubblewrap) uids = false, bubblewrap = bubblewrap_works(0);
  int length = snprintf(line, size, "landlock %d seccomp %d bubblewrap %d namespaces %d uids %d readable ",
                        landlock_version(), seccomp, bubblewrap, namespaces, uids);
  for (int i = 0; readable_paths[i] && length < (int)size; i++)
    length += snprintf(line + length, size - (size_t)length, "%s%s", i ? ":" : "", readable_paths[i]);
  return length;
}
