#!/usr/bin/env python3
"""Installs the Debian package in a clean root without Swift or compilers, uses it, upgrades and purges it.

usage: package.py PACKAGE.deb      (as root; `make deb` makes the package)

The root is made once by mmdebstrap, in .build/clean-root.tar, with the packages that the package depends
on. No systemd runs in it: the service's user, capabilities and environment are set as its unit says.
"""

import base64
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.abspath(sys.argv[1])
CLEAN = os.path.join(SOURCE, ".build/clean-root.tar")
# What the package may leave: the accounts, what dpkg and apt write about every package, and caches.
MAY_STAY = re.compile(
    r"/(etc/(passwd|group|shadow|gshadow|subuid|subgid)-?|etc/ld.so.cache|var/(lib/(dpkg|apt|systemd)|cache|log)/.*"
    r"|etc/\.pwd\.lock|root/.*|tmp/.*|run/.*|dev/.*|proc/.*|sys/.*)$")


def run(*words, **options):
    return subprocess.run(words, check=True, text=True, capture_output=True, **options).stdout


def make_clean_root():
    if os.path.exists(CLEAN):
        return
    depends = run("dpkg-deb", "-f", PACKAGE, "Depends")
    names = [re.split(r"[ (|]", part.strip())[0] for part in depends.split(",")] + ["bubblewrap", "ca-certificates"]
    subprocess.run(
        ["mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", "--include=" + ",".join(sorted(set(names))),
         "bookworm", CLEAN + ".unfinished.tar", "/etc/apt/sources.list.d/debian.sources"], check=True)
    os.rename(CLEAN + ".unfinished.tar", CLEAN)


class Root:
    """A copy of the clean root, in which programs run without seeing the machine's processes."""

    def __init__(self, folder):
        self.folder = folder
        run("tar", "-xf", CLEAN, "-C", folder, "--exclude=./dev/*")
        for name, number in (("null", 3), ("zero", 5), ("urandom", 9), ("random", 8)):
            os.mknod(f"{folder}/dev/{name}", 0o20666, os.makedev(1, number))
            os.chmod(f"{folder}/dev/{name}", 0o666)

    def words(self, *words):
        script = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, self.folder, *words]

    def run(self, *words, **options):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
        result = subprocess.run(
            self.words(*words), text=True, capture_output=True, env=environment, **options)
        assert result.returncode == 0, f"{words}: {result.returncode}\n{result.stdout}\n{result.stderr}"
        return result.stdout

    def install(self, package):
        shutil.copy(package, self.folder + "/tmp/richpush.deb")
        return self.run("dpkg", "-i", "/tmp/richpush.deb")

    def files(self):
        lines = self.run("find", "/", "-xdev", "-printf", "%p\n").splitlines()
        return {line for line in lines if not MAY_STAY.match(line)}


class Service:
    """The program as the unit starts it, on another port."""

    def __init__(self, root, port):
        unit = open(root.folder + "/lib/systemd/system/richpush.service").read()
        capabilities = re.search(r"AmbientCapabilities=(.*)", unit)[1].lower().replace("cap_", "").split()
        wanted = ",".join("+" + name for name in capabilities)
        program = re.search(r"ExecStart=(\S+) (.*)", unit)
        text = open(root.folder + "/etc/richpush/richpush.env").read()
        variables = dict(line.split("=", 1) for line in text.splitlines() if line and line[0] != "#")
        words = root.words(
            "/usr/bin/setpriv", "--reuid", "richpush", "--regid", "richpush", "--init-groups",
            "--inh-caps", wanted, "--ambient-caps", wanted, "--bounding-set", "-all," + wanted, "--no-new-privs",
            program[1], *program[2].split())
        environment = {"PATH": "/usr/sbin:/usr/bin:/bin", "RICHPUSH_LISTEN": f"127.0.0.1:{port}", **variables}
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=self.log, text=True, env=environment,
            cwd="/")
        self.port = port
        line = self.process.stdout.readline()
        assert "listening on http://127.0.0.1:" in line, f"{line}\n{self.text}"

    @property
    def text(self):
        self.log.seek(0)
        return self.log.read()

    def fetch(self, path, body=None, user="alice"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=body)
        request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:open sesame".encode()).decode())
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.headers["Content-Type"], response.read()

    def stop(self):
        # The program is the only child of the first process in the namespace.
        pid = self.process.pid
        while True:
            children = open(f"/proc/{pid}/task/{pid}/children").read().split()
            name = open(f"/proc/{pid}/comm").read().strip()
            if name == "richpush" or not children:
                break
            pid = int(children[0])
        os.kill(pid, signal.SIGTERM)
        code = self.process.wait(timeout=30)
        assert code == 0, f"the server ended with {code}\n{self.text}"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def older(package, folder):
    """The same package with a lower version."""
    run("dpkg-deb", "-R", package, folder)
    control = folder + "/DEBIAN/control"
    text = open(control).read()
    with open(control, "w") as file:
        file.write(re.sub(r"(?m)^Version: .*$", "Version: 0.0.9-1", text))
    run("dpkg-deb", "--root-owner-group", "-b", folder, folder + ".deb")
    return folder + ".deb"


def main():
    make_clean_root()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
        os.mkdir(scratch + "/root")
        root = Root(scratch + "/root")
        before = root.files()
        for program in ("swift", "cc", "gcc", "ld"):
            assert shutil.which(program, path=root.folder + "/usr/bin") is None, program

        told = root.install(older(PACKAGE, scratch + "/older"))
        assert "richpush user add" in told, told
        assert "RICHPUSH_DATA" in root.run("richpush", "config", "check")
        assert root.run("stat", "-c", "%U:%G %a", "/srv/richpush/assets", "/var/lib/richpush").split("\n")[:2] == [
            "richpush:richpush-content 2775", "richpush:richpush 711"]
        assert re.match(r"richpush \S+, commit \S+", root.run("richpush", "--version"))
        root.run("bash", "-n", "/usr/share/bash-completion/completions/richpush")

        service = Service(root, free_port())
        assert "no users yet" in service.text, service.text
        assert "user ID 60" in service.text, "the plugins have no users of their own\n" + service.text
        root.run("richpush", "user", "add", "alice", "--role", "publisher", "--data", "/var/lib/richpush",
                 input="open sesame\n")
        shutil.copy(SOURCE + "/assets/img/logo.png", root.folder + "/tmp/logo.png")
        root.run("sh", "-c", "mkdir -p /srv/richpush/assets/img && cp /tmp/logo.png /srv/richpush/assets/img/")
        body = json.dumps({"message": "Hello", "richType": "img", "payload": "logo.png", "to": "username:alice"}).encode()
        deadline = time.time() + 30
        while True:
            try:
                identity = json.loads(service.fetch("/api/notifications", body)[2])["id"]
                break
            except urllib.error.HTTPError as error:
                assert time.time() < deadline, error.read()
                time.sleep(0.2)
        status, kind, _ = service.fetch(f"/api/notifications/{identity}?width=96")
        assert (status, kind) == (200, "image/png"), (status, kind)

        # The upgrade replaces the files of a running server, which is then started again.
        root.install(PACKAGE)
        assert service.fetch("/healthz")[0] == 200
        service.stop()
        service = Service(root, free_port())
        assert service.fetch(f"/api/notifications/{identity}?width=96")[0] == 200
        service.stop()

        root.run("dpkg", "--remove", "richpush")
        assert os.path.exists(root.folder + "/var/lib/richpush/richpush.db"), "removal lost the data"
        os.unlink(root.folder + "/srv/richpush/assets/img/logo.png")
        os.rmdir(root.folder + "/srv/richpush/assets/img")
        root.run("dpkg", "--purge", "richpush")
        left = root.files() - before
        assert not left, f"purge left {sorted(left)}"
    print("installed, used, upgraded, removed and purged")


main()
