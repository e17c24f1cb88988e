"""A folder whose disk can be made to wait: `<folder>/slow` shows what is in `<folder>/real` (FUSE, by root).

Commands: {"do": "hold"} leaves every request of the kernel without an answer, until {"do": "release"}.
"""
import ctypes
import errno
import json
import os
import struct
import sys
import threading

HEADER = struct.Struct("<IIQQIIII")
(LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR, RENAME, LINK, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC) = (
    1, 2, 3, 4, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20)
(FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, FSYNCDIR, ACCESS, CREATE, INTERRUPT, BATCH_FORGET, RENAME2) = (
    25, 26, 27, 28, 29, 30, 34, 35, 36, 42, 45)


class Folder:
    def __init__(self, real, mount):
        self.real, self.mount = real, mount
        self.paths, self.numbers = {1: ""}, {"": 1}
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions"
        if self.libc.mount(b"slow", mount.encode(), b"fuse", 2 | 4, options.encode()) != 0:
            raise OSError(ctypes.get_errno(), "mount")
        threading.Thread(target=self.serve, daemon=True).start()

    def unmount(self):
        self.may_answer.set()
        self.libc.umount2(self.mount.encode(), 2)

    def serve(self):
        while True:
            try:
                request = os.read(self.device, (1 << 17) + 4096)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.ENOENT):
                    continue
                return
            self.may_answer.wait()
            _, operation, unique, node, *_ = HEADER.unpack_from(request)
            try:
                answer, code = self.answer(operation, node, request[HEADER.size:]), 0
            except OSError as error:
                answer, code = b"", error.errno
            if answer is None:
                continue
            try:
                os.write(self.device, struct.pack("<IiQ", 16 + len(answer), -code, unique) + answer)
            except OSError:
                pass  # who asked has gone

    def path(self, node, name=None):
        path = self.paths[node]
        return path if name is None else path + "/" + name.split(b"\0")[0].decode()

    def attributes(self, status):
        times = [status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns]
        return struct.pack(
            "<6Q10I", status.st_ino, status.st_size, status.st_blocks, *[t // 10**9 for t in times],
            *[t % 10**9 for t in times], status.st_mode, status.st_nlink, status.st_uid, status.st_gid, 0, 4096, 0)

    def entry(self, path):
        status = os.lstat(self.real + path)
        node = self.numbers.setdefault(path, len(self.numbers) + 1)
        self.paths[node] = path
        return struct.pack("<4Q2I", node, 0, 0, 0, 0, 0) + self.attributes(status)

    def answer(self, operation, node, body):
        real = self.real
        if operation == INIT:
            flags = struct.unpack_from("<4I", body)[3] & (1 << 5)  # FUSE_BIG_WRITES
            return struct.pack("<4I2H2I2H8I", 7, 31, 1 << 17, flags, 16, 12, 1 << 17, 1, 0, 0, *[0] * 8)
        if operation in (FORGET, BATCH_FORGET, INTERRUPT):
            return None
        if operation == LOOKUP:
            return self.entry(self.path(node, body))
        if operation == GETATTR:
            return struct.pack("<QII", 0, 0, 0) + self.attributes(os.lstat(real + self.path(node)))
        if operation == SETATTR:
            valid, _, _, size, _, accessed, modified, _, a, m, _, mode, _, uid, gid, _ = struct.unpack_from(
                "<IIQQQQQQIIIIIIII", body)
            path = real + self.path(node)
            if valid & 1:
                os.chmod(path, mode & 0o7777)
            if valid & 6:
                os.chown(path, uid if valid & 2 else -1, gid if valid & 4 else -1)
            if valid & 8:
                os.truncate(path, size)
            if valid & 0x30 == 0x30 and not valid & 0x180:
                os.utime(path, ns=(accessed * 10**9 + a, modified * 10**9 + m))
            elif valid & 0x1B0:
                os.utime(path)
            return struct.pack("<QII", 0, 0, 0) + self.attributes(os.lstat(path))
        if operation == MKDIR:
            path = self.path(node, body[8:])
            os.mkdir(real + path, struct.unpack_from("<I", body)[0] & 0o7777)
            return self.entry(path)
        if operation in (UNLINK, RMDIR):
            (os.unlink if operation == UNLINK else os.rmdir)(real + self.path(node, body))
            return b""
        if operation in (RENAME, RENAME2):
            parent = struct.unpack_from("<Q", body)[0]
            old, new = body[8 if operation == RENAME else 16:].split(b"\0")[:2]
            old, new = self.path(node, old), self.path(parent, new)
            os.rename(real + old, real + new)
            self.numbers[new] = number = self.numbers.pop(old, len(self.numbers) + 1)
            self.paths[number] = new
            return b""
        if operation == LINK:
            path = self.path(node, body[8:])
            os.link(real + self.path(struct.unpack_from("<Q", body)[0]), real + path)
            return self.entry(path)
        if operation == OPEN:
            handle = os.open(real + self.path(node), struct.unpack_from("<I", body)[0] & ~os.O_NOFOLLOW)
            return struct.pack("<QII", handle, 0, 0)
        if operation == CREATE:
            flags, mode = struct.unpack_from("<II", body)
            path = self.path(node, body[16:])
            handle = os.open(real + path, flags | os.O_CREAT, mode & 0o7777)
            return self.entry(path) + struct.pack("<QII", handle, 0, 0)
        if operation == READ:
            handle, offset, size = struct.unpack_from("<QQI", body)
            return os.pread(handle, size, offset)
        if operation == WRITE:
            handle, offset, size = struct.unpack_from("<QQI", body)
            return struct.pack("<II", os.pwrite(handle, body[40:40 + size], offset), 0)
        if operation == STATFS:
            all = os.statvfs(real)
            return struct.pack("<5Q10I", all.f_blocks, all.f_bfree, all.f_bavail, all.f_files, all.f_ffree,
                               all.f_bsize, 255, all.f_frsize, *[0] * 7)
        if operation in (RELEASE, FSYNC):
            handle = struct.unpack_from("<Q", body)[0]
            (os.close if operation == RELEASE else os.fsync)(handle)
            return b""
        if operation in (FLUSH, RELEASEDIR, FSYNCDIR, ACCESS):
            return b""
        if operation == OPENDIR:
            return struct.pack("<QII", 0, 0, 0)
        if operation == READDIR:
            _, offset, size = struct.unpack_from("<QQI", body)
            answer = b""
            for number, name in list(enumerate(sorted(os.listdir(real + self.path(node))), 1))[offset:]:
                name = name.encode()
                record = struct.pack("<QQII", number, number, len(name), 0) + name
                record += b"\0" * (-len(record) % 8)
                if len(answer) + len(record) > size:
                    break
                answer += record
            return answer
        raise OSError(errno.ENOSYS, "not supported")


def main():
    folder = sys.argv[1]
    for name in ("real", "slow"):
        os.mkdir(f"{folder}/{name}")
    slow = Folder(f"{folder}/real", f"{folder}/slow")
    print(json.dumps({"port": 0}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)["do"]
        if command == "hold":
            slow.may_answer.clear()
        elif command in ("release", "reset"):
            slow.may_answer.set()
        print("{}", flush=True)
    slow.unmount()


main()
