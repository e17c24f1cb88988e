#pragma once
/* Calls of Linux that Swift's Glibc module does not show; each module adds what it needs. */

#ifdef __swift__
/* What Swift's Glibc declares as well stays its own: otherwise it belongs to the module that is loaded first. */
#pragma clang module import SwiftGlibc
#endif

#include <stdint.h>
#include <sys/types.h>

/* Plugins: descriptors that are polled, passed on and resolved without leaving a folder. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

long syscall(long number, ...);
int pipe2(int descriptors[2], int flags);
int memfd_create(const char *name, unsigned int flags);
int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);

static inline int clinux_pipe(int descriptors[2]) { return pipe2(descriptors, O_CLOEXEC); }

/* An unnamed file in memory (memfd_create); no one can change it once it is sealed. */
static inline int clinux_memory_file(const char *name) {
  return memfd_create(name, 1u /* MFD_CLOEXEC */ | 2u /* MFD_ALLOW_SEALING */);
}
static inline int clinux_seal(int memory_file) {
  return fcntl(memory_file, 1033 /* F_ADD_SEALS */, 15 /* seal, shrink, grow, write */);
}

/* Gives a file or folder a name that is free (EEXIST otherwise), or exchanges two names, in one step. */
static inline int clinux_rename_to_free(const char *from, const char *to) {
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1u /* RENAME_NOREPLACE */);
}
static inline int clinux_exchange(const char *one, const char *other) {
  return (int)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, 2u /* RENAME_EXCHANGE */);
}

/* A regular file below `folder`, for reading; no part of `path` may be a symbolic link. */
static inline int clinux_open_beneath(int folder, const char *path) {
  struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW,
                         .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

/* A folder as a mere place (O_PATH), which needs no permission on the folder itself. */
static inline int clinux_open_place(int folder, const char *name) {
  return openat(folder, name, 010000000 /* O_PATH */ | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Sends one packet together with descriptors (SCM_RIGHTS), without waiting. */
static inline ssize_t clinux_send(int socket, const void *bytes, size_t count,
                                  const int *descriptors, size_t descriptor_count) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int) * 8)];
  } control = {0};
  struct iovec piece = {(void *)bytes, count};
  struct msghdr message = {.msg_iov = &piece,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = CMSG_SPACE(sizeof(int) * descriptor_count)};
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  control.header.cmsg_len = CMSG_LEN(sizeof(int) * descriptor_count);
  memcpy(CMSG_DATA(&control.header), descriptors, sizeof(int) * descriptor_count);
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Takes one packet and the descriptor that came with it, or -1. */
static inline ssize_t clinux_receive(int socket, void *bytes, size_t count, int *descriptor) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec piece = {bytes, count};
  struct msghdr message = {.msg_iov = &piece,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control};
  ssize_t length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  struct cmsghdr *header = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  *descriptor = -1;
  if (header && header->cmsg_type == SCM_RIGHTS)
    memcpy(descriptor, CMSG_DATA(header), sizeof *descriptor);
  return length;
}

/* 1 when there is something to read from `descriptor` within so many microseconds. */
int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
static inline int clinux_wait_for_input(int descriptor, long microseconds) {
  struct pollfd wish = {.fd = descriptor, .events = POLLIN};
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
  return ppoll(&wish, 1, &time, NULL);
}

/* 1 when the folder holds nothing, read from its start; 0 when it does, or cannot be read. */
static inline int clinux_is_empty_folder(int folder) {
  char entries[512];
  if (lseek(folder, 0, SEEK_SET) < 0) return 0;
  long count = syscall(SYS_getdents64, folder, entries, sizeof entries), names = 0;
  for (long at = 0; at < count; names++) at += *(unsigned short *)(entries + at + 16);
  return count > 0 && names == 2;
}

/* Store: everything written to a file system is on its disk when this returns 0 (syncfs). */
int syncfs(int descriptor);

/* Intake: renames a file in a folder, unless there is one of the new name (renameat2). */
static inline int clinux_rename_new(int folder, const char *name, const char *new_name) {
  return (int)syscall(SYS_renameat2, folder, name, folder, new_name, 1u /* RENAME_NOREPLACE */);
}

/* Makes a folder with this mode, whatever the process's umask is (mkdirat(2)). A set-group-ID bit of the folder around
   it is inherited, and so is a default ACL; chmod would need to be in the group, and a filter may forbid it to set the
   bit (RestrictSUIDSGID= of systemd). EPERM also where a thread may not have a umask of its own. */
int clinux_make_folder(int parent, const char *name, mode_t mode);

/* Gives a file that was just made the content of another without writing it (FICLONE): XFS, Btrfs and others can.
   Otherwise a part of it is copied in the kernel. Both need the files' own system. */
int ioctl(int file, unsigned long request, ...);
static inline int clinux_clone(int target, int source) {
  return ioctl(target, 0x40049409ul /* FICLONE */, source);
}
static inline ssize_t clinux_copy_part(int target, int source, size_t count) {
  return syscall(SYS_copy_file_range, source, NULL, target, NULL, count, 0u);
}

/* Folders: what kind of file system they lie on (statfs). */
#include <sys/vfs.h>

/* Whether a file is open or mapped elsewhere; 0 if its file system does not tell. The kernel grants a lease for
   writing only if nothing else has the file open (fcntl(2)); a process that opens it meanwhile waits until the lease
   is returned, and this process gets SIGIO, which would end it. */
static inline int clinux_is_open_elsewhere(int file) {
  signal(SIGIO, SIG_IGN);
  if (fcntl(file, 1024 /* F_SETLEASE */, F_WRLCK) != 0) return errno == EAGAIN;
  fcntl(file, 1024 /* F_SETLEASE */, F_UNLCK);
  return 0;
}
