#!/usr/bin/env python3
"""Checks what the Debian package contains: its programs, their sizes and libraries, and what its documents say of them.

usage: contents.py PACKAGE.deb
"""

import json
import os
import re
import subprocess
import sys
import tempfile

PACKAGE = sys.argv[1]
FOLDER = "usr/lib/richpush/"
PLUGINS = {"img", "sound", "url", "video"}
PROGRAMS = {"richpush", "richpush-exec", "plugins/img/img-decode"} | {f"plugins/{name}/{name}" for name in PLUGINS}
# In bytes, stripped.
LARGEST = {"richpush": 75_000_000}
LARGEST_PLUGIN = 12_000_000


def output(*words):
    return subprocess.run(words, check=True, text=True, capture_output=True).stdout


def needed(path):
    return set(re.findall(r"NEEDED.*\[(.*?)\]", output("readelf", "-d", path)))


with tempfile.TemporaryDirectory() as folder:
    output("dpkg-deb", "-x", PACKAGE, folder)
    root = os.path.join(folder, FOLDER)
    found = {}
    for place, _, names in os.walk(root):
        for path in (os.path.join(place, name) for name in names):
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    found[os.path.relpath(path, root)] = path
    assert set(found) == PROGRAMS, sorted(set(found) ^ PROGRAMS)

    for name, path in sorted(found.items()):
        size, most = os.path.getsize(path), LARGEST.get(name, LARGEST_PLUGIN)
        print(f"{name}: {size / 1e6:.1f} MB")
        assert size <= most, f"{name} has {size} bytes, and {most} at most are allowed"
        assert os.access(path, os.X_OK) and "RUNPATH" not in output("readelf", "-d", path), name
        decodes = any(re.match(r"lib(heif|webp)", library) for library in needed(path))
        assert decodes == (name == "plugins/img/img-decode"), f"{name} loads {needed(path)}"
    libraries = set.union(*(needed(path) for path in found.values()))
    assert not any(re.match(r"lib(swift|Foundation|icu|dispatch)", library) for library in libraries), libraries

    hook = folder + "/usr/share/richpush/certbot-hook"
    assert os.stat(hook).st_mode & 0o777 == 0o755, "certbot runs it"

    cluster = folder + "/usr/bin/richpush-cluster"
    assert output(cluster, "--help").startswith("richpush-cluster runs"), "it finds its files"
    assert os.path.exists(folder + "/usr/share/man/man1/richpush-cluster.1.gz")

    document = json.load(open(folder + "/usr/share/doc/richpush/richpush.spdx.json"))
    files = {each["SPDXID"]: each["fileName"].removeprefix("./" + FOLDER) for each in document["files"]}
    assert set(files.values()) == PROGRAMS, files
    packages = {each["SPDXID"]: each["name"] for each in document["packages"]}
    users = {}
    for each in document["relationships"]:
        if each["relationshipType"] == "DYNAMIC_LINK":
            users.setdefault(packages[each["relatedSpdxElement"]], set()).add(files[each["spdxElementId"]])
    for package in "libheif1", "libwebp7":
        assert users[package] == {"plugins/img/img-decode"}, users
    depends = output("dpkg-deb", "-f", PACKAGE, "Depends")
    names = {re.split(r"[ (]", part.strip())[0] for part in depends.split(",")}
    assert set(users) == {name for name in names if re.match("z?lib", name)}, (users, depends)

    terms = open(folder + "/usr/share/doc/richpush/copyright").read()
    for name in "Swift runtime", "ICU", "GNU C Library", "libheif", "libwebp":
        assert name in terms, name
