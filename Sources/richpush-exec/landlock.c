#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bubblewrap.h"
#include "owner.h"
#include "sandbox.h"

/* The interface as of Linux 6.12, wider than the headers of older systems have it. */
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

enum {
  execute = 1 << 0,
  write_file = 1 << 1,
  read_file = 1 << 2,
  read_folder = 1 << 3,
  all_of_version_1 = (1 << 13) - 1,
  refer = 1 << 13,
  truncate_file = 1 << 14,
};

const char *const sandbox_readable[] = {
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/proc",
    "/sys/devices/system/cpu", "/sys/fs/cgroup", "/etc/alternatives", "/etc/fonts",
    "/etc/ImageMagick-6", "/etc/ld.so.cache", "/etc/localtime", "/etc/magic", "/etc/mime.types",
    "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/perl", "/etc/php", "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf", "/etc/python3", "/etc/hosts", "/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf",
    "/etc/services", "/etc/ca-certificates", NULL,
};
static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                      "/dev/urandom"};

int sandbox_landlock_version(void) {
  long version = syscall(create_ruleset, NULL, 0, ask_version);
  return version < 0 ? 0 : (int)version;
}

/* What is not there cannot be allowed, nor need it be. */
static void allow(int ruleset, const char *path, uint64_t rights) {
  int place = open(path, O_PATH | O_CLOEXEC);
  struct stat status;
  if (place < 0) return;
  if (fstat(place, &status) == 0) {
    if (!S_ISDIR(status.st_mode)) rights &= execute | write_file | read_file | truncate_file;
    struct path_beneath rule = {rights, place};
    syscall(add_rule, ruleset, rule_path_beneath, &rule, 0);
  }
  close(place);
}

bool sandbox_ruleset(const struct order *order, int *ruleset) {
  int abi = sandbox_landlock_version();
  if (order->strict && abi < 6) return errno = ENOSYS, false;
  if (abi == 0) return true;
  uint64_t all = all_of_version_1 | (abi >= 2 ? refer : 0) | (abi >= 3 ? truncate_file : 0);
  struct ruleset rules = {
      .files = all,
      .tcp = abi >= 4 && !order->network ? bind_tcp | connect_tcp : 0,
      .scoped = abi >= 6 ? scope_abstract_sockets | scope_signals : 0,
  };
  size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  *ruleset = (int)syscall(create_ruleset, &rules, size, 0);
  if (*ruleset < 0) return false;
  const uint64_t look = execute | read_file | read_folder;
  for (int i = 0; sandbox_readable[i]; i++) allow(*ruleset, sandbox_readable[i], look);
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    allow(*ruleset, devices[i], read_file | write_file);
  allow(*ruleset, order->program, look);
  for (int i = 0; i < order->read_count; i++) allow(*ruleset, order->read[i], look);
  for (int i = 0; i < order->write_count; i++) allow(*ruleset, order->write[i], all);
  return true;
}

bool sandbox_enter(int ruleset) {
  return ruleset < 0 || syscall(restrict_self, ruleset, 0) == 0;
}

int sandbox_describe(char *line, unsigned long size, bool strict, long first_uid, long last_uid) {
  /* Asking for a mode with no filter fails with EFAULT where there is seccomp, else with EINVAL. */
  bool seccomp = syscall(SYS_seccomp, 1, 0, NULL) == -1 && errno == EFAULT;
  bool uids = owner_may_become(first_uid, last_uid);
  /* Where only root may make namespaces, bubblewrap is worth more than a uid. */
  bool bubblewrap = strict && bubblewrap_works(uids ? first_uid : 0);
  if (strict && uids && !bubblewrap) uids = false, bubblewrap = bubblewrap_works(0);
  int length = snprintf(line, size, "landlock %d seccomp %d bubblewrap %d uids %d readable ",
                        sandbox_landlock_version(), seccomp, bubblewrap, uids);
  for (int i = 0; sandbox_readable[i] && length < (int)size; i++)
    length += snprintf(line + length, size - (size_t)length, "%s%s", i ? ":" : "", sandbox_readable[i]);
  return length;
}
