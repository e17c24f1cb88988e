#!/usr/bin/env python3
"""The app in WebKitGTK, which is the nearest to Safari that runs here, on a screen of a phone's size, against a server that is no
demonstration. It has no Web Push.

usage: app_webkit.py PROGRAMS

Every function whose name begins with "check" is one check, in this order; all run, whatever fails. With the variable ONLY only those
checks run whose names have it in them.
"""

import contextlib
import glob
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from app_server import Page, serving, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import judge

WIDTH, HEIGHT = 390, 844
ITEMS = "[...document.querySelectorAll('.item')].map((one) => one.querySelector('p.text')?.textContent)"


class WebKit(Page):
    """WebKitWebDriver and MiniBrowser on a screen in memory (w3.org/TR/webdriver2)."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="richpush-webkit-"))
        self.screen = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "Xvfb", "-displayfd", "1", "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-nolisten", "tcp"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        display = ":" + self.screen.stdout.readline().strip()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.driver = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "WebKitWebDriver", f"--port={self.port}"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=os.environ | {
                "DISPLAY": display, "GDK_BACKEND": "x11", "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder), "LIBGL_ALWAYS_SOFTWARE": "1",
                "LANG": "C.UTF-8", "LANGUAGE": "en_GB", "NO_AT_BRIDGE": "1"})
        until(self.is_ready)
        browser = glob.glob("/usr/lib/*/webkit2gtk-4.1/MiniBrowser")[0]
        options = {"binary": browser, "args": ["--automation", "--full-screen"]}
        self.session = ""
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}})
        self.session, self.errors = "/session/" + answer["sessionId"], []
        self.call("POST", "/window/rect", {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT})

    def is_ready(self):
        with contextlib.suppress(OSError):
            return self.call("GET", "/status", session="")["ready"]

    def call(self, method, path, body=None, session=None):
        session = self.session if session is None else session
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{session}{path}", method=method, data=json.dumps(body).encode() if body is not None else None)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()[:500]}") from error

    def go(self, url):
        self.collect()
        self.call("POST", "/url", {"url": url})
        self.listen()

    def reload(self):
        self.collect()
        self.call("POST", "/refresh", {})
        self.listen()

    def listen(self):
        self.value(
            """void (self.thrown = [], addEventListener("error", ({ message }) => thrown.push(message)),
                 addEventListener("unhandledrejection", ({ reason }) => thrown.push(String(reason))),
                 addEventListener("securitypolicyviolation", ({ violatedDirective }) => thrown.push(violatedDirective)))""")

    def collect(self):
        """What the page that is left has thrown since it was there."""
        self.errors += self.value("self.thrown") or []

    def value(self, script):
        script = f"const done = arguments[0]; Promise.resolve().then(() => ({script})).then((value) => done([value ?? null]), (error) => done(String(error)))"
        answer = self.call("POST", "/execute/async", {"script": script, "args": []})
        assert isinstance(answer, list), answer
        return answer[0]

    def close(self):
        with contextlib.suppress(Exception):
            self.call("DELETE", "")
        for process in [self.driver, self.screen]:
            process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def pair(webkit, server, user):
    server.add(user)
    link, _ = server.pair(user)
    webkit.go(link)
    webkit.press("Set up this device")
    webkit.until("document.querySelector('h1').textContent", "Inbox")


def check_it_fits_on_a_phone_shows_pictures_and_says_that_there_are_no_pushes(webkit, server):
    pair(webkit, server, "anna")
    server.send("anna", title="Beach", message="A picture", richType="img", payload="beach.jpg", link="https://shop.example/4711")
    webkit.until("document.querySelector('.media img')?.naturalWidth > 300")
    webkit.until(ITEMS, ["A picture"])
    assert webkit.value("innerWidth") == WIDTH, webkit.value("innerWidth")
    for place, heading in [("", "Inbox"), ("#settings", "Settings")]:
        webkit.value(f"void (location.hash = {place!r})")
        webkit.until("document.querySelector('h1').textContent", heading)
        webkit.until("document.querySelectorAll('.loading').length", 0)
        assert webkit.value("document.documentElement.scrollWidth") <= WIDTH
    webkit.until("document.querySelector('.card-note h2').textContent", "No notifications in this browser")


def check_the_shell_texts_and_pictures_are_there_without_the_server(webkit, server):
    pair(webkit, server, "bert")
    server.send("bert", message="Kept", richType="img", payload="beach.jpg")
    webkit.until("document.querySelector('.media img')?.naturalWidth > 300")
    webkit.until("Device.load().then((device) => Offline.inbox(device)).then((inbox) => inbox?.notifications.length)", 1)
    webkit.until(
        """(async () => { const device = await Device.load(); const { notifications: [one] } = await Offline.inbox(device);
             return Boolean(await Offline.media(device, one.id, "", one.details, 0)); })()""")
    webkit.until("Boolean(navigator.serviceWorker.controller)")
    server.kill()
    try:
        webkit.reload()
        webkit.until(ITEMS, ["Kept"])
        webkit.until("document.querySelector('.media img')?.naturalWidth > 300")
        webkit.until("!document.querySelector('.away').hidden")
    finally:
        server.start()
    server.send("bert", message="After the crash")
    webkit.until(ITEMS, ["After the crash", "Kept"])
    webkit.until("document.querySelector('.away').hidden")


def check_signing_out_leaves_nothing(webkit, server):
    pair(webkit, server, "carl")
    server.send("carl", message="Private", richType="img", payload="logo.png")
    webkit.until("document.querySelector('.media img')?.naturalWidth > 100")
    webkit.value("void (location.hash = '#settings')")
    webkit.press("Sign out")
    webkit.until("Boolean(document.querySelector('dialog'))")
    webkit.value("void document.querySelector('dialog button.danger').click()")
    webkit.until("document.querySelector('h1').textContent", "Welcome to richpush")
    left = webkit.value("(async () => [await Device.load() ?? null, (await caches.keys()).filter((name) => !name.startsWith('shell-'))])()")
    assert left == [None, []] and server.devices("carl") == [], left
    assert "Private" not in webkit.value("document.documentElement.outerHTML")


def main():
    with serving(sys.argv[1]) as server:
        def run(check):
            with contextlib.closing(WebKit()) as browser:
                check(browser, server)
                browser.collect()
                assert not browser.errors, browser.errors
        result = judge(list(globals().items()), run)
    sys.exit(result)


if __name__ == "__main__":
    main()
