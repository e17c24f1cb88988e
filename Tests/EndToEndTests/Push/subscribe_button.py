#!/usr/bin/env python3
"""The button of subscribe.js on a site of another origin, in one Chromium, against a running server with open sign-up.

usage: subscribe_button.py SERVER PORT WORKER

The site is at PORT of 127.0.0.1, which the server must allow; WORKER is the file richpush-worker.js. Every function whose name
begins with "check" is one check, in this order; all run, whatever fails. Chromium has no push service here: its subscription
is made up, and the worker gets its pushes by CDP.
"""

import base64
import json
import pathlib
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

SERVER, PORT, WORKER = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
SITE = f"http://127.0.0.1:{PORT}"
# A busy machine takes its time.
PATIENCE = 20
SCRIPT = f'<script src="{SERVER}/app/subscribe.js" data-subjects="news" async></script>'
PAGE = '<!doctype html><html lang="{lang}"><meta charset="utf-8"><title>Shop</title><link rel="icon" href="data:,"><main><h1>Shop</h1>{body}</main></html>'
PAGES = {
    "/": ("en", SCRIPT + '<button data-richpush><b>★</b> <span>Tell me</span></button>'),
    "/made": ("en", SCRIPT), "/de": ("de", SCRIPT + "<button data-richpush></button>"),
}
# What the page would get from a push service, for as long as the browser's profile.
SUBSCRIPTIONS = """
(() => {
  const read = () => JSON.parse(localStorage.subscription ?? "null");
  const made = (kept) => kept && { endpoint: kept.endpoint, toJSON: () => kept,
    options: { applicationServerKey: Uint8Array.from(atob(kept.key.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0)).buffer },
    unsubscribe: async () => { delete localStorage.subscription; return true; } };
  PushManager.prototype.getSubscription = async () => made(read());
  PushManager.prototype.subscribe = async ({ applicationServerKey: key }) => {
    const endpoint = `https://127.0.0.1:9/${crypto.randomUUID()}`;
    localStorage.subscription = JSON.stringify({ endpoint, key, keys: { p256dh: "%s", auth: "BTBZMqHH6r4Tts7J_aSIgg" } });
    return made(read());
  };
  self.states = [];
  document.addEventListener("richpush", ({ detail }) => self.states.push(detail.event ?? detail.state));
})();
""" % "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/richpush-worker.js":
            kind, body = "text/javascript", WORKER.read_bytes()
        elif self.path in PAGES:
            lang, text = PAGES[self.path]
            kind, body = "text/html", PAGE.format(lang=lang, body=text).encode()
        else:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def until(value):
    """Waits until a function gives something true, and returns that."""
    deadline = time.monotonic() + PATIENCE
    while not (found := value()):
        assert time.monotonic() < deadline, "it does not become true"
        time.sleep(0.05)
    return found


def call(page, user, method, path, body=None):
    password = base64.b64encode(f"{user}:{user}".encode()).decode()
    answer = page.request.fetch(
        SERVER + path, method=method, headers={"Authorization": f"Basic {password}"}, data=body and json.dumps(body))
    assert answer.ok, answer.text()
    return answer.json() if answer.text() else None


def visit(context, path="/"):
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
    page.add_init_script(SUBSCRIPTIONS)
    page.goto(SITE + path)
    return page


def kept(page):
    return page.evaluate(
        """() => new Promise((done) => {
             const opening = indexedDB.open("richpush-button", 1);
             opening.onupgradeneeded = () => opening.result.createObjectStore("device");
             opening.onsuccess = () => {
               const request = opening.result.transaction("device").objectStore("device").get("this");
               request.onsuccess = () => { opening.result.close(); done(request.result ?? null); };
             };
           })""")


def check_a_press_signs_up_and_another_ends_it(context):
    page = visit(context)
    button = page.get_by_role("button")
    expect(button).to_have_attribute("data-state", "off")
    expect(button).to_have_text("★ Tell me")
    found = Axe().run(page).response["violations"]
    assert not found, found
    button.click()
    expect(button).to_have_attribute("data-state", "on")
    expect(button).to_have_text("★ Turn notifications off")
    expect(page.get_by_role("status")).to_have_text("You will be notified.")
    device = kept(page)
    assert device["user"].startswith("guest-") and device["token"] and device["server"] == SERVER + "/", device
    devices = call(page, "admin", "GET", f"/api/users/{device['user']}/devices")["devices"]
    assert [one["platform"] for one in devices] == ["webpush"] and "news" in devices[0]["tags"], devices
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/api/" in request.url else None)
    page.reload()
    expect(button).to_have_attribute("data-state", "on")
    assert not asked, "a site has many visits, each of which would ask the server"
    button.click()
    expect(button).to_have_attribute("data-state", "off")
    expect(button).to_have_text("★ Tell me")
    expect(page.get_by_role("status")).to_have_text("You will no longer be notified.")
    assert kept(page) is None and page.evaluate("localStorage.subscription ?? null") is None
    until(lambda: call(page, "admin", "GET", f"/api/users/{device['user']}/devices")["devices"] == [])
    assert page.evaluate("states").count("off") == 1 and not page.errors, page.errors


def check_a_button_is_made_and_another_tab_follows(context):
    page, other = visit(context, "/made"), visit(context, "/de")
    expect(page.get_by_role("button")).to_have_text("Notify me")
    expect(other.get_by_role("button")).to_have_text("Benachrichtigen")
    page.get_by_role("button").click()
    expect(page.get_by_role("button")).to_have_text("Turn notifications off")
    expect(other.get_by_role("button")).to_have_text("Benachrichtigungen beenden")
    other.get_by_role("button").click()
    expect(page.get_by_role("button")).to_have_text("Notify me")
    assert not page.errors + other.errors


def check_a_push_is_shown_its_media_fetched_and_a_click_leads_on(context):
    page = visit(context)
    registrations = []
    cdp = context.new_cdp_session(page)
    cdp.on("ServiceWorker.workerRegistrationUpdated", lambda event: registrations.extend(event["registrations"]))
    cdp.send("ServiceWorker.enable")
    button = page.get_by_role("button")
    button.click()
    expect(button).to_have_attribute("data-state", "on")
    user = kept(page)["user"]
    registration = until(lambda: page.evaluate("1") and [one for one in registrations if "richpush-push" in one["scopeURL"]])[-1]
    whole = {"title": "Parcel", "message": "At the door", "link": "https://shop.example/4711", "richType": "img", "payload": "logo.png",
             "actions": [{"id": "track", "label": "Track", "link": "https://shop.example/t"}, {"id": "why", "label": "Why", "input": "Why?"}],
             "to": [f"username:{user}"]}
    texts = call(page, "shop", "POST", "/api/notifications?dry-run", whole)["texts"]
    push = next(text["payload"] for text in texts if text["platform"] == "webpush")
    number = call(page, "shop", "POST", "/api/notifications", whole)["id"]
    cdp.send("ServiceWorker.deliverPushMessage", {
        "origin": SITE, "registrationId": registration["registrationId"], "data": json.dumps(push | {"richId": str(number)})})
    until(lambda: page.evaluate("states.includes('push')"))
    worker = context.service_workers[-1]
    shown = worker.evaluate(
        "async () => (await registration.getNotifications()).map(({ title, body, actions }) => [title, body, actions.map(({ title }) => title)])")
    assert shown == [["Parcel", "At the door", ["Track"]]], shown
    receipt = lambda: [one["state"] for one in call(page, "shop", "GET", f"/api/notifications/{number}/receipts")["receipts"]]
    until(lambda: receipt() == ["fetched"])
    opened = worker.evaluate(
        """async () => {
             const [opened, work] = [[], []];
             clients.openWindow = async (address) => opened.push(address);
             const [notification] = await registration.getNotifications();
             const event = new NotificationEvent("notificationclick", { notification });
             event.waitUntil = (promise) => work.push(promise);
             dispatchEvent(event);
             await Promise.all(work);
             return opened;
           }""")
    assert opened == ["https://shop.example/4711"], opened
    until(lambda: receipt() == ["read"])
    button.click()
    expect(button).to_have_attribute("data-state", "off")
    assert not page.errors, page.errors


def check_two_presses_sign_up_once(context):
    page = visit(context)
    button = page.get_by_role("button")
    expect(button).to_have_attribute("data-state", "off")
    signed_up = []
    page.on("request", lambda request: signed_up.append(request.url) if request.url.endswith("/api/sign-up") else None)
    # While the browser asks for the permission, the page can still be used.
    button.evaluate("button => { button.click(); button.click(); }")
    expect(button).to_have_attribute("data-state", "on")
    assert len(signed_up) == 1, signed_up
    button.click()
    expect(button).to_have_attribute("data-state", "off")


def check_what_was_ended_elsewhere_is_off_again(context):
    page = visit(context)
    button = page.get_by_role("button")
    button.click()
    expect(button).to_have_attribute("data-state", "on")
    user = kept(page)["user"]
    call(page, "admin", "DELETE", f"/api/users/{user}")
    # The browser has another subscription, so the server is asked.
    page.evaluate("delete localStorage.subscription")
    page.reload()
    expect(button).to_have_attribute("data-state", "off")
    assert kept(page) is None


def check_a_permission_that_is_refused_is_said(context):
    context.clear_permissions()
    page = visit(context)
    # It is off before the answer is replaced; refused already, it could not be pressed.
    expect(page.get_by_role("button")).to_have_attribute("data-state", "off")
    page.evaluate("Object.defineProperty(Notification, 'permission', { get: () => 'denied' }); Notification.requestPermission = async () => 'denied'")
    page.get_by_role("button").click()
    expect(page.get_by_role("status")).to_contain_text("blocked")
    expect(page.get_by_role("button")).to_be_disabled()


def main():
    site = ThreadingHTTPServer(("127.0.0.1", PORT), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    failures = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"])
        expect.set_options(timeout=PATIENCE * 1000)
        for check in [value for name, value in globals().items() if name.startswith("check_")]:
            context = browser.new_context(permissions=["notifications"], locale="fr-FR")
            context.set_default_timeout(PATIENCE * 1000)
            start = time.monotonic()
            try:
                check(context)
            except Exception:
                failures.append(f"{check.__name__.replace('_', ' ')}\n{traceback.format_exc(limit=-3)}")
            print(f"{time.monotonic() - start:5.1f} s  {check.__name__.replace('_', ' ')}", flush=True)
            context.close()
        browser.close()
    site.shutdown()
    sys.exit("\n".join(failures) if failures else 0)


if __name__ == "__main__":
    main()
