"""A real `richpush serve`, not a demonstration, for the tests of the app: with users of its own and a log of its responses."""

import base64
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
# A busy machine takes its time.
PATIENCE = 20
COUPON = """#!/bin/sh
printf 'Content-Type: text/plain\\n\\nShow %s at the till.' "$RICH_PAYLOAD"
"""


def until(value, what="it does not become true"):
    """Waits until a function gives something true, and returns that."""
    deadline = time.monotonic() + PATIENCE
    while not (found := value()):
        assert time.monotonic() < deadline, what() if callable(what) else what
        time.sleep(0.05)
    return found


class Page:
    """A page in which a subclass runs scripts, by its `value`."""

    def until(self, script, wanted=True):
        """Waits until a script in the page gives this."""
        last = [None]

        def found():
            # Meanwhile the page may be another one.
            with contextlib.suppress(AssertionError):
                last[0] = self.value(script)
            return last[0] == wanted
        until(found, lambda: f"{script} is {last[0]!r}, not {wanted!r}; the page: {self.value('document.body.innerText')!r}")

    def press(self, name):
        button = f"[...document.querySelectorAll('button')].find((one) => one.textContent.trim() === {json.dumps(name)} && one.checkVisibility())"
        self.until(f"Boolean({button})")
        self.value(f"void {button}.click()")


def password(user):
    return f"{user}-password"


class Server:
    """The program, with a folder and a port that stay its own over a restart."""

    def __init__(self, programs, *flags, has_users=True):
        self.program, self.flags = pathlib.Path(programs).resolve() / "richpush", flags
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="richpush-app-"))
        # Nobody else gets the port while the server is away; it may listen on it all the same, with SO_REUSEADDR.
        self.port_holder = socket.socket()
        self.port_holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.port_holder.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.port_holder.getsockname()[1]}"
        self.app = self.url + "/app/"
        # What no log may have.
        self.codes = set()
        self.process = None
        for name in ["img/logo.png", "img/beach.jpg", "sound/chime.wav", "url/welcome.url"]:
            target = self.folder / "assets" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "assets" / name, target)
        for name in ["img", "sound", "url", "video"]:
            target = self.folder / "plugins" / name
            target.mkdir(parents=True)
            shutil.copy(ROOT / "plugins" / name / "plugin.json", target)
        coupon = self.folder / "plugins" / "coupon"
        coupon.write_text(COUPON)
        coupon.chmod(0o755)
        if has_users:
            for user, role in [("admin", "admin"), ("shop", "publisher")]:
                self.run("user", "add", user, "--role", role, input=password(user) + "\n")
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", self.program, "serve", "--listen", self.url.removeprefix("http://"),
             "--data", self.folder / "var", "--assets", self.folder / "assets", "--plugins", self.folder / "plugins",
             "--access-log", self.folder / "access.log", *self.flags],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=open(self.folder / "errors.log", "ab"), text=True,
            env=os.environ | {"HOME": str(self.folder)})
        first = self.process.stdout.readline()
        assert first.startswith("richpush: listening on "), first + self.log()
        self.printed = [first]
        # In demonstrations the first steps follow.
        threading.Thread(target=lambda out, to: to.extend(out), args=(self.process.stdout, self.printed), daemon=True).start()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        """Ends it, and everything that it has; no log has a code that was made."""
        if self.process.poll() is None:
            self.process.terminate()
            status = self.process.wait(30)
            assert status == 0, f"SIGTERM ended the server with {status}: {self.log()}"
        self.port_holder.close()
        logs = self.log(), (self.folder / "access.log").read_text()
        found = [code for code in self.codes if any(code in log for log in logs)]
        assert not found and (logs[1] or not self.codes), f"{found} are in a log: {logs}"
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        return (self.folder / "errors.log").read_text()

    def run(self, *arguments, input=None):
        """What a command on this data folder prints."""
        done = subprocess.run(
            [self.program, *arguments, "--data", self.folder / "var"], input=input, capture_output=True, text=True,
            cwd=self.folder, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def call(self, user, method, path, body=None, token=None, passwords=password):
        """The JSON of an answer of the API, for a user by the password or for a device by its token."""
        credentials = "Bearer " + token if token else "Basic " + base64.b64encode(f"{user}:{passwords(user)}".encode()).decode()
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, method=method, data=data, headers={"Authorization": credentials})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error
        return json.loads(text) if text else None

    def add(self, *users):
        for user in users:
            self.call("admin", "PUT", f"/api/users/{user}", {"password": password(user), "role": "device"})

    def send(self, *users, **notification):
        """Creates a notification for users; its ID. What prepares a film or a picture may take a moment."""
        body = {"message": "Look", "to": [f"username:{user}" for user in users]} | notification
        deadline = time.monotonic() + 60
        while True:
            try:
                return self.call("shop", "POST", "/api/notifications", body)["id"]
            except AssertionError as problem:
                if ": 409 " not in str(problem) and ": 503 " not in str(problem) or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def pair(self, user):
        """The link that `richpush user pair` prints; and the characters to type."""
        printed = self.run("user", "pair", user)
        link = next(line for line in printed.splitlines() if "#pair=" in line).strip()
        short = next(line for line in printed.splitlines() if line.startswith("To type: ")).removeprefix("To type: ").strip()
        assert link.startswith(self.app + "#pair="), printed
        self.codes |= {link.split("#pair=")[1], short, short.replace("-", "")}
        return link, short

    def devices(self, user):
        return self.call(user, "GET", "/api/registrations")["devices"]

    def receipt(self, number, user):
        receipts = self.call("shop", "GET", f"/api/notifications/{number}/receipts")["receipts"]
        return next(one for one in receipts if one["user"] == user)

    def interactions(self, number):
        found = self.call("shop", "GET", f"/api/notifications/{number}/interactions")["interactions"]
        return [(one["event"], one.get("action"), one.get("text")) for one in found]

    def add_film(self):
        """A short film with a sound, as an asset."""
        film = self.folder / "evening.mp4"
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=640x360:r=10:d=2", "-f", "lavfi", "-i", "sine=d=2",
             "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-shortest", film], check=True)
        self.call("shop", "POST", "/api/assets?name=evening.mp4", film.read_bytes())


@contextlib.contextmanager
def serving(programs, *flags, **options):
    server = Server(programs, *flags, **options)
    try:
        yield server
    finally:
        server.end()
