#!/usr/bin/env python3
"""Installs the Debian package in a clean root without Swift or compilers, uses it, upgrades and purges it.

usage: package.py PACKAGE.deb      (as root; `make deb` makes the package)

No systemd runs in the root: the service's user, capabilities and environment are set as its unit says.
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

from load import Load
from root import SOURCE, Root, run

PACKAGE = os.path.abspath(sys.argv[1])
SETTINGS = "/etc/richpush/richpush.env"
# What the package may leave: the accounts, what dpkg and apt write about every package, and caches.
MAY_STAY = re.compile(
    r"/(etc/(passwd|group|shadow|gshadow|subuid|subgid)-?|etc/ld.so.cache|var/(lib/(dpkg|apt|systemd)|cache|log)/.*"
    r"|etc/\.pwd\.lock|root/.*|tmp/.*|run/.*|dev/.*|proc/.*|sys/.*)$")


def files(root):
    lines = root.run("find", "/", "-xdev", "-printf", "%p\n").splitlines()
    return {line for line in lines if not MAY_STAY.match(line)}


def expect_modes(root, expected):
    found = root.run("stat", "-c", "%n %a %U:%G", *expected).splitlines()
    assert found == [f"{path} {mode}" for path, mode in expected.items()], found


class Service:
    """The program as the unit starts it, on a socket that stays open as that of richpush.socket does."""

    def __init__(self, root, listener):
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
        # It is the first process of its namespace, and gets the socket as descriptor 3.
        words = ["sh", "-c", f'exec 3<&{listener.fileno()} "$@"', "sh"] + words
        environment = {"PATH": "/usr/sbin:/usr/bin:/bin", "LISTEN_PID": "1", "LISTEN_FDS": "1", **variables}
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=self.log, text=True, env=environment,
            cwd="/", pass_fds=[listener.fileno()])
        self.port = listener.getsockname()[1]
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

    def notify(self, kind, payload):
        """The number of a new notification, as soon as its file is ready."""
        body = json.dumps({"message": "Hello", "richType": kind, "payload": payload, "to": "username:alice"}).encode()
        deadline = time.time() + 30
        while True:
            try:
                return json.loads(self.fetch("/api/notifications", body)[2])["id"]
            except urllib.error.HTTPError as error:
                assert time.time() < deadline, error.read()
                time.sleep(0.2)

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


def listener():
    found = socket.socket()
    found.bind(("127.0.0.1", 0))
    found.listen(1024)
    return found


def free_port():
    with listener() as probe:
        return probe.getsockname()[1]


def load_credentials(root):
    """A stand-in of systemd for `LoadCredential=file:/etc/richpush/credentials` (systemd.exec(5)): a folder, and files in
    it, that only the service's user can read."""
    unit = open(root.folder + "/lib/systemd/system/richpush.service").read()
    name, source = re.search(r"LoadCredential=(\w+):(\S+)", unit).groups()
    place = "/run/credentials/richpush.service"
    root.run("sh", "-c", f"""
        mkdir -p {place}
        for file in {source}/*; do install -m 400 -o richpush "$file" "{place}/{name}_$(basename "$file")"; done
        chown richpush {place}; chmod 500 {place}""")


def make_pictures(folder):
    """Writes a picture in the formats that the package's own and other libraries decode; their types when rendered."""
    logo = folder + "/logo.png"
    shutil.copy(SOURCE + "/assets/img/logo.png", logo)
    run("heif-enc", logo, "-o", folder + "/logo.heic")
    run("cwebp", "-quiet", logo, "-o", folder + "/logo.webp")
    return {"logo.heic": "image/png", "logo.webp": "image/png", "logo.png": "image/png"}


def older(package, folder):
    """The same package with a lower version."""
    run("dpkg-deb", "-R", package, folder)
    control = folder + "/DEBIAN/control"
    text = open(control).read()
    with open(control, "w") as file:
        file.write(re.sub(r"(?m)^Version: .*$", "Version: 0.0.9-1", text))
    # It is installed once: to compress it would take minutes on a busy machine.
    run("dpkg-deb", "--root-owner-group", "-Znone", "-b", folder, folder + ".deb")
    return folder + ".deb"


def main():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
        os.mkdir(scratch + "/root")
        root = Root(scratch + "/root", PACKAGE)
        before = files(root)
        for program in ("swift", "cc", "gcc", "ld"):
            assert shutil.which(program, path=root.folder + "/usr/bin") is None, program

        told = root.install(older(PACKAGE, scratch + "/older"))
        expect_modes(root, {SETTINGS: "640 root:richpush", "/srv/richpush/assets": "2775 richpush:richpush-content",
                            "/var/lib/richpush": "711 richpush:richpush"})
        assert "richpush user add" in told, told
        assert "richpush-content" in root.run("id", "-nG", "richpush").split()
        assert "RICHPUSH_DATA" in root.run("richpush", "config", "check")
        assert re.match(r"richpush \S+, commit \S+", root.run("richpush", "--version"))
        root.run("bash", "-n", "/usr/share/bash-completion/completions/richpush")

        socket_unit = listener()
        service = Service(root, socket_unit)
        assert "no users yet" in service.text, service.text
        assert "user ID 60" in service.text, "the plugins have no users of their own\n" + service.text
        root.run("richpush", "user", "add", "alice", "--role", "publisher", "--data", "/var/lib/richpush",
                 input="open sesame\n")
        pictures = make_pictures(root.folder + "/tmp")
        root.run("sh", "-c", "mkdir -p /srv/richpush/assets/img && cp /tmp/logo.* /srv/richpush/assets/img/")
        for name, expected in pictures.items():
            identity = service.notify("img", name)
            status, kind, _ = service.fetch(f"/api/notifications/{identity}?width=96")
            assert (status, kind) == (200, expected), (name, status, kind)

        # Credentials that only root may read reach the service as systemd's LoadCredential= passes them on.
        service.stop()
        with open(root.folder + "/etc/richpush/richpush.env", "a") as file:
            file.write("\n".join([
                "RICHPUSH_PUSH=apns", "RICHPUSH_APNS_KEY_ID=ABCDE12345", "RICHPUSH_APNS_TEAM_ID=ABCDE12345",
                "RICHPUSH_APNS_TOPIC=com.example.app",
                "RICHPUSH_APNS_KEY_FILE=/run/credentials/richpush.service/file_apns.p8", ""]))
        with open(root.folder + "/etc/richpush/credentials/apns.p8", "w") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"))
        try:
            Service(root, socket_unit)
        except AssertionError as error:
            assert "file_apns.p8" in str(error), error
        else:
            raise AssertionError("it started without its credential")
        load_credentials(root)
        # As an earlier version installed the file, with a secret in it, and dpkg's copy of one.
        with open(root.folder + SETTINGS, "a") as file:
            file.write("RICHPUSH_METRICS_ALLOW=token:0123456789abcdef\n")
        for path in SETTINGS, SETTINGS + ".dpkg-old":
            root.run("sh", "-c", f"[ -e {path} ] || cp {SETTINGS} {path}; chown root:root {path}; chmod 644 {path}")
        sentence = "every user of this machine can read RICHPUSH_METRICS_ALLOW in " + SETTINGS
        assert sentence in root.run("sh", "-c", "richpush config check 2>&1")
        service = Service(root, socket_unit)
        assert sentence in service.text, service.text
        # What the administrator has changed.
        root.run("chgrp", "adm", "/srv/richpush/assets")
        root.run("chmod", "2770", "/srv/richpush/assets")
        root.run("chmod", "2755", "/srv/richpush")

        # The upgrade replaces the files of a running server, which is then started again.
        os.mkdir(scratch + "/nginx", 0o777)
        load = Load(scratch + "/nginx", service.port, free_port(), identity)
        root.install(PACKAGE)
        assert service.fetch("/healthz")[0] == 200
        for _ in range(3):
            service.stop()
            service = Service(root, socket_unit)
            time.sleep(0.5)
        print(f"{load.end()} requests during the upgrade, the slowest took {load.longest:.1f} s")
        assert service.fetch(f"/api/notifications/{identity}?width=96")[0] == 200
        service.stop()
        assert sentence not in service.text, service.text
        assert not root.run("sh", "-c", "richpush config check 2>&1 >/dev/null")
        expect_modes(root, {SETTINGS: "640 root:richpush", SETTINGS + ".dpkg-old": "640 root:richpush",
                            "/srv/richpush/assets": "2770 richpush:adm", "/srv/richpush": "2755 root:root"})
        for mode, owner in ("600", "root:root"), ("640", "root:adm"), ("400", "richpush:adm"):
            root.run("sh", "-c", f"chown {owner} {SETTINGS}; chmod {mode} {SETTINGS}")
            root.install(PACKAGE)
            expect_modes(root, {SETTINGS: f"{mode} {owner}"})

        # What others have put where the service's files are.
        root.run("sh", "-c", "mkdir /srv/theirs && touch /srv/theirs/file && cd /var/lib/richpush && "
                 "mkdir -m 755 backup && touch backup/file letter && ln -s /srv/theirs link && rm -rf damaged && "
                 "ln -s /srv/theirs damaged && mkdir -p /var/log/richpush && cd /var/log/richpush && touch theirs && "
                 "touch access.log && chown richpush access.log && ln -s /srv/theirs link")
        theirs = ["/srv/theirs/file", "/var/lib/richpush/backup/file", "/var/lib/richpush/letter",
                  "/var/lib/richpush/link", "/var/lib/richpush/damaged", "/var/log/richpush/theirs",
                  "/var/log/richpush/link"]
        root.run("dpkg", "--remove", "richpush")
        assert os.path.exists(root.folder + "/var/lib/richpush/richpush.db"), "removal lost the data"
        shutil.rmtree(root.folder + "/srv/richpush/assets/img")
        os.unlink(root.folder + "/etc/richpush/credentials/apns.p8")
        root.run("dpkg", "--purge", "richpush")
        left = {path for path in files(root) - before if path not in theirs}
        assert left == {os.path.dirname(path) for path in theirs if path.startswith(("/srv", "/var/lib"))}, sorted(left)
        assert root.run("find", "/var/log/richpush").split() == [
            "/var/log/richpush", *(path for path in theirs if "log" in path)]
        assert all(os.path.lexists(root.folder + path) for path in theirs), theirs
    print("installed, used, upgraded, removed and purged")


main()
