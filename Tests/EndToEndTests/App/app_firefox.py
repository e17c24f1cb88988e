#!/usr/bin/env python3
"""The app in Debian's Firefox, headless and offline, with a stand-in of Mozilla's push service, against a server that is no demonstration.

usage: app_firefox.py PROGRAMS

Every function whose name begins with "check" is one check, in this order; all run, whatever fails. With the variable ONLY only those
checks run whose names have it in them.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from app_server import ROOT, Page, serving, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import judge

TEXTS = "[...document.querySelectorAll('.item')].map((one) => one.querySelector('p.text')?.textContent + (one.querySelector('.media img')?.naturalWidth > 0 ? ' with a picture' : ''))"
SHOWN = "navigator.serviceWorker.ready.then((worker) => worker.getNotifications()).then((all) => all.map(({ title, tag }) => [title, tag]))"


class Firefox(Page):
    """The stand-in, which has the browser (StandIns/Services/firefox.py)."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="richpush-firefox-")
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", "/usr/bin/python3", ROOT / "Tests/StandIns/Services/firefox.py", self.folder],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        first = json.loads(self.process.stdout.readline())
        self.port, self.certificates = first["port"], first["certificates"]

    def tell(self, do, **more):
        self.process.stdin.write(json.dumps({"do": do} | more) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, (do, more, answer)
        return answer

    def value(self, script):
        return self.tell("evaluate", script=script)["value"]

    def end(self):
        self.process.stdin.close()
        self.process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)


def pair(firefox, server, user):
    server.add(user)
    link, _ = server.pair(user)
    firefox.tell("open", url=link)
    firefox.press("Set up this device")
    firefox.until("document.querySelector('h1').textContent", "Inbox")
    return server.devices(user)[0]["registration"]


def turn_on(firefox):
    firefox.press("Turn on")
    firefox.until("Device.load().then(({ pushes, pushProblem }) => [pushes, pushProblem ?? null])", ["on", None])


def check_a_push_is_shown_while_no_page_is_open_and_its_fetch_is_the_receipt(firefox, server):
    pair(firefox, server, "anna")
    turn_on(firefox)
    assert server.devices("anna")[0]["platform"] == "webpush", server.devices("anna")
    firefox.tell("go", url="about:blank")
    number = server.send("anna", title="Closed", message="Look 🦊", richType="img", payload="logo.png")
    until(lambda: firefox.tell("seen")["acks"] == [100])
    until(lambda: server.receipt(number, "anna")["state"] == "fetched")
    firefox.tell("go", url=server.app)
    firefox.until(SHOWN, [["Closed", f"rich-{number}"]])
    firefox.until(TEXTS, ["Look 🦊 with a picture"])


def check_a_push_comes_after_a_crash_of_the_server(firefox, server):
    pair(firefox, server, "bert")
    turn_on(firefox)
    firefox.tell("refuse", count=1000)
    number = server.send("bert", message="Once more")
    until(lambda: firefox.tell("seen")["pushes"])
    server.kill()
    firefox.tell("refuse", count=0)
    server.start()
    until(lambda: firefox.tell("seen")["acks"] == [100])
    firefox.until(SHOWN, [["Once more", f"rich-{number}"]])
    firefox.until(TEXTS, ["Once more"])


def check_the_device_of_the_page_push_goes_on_here(firefox, server):
    """What that page left: its worker with a subscription, and the device in the database."""
    server.add("carl")
    firefox.tell("open", url=server.url + "/push/")
    firefox.until("document.querySelector('h1')?.textContent", "Welcome to richpush")
    key = server.call("carl", "GET", "/api/push/vapid")["key"]
    subscription = firefox.value(
        f"""(async () => {{
              const registration = await navigator.serviceWorker.register("../push/worker.js");
              const worker = registration.installing ?? registration.waiting ?? registration.active;
              while (worker.state !== "activated") await new Promise((done) => worker.addEventListener("statechange", done, {{ once: true }}));
              return (await registration.pushManager.subscribe({{ userVisibleOnly: true, applicationServerKey: {json.dumps(key)} }})).toJSON();
            }})()""")
    server.call("carl", "PUT", "/api/register/browser-1", {
        "Platform": "webpush", "Handle": subscription["endpoint"], "Keys": subscription["keys"], "Name": "Firefox of before"})
    token = server.call("carl", "POST", "/api/register/browser-1/token")["token"]
    firefox.value(f"Device.save({json.dumps({'id': 'browser-1', 'user': 'carl', 'token': token})})")
    firefox.tell("go", url=server.url + "/push/")
    firefox.until("document.querySelector('h1')?.textContent", "Inbox")
    firefox.until("navigator.serviceWorker.getRegistrations().then((all) => all.map(({ scope }) => scope))", [server.app])
    [device] = server.devices("carl")
    assert (device["registration"], device["name"]) == ("browser-1", "Firefox of before"), device
    number = server.send("carl", message="Still there")
    until(lambda: firefox.tell("seen")["acks"] == [100])
    firefox.until(SHOWN, [["Still there", f"rich-{number}"]])


def check_pushes_are_turned_off_and_on_again(firefox, server):
    pair(firefox, server, "emil")
    turn_on(firefox)
    firefox.tell("go", url=server.app + "#settings")
    firefox.press("Turn off here")
    firefox.until("document.querySelector('.card-note h2').textContent", "Notifications are off")
    assert firefox.value("navigator.serviceWorker.ready.then((worker) => worker.pushManager.getSubscription())") is None
    # One that was turned off stays so.
    firefox.tell("go", url=server.app)
    firefox.until("document.querySelector('h1')?.textContent", "Inbox")
    firefox.tell("go", url=server.app + "#settings")
    turn_on(firefox)
    number = server.send("emil", message="On again")
    until(lambda: firefox.tell("seen")["acks"] == [100])
    firefox.until(SHOWN, [["On again", f"rich-{number}"]])


def check_signing_out_ends_the_subscription(firefox, server):
    pair(firefox, server, "dora")
    turn_on(firefox)
    server.send("dora", message="Private")
    until(lambda: firefox.tell("seen")["acks"] == [100])
    firefox.tell("go", url=server.app + "#settings")
    firefox.press("Sign out")
    firefox.value("void document.querySelector('dialog button.danger').click()")
    firefox.until("document.querySelector('h1').textContent", "Welcome to richpush")
    left = firefox.value(
        """navigator.serviceWorker.ready.then(async (worker) => [
             (await worker.getNotifications()).length, await worker.pushManager.getSubscription(), (await Device.load()) ?? null])""")
    assert left == [0, None, None] and server.devices("dora") == [], left


def main():
    firefox = Firefox()
    os.environ["RICHPUSH_PUSH_CA"] = firefox.certificates
    try:
        with serving(
                sys.argv[1], "--push", "embedded,webpush", "--push-contact", "mailto:test@example.com",
                "--push-allow", f"127.0.0.1:{firefox.port}") as server:
            def run(check):
                try:
                    check(firefox, server)
                finally:
                    firefox.tell("reset")
            result = judge(list(globals().items()), run)
    finally:
        firefox.end()
    sys.exit(result)


if __name__ == "__main__":
    main()
