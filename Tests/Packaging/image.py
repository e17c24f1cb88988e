#!/usr/bin/env python3
"""Runs the OCI image as a container does: its own root, read-only, an unprivileged user, no network but the loopback's.

usage: image.py FOLDER[:TAG]       (`make image` makes .build/image)

Bubblewrap stands for the container engine. Entry point, user and environment are those of the image; what
packaging/image/compose.yml adds to them, and how it shuts the container in, is read from that file.
"""

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import yaml

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LARGEST = 200_000_000


def blob(layout, digest):
    return json.load(open(f"{layout}/blobs/{digest.replace(':', '/')}"))


def configuration(layout):
    """The image's configuration and tag."""
    found = json.load(open(layout + "/index.json"))["manifests"][0]
    manifest = blob(layout, found["digest"])
    return blob(layout, manifest["config"]["digest"])["config"], found["annotations"]["org.opencontainers.image.ref.name"]


def size(root):
    return sum(os.lstat(os.path.join(place, name)).st_size for place, _, names in os.walk(root) for name in names)


def compose(tag):
    """The only service of compose.yml, whose image is the one with that tag."""
    with open(SOURCE + "/packaging/image/compose.yml") as file:
        services = yaml.safe_load(file)["services"]
    (service,) = services.values()
    assert service["image"] == f"richpush:{tag}", (service["image"], tag)
    known = {"image", "read_only", "cap_drop", "security_opt", "tmpfs", "ports", "environment", "volumes", "healthcheck",
             "stop_grace_period", "restart"}
    assert service.keys() <= known, f"the test does not know {service.keys() - known}"
    return service


class Container:
    """The image as compose.yml starts it; only the port is another one."""

    def __init__(self, root, config, service, folder, port):
        self.root, self.config, self.service, self.port = root, config, service, port
        self.mounts = [word for path in service["tmpfs"] for word in ("--tmpfs", path)]
        targets = dict(volume.split(":") for volume in service["volumes"])
        assert sorted(targets.values()) == sorted(config["Volumes"]), targets
        for source, target in targets.items():
            place = f"{folder}/volumes/{os.path.basename(source)}"
            os.makedirs(place, exist_ok=True)
            self.mounts += ["--bind", place, target]
            if target == "/srv/richpush/assets":
                self.assets = place
        (ports,) = service["ports"]
        assert ports.endswith(":8080") and "8080/tcp" in config["ExposedPorts"], ports
        self.environment = {**dict(each.split("=", 1) for each in config["Env"]), **service["environment"]}
        assert self.environment["RICHPUSH_LISTEN"] == "0.0.0.0:8080", self.environment
        self.environment["RICHPUSH_LISTEN"] = f"127.0.0.1:{port}"
        self.environment["RICHPUSH_SERVER"] = f"http://127.0.0.1:{port}"

    def program(self, *words):
        user, group = self.config["User"].split(":")
        variables = [word for pair in self.environment.items() for word in ("--setenv", *pair)]
        root = ["--ro-bind" if self.service["read_only"] else "--bind", self.root, "/"]
        capabilities = [word for name in self.service["cap_drop"] for word in ("--cap-drop", name)]
        assert self.service["security_opt"] == ["no-new-privileges:true"], "Bubblewrap always sets it"
        return ["bwrap", *root, "--proc", "/proc", "--dev", "/dev", *self.mounts,
                "--unshare-user", "--unshare-pid", "--as-pid-1", "--unshare-ipc", "--unshare-uts", "--uid", user, "--gid", group,
                *capabilities, "--new-session", "--die-with-parent", "--clearenv", *variables,
                "--chdir", self.config["WorkingDir"], *words]

    def words(self, *words):
        return self.program(*self.config["Entrypoint"], *words)

    def is_healthy(self):
        kind, *words = self.service["healthcheck"]["test"]
        assert kind == "CMD", kind
        code = subprocess.run(self.program(*words), capture_output=True, timeout=60).returncode
        assert code in (0, 69), code
        return code == 0

    def run(self, *words, **options):
        result = subprocess.run(self.words(*words), text=True, capture_output=True, timeout=60, **options)
        assert result.returncode == 0, f"{words}: {result.returncode}\n{result.stdout}\n{result.stderr}"
        return result.stdout

    def start(self):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            self.words(*self.config["Cmd"]), stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        self.log.seek(0)
        assert "listening on http://127.0.0.1:" in line, line + self.log.read()

    def stop(self):
        # The server is the first process of the namespace, as in a container.
        pid = self.process.pid
        os.kill(int(open(f"/proc/{pid}/task/{pid}/children").read().split()[0]), signal.SIGTERM)
        code = self.process.wait(timeout=30)
        self.log.seek(0)
        assert code == 0, f"the server ended with {code}\n{self.log.read()}"

    def fetch(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=data, method=method)
        request.add_header("Authorization", "Basic " + base64.b64encode(b"alice:open sesame").decode())
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.headers["Content-Type"], response.read()

    def eventually(self, *request):
        deadline = time.time() + 30
        while True:
            try:
                return self.fetch(*request)
            except urllib.error.HTTPError as error:
                assert time.time() < deadline, error.read()
                time.sleep(0.2)


def main():
    layout = sys.argv[1].split(":")[0]
    config, tag = configuration(layout)
    assert config["User"] not in ("", "0", "0:0", "root"), config["User"]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        rootless = [] if os.getuid() == 0 else ["--rootless"]
        subprocess.run(["umoci", "unpack", *rootless, "--image", f"{layout}:{tag}", folder + "/bundle"],
                       check=True, capture_output=True)
        root = folder + "/bundle/rootfs"
        total = size(root)
        print(f"unpacked: {total / 1e6:.1f} MB")
        assert total <= LARGEST, f"{total} bytes unpacked, {LARGEST} at most are allowed"
        for program in ("sh", "dpkg", "apt", "python3", "perl"):
            assert shutil.which(program, path=f"{root}/usr/bin:{root}/bin") is None, program

        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        container = Container(root, config, compose(tag), folder, port)
        assert not container.is_healthy()
        container.start()
        assert container.is_healthy()
        container.run("user", "add", "alice", "--role", "publisher", input="open sesame\n")
        os.makedirs(container.assets + "/img", exist_ok=True)
        subprocess.run(["heif-enc", SOURCE + "/assets/img/logo.png", "-o", container.assets + "/img/logo.heic"],
                       check=True, capture_output=True)
        status, _, body = container.fetch("POST", "/api/register?handle=00FC13")
        assert status == 200, body
        note = {"message": "Hello", "richType": "img", "payload": "logo.heic", "to": "username:alice"}
        identity = json.loads(container.eventually("POST", "/api/notifications", note)[2])["id"]
        status, kind, _ = container.fetch("GET", f"/api/notifications/{identity}?width=96")
        assert (status, kind) == (200, "image/png"), (status, kind)
        # By a name, and with the locale and the character sets of the C library.
        note = {"message": "Hello", "richType": "url", "payload": "https://bücher.example/", "to": "username:alice"}
        identity = json.loads(container.eventually("POST", "/api/notifications", note)[2])["id"]
        assert b"xn--bcher-kva.example" in container.fetch("GET", f"/api/notifications/{identity}")[2]
        container.stop()
    print("unpacked, served read-only without privileges, and stopped")


main()
