"""A clean root of Debian without Swift or compilers, in which the package is installed and used.

It is made once by mmdebstrap, in .build, with the packages that the package depends on.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(*words, **options):
    return subprocess.run(words, check=True, text=True, capture_output=True, **options).stdout


def clean_root(package):
    """A root with what the package depends on, made again only if that changes."""
    depends = run("dpkg-deb", "-f", package, "Depends")
    names = [re.split(r"[ (|]", part.strip())[0] for part in depends.split(",")] + ["bubblewrap", "ca-certificates"]
    key = hashlib.sha256(" ".join(sorted(set(names))).encode()).hexdigest()[:12]
    clean = os.path.join(SOURCE, f".build/clean-root-{key}.tar")
    with open(clean + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(clean):
            subprocess.run(
                ["mmdebstrap", "--variant=minbase", "--mode=root", "--include=" + ",".join(sorted(set(names))),
                 "bookworm", clean + ".unfinished.tar", "/etc/apt/sources.list.d/debian.sources"], check=True)
            os.rename(clean + ".unfinished.tar", clean)
    return clean


class Root:
    """A copy of the clean root, in which programs run without seeing the machine's processes."""

    def __init__(self, folder, package):
        self.folder = folder
        run("tar", "-xf", clean_root(package), "-C", folder, "--exclude=./dev/*")
        for name, number in (("null", 3), ("zero", 5), ("urandom", 9), ("random", 8)):
            os.mknod(f"{folder}/dev/{name}", 0o20666, os.makedev(1, number))
            os.chmod(f"{folder}/dev/{name}", 0o666)

    def words(self, *words):
        script = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, self.folder, *words]

    def run(self, *words, **options):
        # Whoever waits for the end hears that it goes on.
        print("root:", " ".join(words)[:100], file=sys.stderr, flush=True)
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
        result = subprocess.run(
            self.words(*words), text=True, capture_output=True, env=environment, **options)
        assert result.returncode == 0, f"{words}: {result.returncode}\n{result.stdout}\n{result.stderr}"
        return result.stdout

    def install(self, package):
        shutil.copy(package, self.folder + "/tmp/richpush.deb")
        return self.run("dpkg", "-i", "/tmp/richpush.deb")
