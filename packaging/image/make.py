#!/usr/bin/env python3
"""Makes an OCI image of the Debian package, without a daemon and without a distribution in it: the programs, the
libraries that they load, certificates, and two users.

usage: make.py PACKAGE.deb FOLDER      (the image is FOLDER:VERSION)

The libraries are those of this machine's Debian packages, whose copyright files are copied too.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

PACKAGE, FOLDER = sys.argv[1:]
USER = 10001
DATA, ASSETS = "/var/lib/richpush", "/srv/richpush/assets"
TEXTS = {
    "etc/passwd": f"root:x:0:0:root:/:/nologin\nrichpush:x:{USER}:{USER}:richpush:{DATA}:/nologin\n",
    "etc/group": f"root:x:0:\nrichpush:x:{USER}:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
# Besides libraries: character sets of web pages, and the locale with Unicode's.
DATA_OF_LIBC = ["/usr/lib/x86_64-linux-gnu/gconv/*", "/usr/lib/x86_64-linux-gnu/gconv/*/*", "/usr/lib/locale/C.utf8/*",
                "/usr/lib/locale/C.utf8/*/*"]


def output(*words):
    return subprocess.run(words, check=True, text=True, capture_output=True).stdout


def is_program(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def package_of(path):
    """The Debian package that a file is from."""
    for name in (path, path.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    raise SystemExit(f"{path} is not from a Debian package")


def libraries(programs):
    """The shared libraries that programs load, by the names that they look for."""
    found = {}
    for program in programs:
        listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
        for path in re.findall(r"(?:=> )?(/\S+) \(0x", listed):
            found[os.path.basename(path)] = os.path.realpath(path)
    return found


def certificates(paths):
    """The authorities as a bundle, and each under the hash of its name, by which OpenSSL finds it in the folder."""
    texts = {"etc/ssl/certs/ca-certificates.crt": "".join(open(path).read() for path in paths)}
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            shutil.copy(path, folder)
        output("openssl", "rehash", folder)
        for path in glob.glob(folder + "/*.[0-9]"):
            texts["etc/ssl/certs/" + os.path.basename(path)] = open(path).read()
    return texts


def fill(root):
    output("dpkg-deb", "-x", PACKAGE, root)
    for unused in "etc", "lib", "usr/share":
        shutil.rmtree(f"{root}/{unused}", ignore_errors=True)
    os.unlink(f"{root}/usr/bin/richpush-cluster")
    output("sh", "-c", f"dpkg-deb --fsys-tarfile '{PACKAGE}' | tar -x -C '{root}' "
           "./usr/share/doc/richpush/copyright ./usr/share/doc/richpush/richpush.spdx.json")
    programs = [path for path in glob.glob(root + "/usr/lib/richpush/**", recursive=True)
                if os.path.isfile(path) and is_program(path)]
    sources = set()
    for name, path in libraries(programs).items():
        place = "lib64" if name.startswith("ld-linux") else "usr/lib/x86_64-linux-gnu"
        os.makedirs(f"{root}/{place}", exist_ok=True)
        shutil.copy(path, f"{root}/{place}/{name}")
        sources.add(package_of(path))
    for path in (path for pattern in DATA_OF_LIBC for path in glob.glob(pattern) if os.path.isfile(path)):
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    for source in sources | {"ca-certificates"}:
        os.makedirs(f"{root}/usr/share/doc/{source}", exist_ok=True)
        shutil.copy(f"/usr/share/doc/{source}/copyright", f"{root}/usr/share/doc/{source}/copyright")
    # Not this machine's bundle, which may have authorities of its own.
    TEXTS.update(certificates(sorted(glob.glob("/usr/share/ca-certificates/mozilla/*.crt"))))
    for name, text in TEXTS.items():
        os.makedirs(os.path.dirname(f"{root}/{name}"), exist_ok=True)
        with open(f"{root}/{name}", "w") as file:
            file.write(text)
    for name in "tmp", "proc", "dev", "sys", DATA[1:], ASSETS[1:]:
        os.makedirs(f"{root}/{name}", exist_ok=True)


def layer(root, date):
    """The layer as an archive that depends on the files only: their order, times and owners are fixed."""
    file = tempfile.NamedTemporaryFile(suffix=".tar")
    with tarfile.open(file.name, "w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(glob.glob(root + "/**", recursive=True, include_hidden=True))[1:]:
            name = os.path.relpath(path, root)
            member = archive.gettarinfo(path, name)
            is_own = "/" + name in (DATA, ASSETS)
            member.uid = member.gid = USER if is_own else 0
            member.uname = member.gname = "richpush" if is_own else "root"
            member.mtime = date
            if member.isdir():
                member.mode = 0o1777 if name == "tmp" else 0o711 if is_own and "/" + name == DATA else 0o755
            else:
                member.mode = 0o755 if member.mode & 0o100 else 0o644
            archive.addfile(member, open(path, "rb") if member.isreg() else None)
    return file


def main():
    version = output("dpkg-deb", "-f", PACKAGE, "Version").strip().split("-")[0]
    date = int(os.environ.get("SOURCE_DATE_EPOCH") or output("dpkg-parsechangelog", "-S", "Timestamp", "-l",
                                                            "packaging/debian/changelog"))
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(date))
    image = f"{FOLDER}:{version}"
    shutil.rmtree(FOLDER, ignore_errors=True)
    with tempfile.TemporaryDirectory() as root:
        fill(root)
        output("umoci", "init", "--layout", FOLDER)
        output("umoci", "new", "--image", image)
        with layer(root, date) as archive:
            output("umoci", "raw", "add-layer", "--image", image, "--history.created", created,
                   "--history.created_by", "packaging/image/make.py", archive.name)
    settings = [("user", f"{USER}:{USER}"), ("entrypoint", "/usr/bin/richpush"), ("cmd", "serve"),
                ("workingdir", DATA), ("stopsignal", "SIGTERM"), ("exposedports", "8080/tcp"),
                ("volume", DATA), ("volume", ASSETS),
                ("env", "RICHPUSH_LISTEN=0.0.0.0:8080"), ("env", "RICHPUSH_DATA=" + DATA),
                ("env", "RICHPUSH_ASSETS=" + ASSETS), ("env", "PATH=/usr/bin"),
                ("label", "org.opencontainers.image.title=richpush"),
                ("label", "org.opencontainers.image.version=" + version),
                ("label", "org.opencontainers.image.licenses=MIT")]
    output("umoci", "config", "--image", image, "--created", created, "--history.created", created,
           "--os", "linux", "--architecture", output("dpkg", "--print-architecture").strip(),
           *(word for name, value in settings for word in (f"--config.{name}", value)))
    output("umoci", "gc", "--layout", FOLDER)
    print(image)


main()
