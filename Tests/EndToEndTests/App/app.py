#!/usr/bin/env python3
"""The app /app/ in one Chromium, against a running server.

usage: app.py SERVER

The server is a demonstration, or has the users that the variable USERS names, with the password of the variable PASSWORD:
`shop`, a publisher, and `alice`, `bob`, `carl`, `dora`, `many`, to whom nothing was sent yet. It has the subjects news=News,offers=Offers, and the assets of this
repository. Every function whose name begins with "check" is one check, in this order; all run, whatever fails. With the variable
ONLY only those checks run whose names begin with it. Chromium has no push service here: its subscription is made up, and the
worker gets its pushes by CDP."""

import base64
import contextlib
import json
import os
import sys
import time
import traceback
import urllib.error
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

SERVER = sys.argv[1].rstrip("/")
APP = SERVER + "/app/"
PASSWORD = os.environ.get("PASSWORD")
# A busy machine takes its time.
PATIENCE = 20
PHONE, SCREEN = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
IPHONE = ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 "
          "Mobile/15E148 Safari/604.1")
KEYS = {"p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}
# What a page would get from a push service: a subscription for each worker.
SUBSCRIPTIONS = """
(() => {
  const all = new Map();
  const made = (scope, key) => ({ endpoint: "https://updates.push.services.mozilla.com/wpush/" + encodeURIComponent(scope) + self.mark,
    options: { applicationServerKey: Uint8Array.from(atob(key.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0)).buffer },
    toJSON() { return { endpoint: this.endpoint, keys: %s }; }, unsubscribe: async () => all.delete(scope) });
  self.mark = Math.random();
  self.subscriptions = all;
  const { pushManager } = Object.getOwnPropertyDescriptors(ServiceWorkerRegistration.prototype);
  PushManager.prototype.getSubscription = async function () { return all.get(this.scope) ?? null; };
  PushManager.prototype.subscribe = async function ({ applicationServerKey: key }) {
    if (!all.has(this.scope)) all.set(this.scope, made(this.scope, key));
    return all.get(this.scope);
  };
  Object.defineProperty(ServiceWorkerRegistration.prototype, "pushManager", { get() {
    return Object.assign(pushManager.get.call(this), { scope: this.scope });
  } });
  self.subscribeEarlier = (scope) => all.set(scope, made(scope, "AAAA"));
})();
""" % json.dumps(KEYS)


def call(user, method, path, body=None, refused=None):
    """A request with the user's password; `refused` is the status that is expected."""
    request = urllib.request.Request(SERVER + path, method=method, data=None if body is None else json.dumps(body).encode())
    credentials = f"{user}:{PASSWORD or user}"
    request.add_header("Authorization", "Basic " + base64.b64encode(credentials.encode()).decode())
    try:
        with urllib.request.urlopen(request) as response:
            text = response.read()
    except urllib.error.HTTPError as error:
        assert error.code == refused, (error.code, error.read())
        return None
    assert refused is None, text
    return json.loads(text) if text else None


def send(user, **members):
    return call("shop", "POST", "/api/notifications", {"to": [f"username:{user}"], **members})["id"]


def until(value):
    """Waits until a function gives something true, and returns that."""
    deadline = time.monotonic() + PATIENCE
    while not (found := value()):
        assert time.monotonic() < deadline, "it does not become true"
        time.sleep(0.05)
    return found


class Phone:
    """A browser with a profile of its own; `errors` are what its pages have thrown."""

    def __init__(self, chromium, size=None, may_notify=False, has_service=False, **options):
        options = {"viewport": size or PHONE, "locale": "en-GB", "device_scale_factor": 2 if size in (None, PHONE) else 1} | options
        self.context = chromium.new_context(**options)
        self.context.set_default_timeout(PATIENCE * 1000)
        if may_notify:
            self.context.grant_permissions(["notifications"], origin=SERVER)
        if has_service:
            self.context.add_init_script(SUBSCRIPTIONS)
        self.errors = []
        self.open()

    def open(self):
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        return self.page

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.context.close()
        if kind is None:
            assert not self.errors, self.errors

    def sign_in(self, user, is_new=True):
        """By name and password; not as one of the earlier devices."""
        self.page.goto(APP)
        self.page.get_by_label("Name", exact=True).or_(self.page.get_by_label("Benutzername")).fill(user)
        self.page.locator("#password").fill(PASSWORD or user)
        self.page.locator("#password").press("Enter")
        self.becomes("document.querySelector('.side') || document.querySelector('dialog .choices')")
        if is_new and self.page.locator("dialog .choices").count():
            self.page.locator("dialog .main").click()
        self.page.locator(".side").wait_for()
        self.becomes("!document.querySelector('.loading')")

    def becomes(self, script):
        """Waits until something is true in the page, whose policy forbids Playwright's own way."""
        return until(lambda: self.page.evaluate(script))

    def device(self):
        return self.page.evaluate("Device.load()")

    def items(self):
        return self.page.locator(".item")

    def left(self):
        """What the browser has kept: the databases, the caches but those of the app's files, the notifications."""
        return self.page.evaluate("""(async () => [(await indexedDB.databases()).map(({ name }) => name),
          (await caches.keys()).filter((name) => !name.startsWith("shell-")),
          (await (await navigator.serviceWorker.getRegistration())?.getNotifications() ?? []).length, Object.keys(localStorage).filter((key) => key !== "app")])()""")


def check_a_link_sets_up_a_phone_by_a_button_and_only_once(chromium):
    pairing = call("alice", "POST", "/api/pairings", {})
    with Phone(chromium) as phone:
        sent = []
        phone.page.on("request", lambda request: request.method == "POST" and sent.append(request.url))
        phone.page.goto(pairing["link"])
        button = phone.page.get_by_role("button", name="Set up this device")
        button.wait_for()
        assert not sent, sent
        button.click()
        expect(phone.page.get_by_role("heading", level=1)).to_have_text("Inbox")
        assert phone.page.url == APP and phone.device()["user"] == "alice"
        assert pairing["code"] not in phone.page.evaluate("JSON.stringify(performance.getEntries().map(({ name }) => name).slice(1))")
    with Phone(chromium) as other:
        other.page.goto(pairing["link"])
        other.page.get_by_role("button", name="Set up this device").click()
        expect(other.page.get_by_role("alert")).to_contain_text("was used, or is too old")


def check_the_short_code_can_be_typed_as_one_reads_it(chromium):
    pairing = call("alice", "POST", "/api/pairings", {})
    with Phone(chromium) as phone:
        phone.page.goto(APP)
        phone.page.get_by_label("Code").fill(pairing["shortCode"][:4].lower() + " " + pairing["shortCode"][4:])
        phone.page.get_by_role("button", name="Use the code").click()
        expect(phone.page.get_by_role("heading", level=1)).to_have_text("Inbox")


def check_on_an_iphone_a_second_code_travels_to_the_home_screen(chromium):
    pairing = call("alice", "POST", "/api/pairings", {})
    with Phone(chromium, user_agent=IPHONE) as safari:
        safari.page.goto(pairing["link"])
        safari.page.get_by_role("button", name="Continue").click()
        expect(safari.page.get_by_role("heading", name="Now put the app on your iPhone")).to_be_visible()
        expect(safari.page.get_by_text("Add to Home Screen")).to_be_visible()
        code = safari.page.evaluate("document.querySelector('link[rel=manifest]').href").split("?pair=")[1]
        assert code != pairing["code"] and safari.device() is None
        manifest = safari.page.evaluate("fetch(document.querySelector('link[rel=manifest]').href).then((response) => response.json())")
        assert code in manifest["start_url"] and manifest["id"] == "/app/"
    with Phone(chromium, user_agent=IPHONE) as app:
        app.context.add_init_script("Object.defineProperty(navigator, 'standalone', { get: () => true })")
        app.page.goto(f"{APP}?pair={code}")
        app.page.get_by_role("button", name="Set up this phone").click()
        expect(app.page.get_by_role("heading", level=1)).to_have_text("Inbox")
        # It starts there every time.
        app.page.goto(f"{APP}?pair={code}")
        expect(app.page.get_by_role("heading", level=1)).to_have_text("Inbox")
        assert "pair" not in app.page.url


def check_it_can_be_installed(chromium):
    with Phone(chromium) as phone:
        phone.page.goto(APP)
        phone.page.locator("h1").wait_for()
        cdp = phone.context.new_cdp_session(phone.page)
        assert cdp.send("Page.getAppManifest")["errors"] == []
        # Of an incognito window, which a context is, Chromium says so, and nothing else.
        errors = [error["errorId"] for error in cdp.send("Page.getInstallabilityErrors")["installabilityErrors"]]
        assert [error for error in errors if error != "in-incognito"] == [], errors


def check_what_is_first_painted_is_small(chromium):
    with Phone(chromium, service_workers="block") as phone:
        sizes = {}
        phone.page.on("response", lambda response: sizes.setdefault(response.url, len(response.body()) if response.ok else 0))
        phone.page.goto(APP)
        phone.page.locator("h1").wait_for()
        phone.page.wait_for_load_state("networkidle")
        painted = phone.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        assert painted > 0 and sum(sizes.values()) < 100_000, (sum(sizes.values()), sizes)


def check_the_inbox_shows_everything_that_was_sent(chromium):
    send("alice", title="Words", subtitle="With a subtitle", message="And a text.", link="https://shop.example/1")
    send("alice", title="Ding", message="A sound", richType="sound", payload="chime.wav")
    send("alice", title="A page", message="A link", richType="url", payload="https://www.swift.org/")
    send("alice", title="Beach", message="A picture", richType="img", payload="beach.jpg", alt="The sea in the evening")
    with Phone(chromium) as phone:
        phone.sign_in("alice")
        item = phone.items().filter(has=phone.page.get_by_role("heading", name="Beach")).first
        picture = item.locator("img")
        expect(picture).to_have_attribute("alt", "The sea in the evening")
        # Sharp on this screen, and not larger than that takes.
        pixels, shown = picture.evaluate("(image) => [image.naturalWidth, image.clientWidth * devicePixelRatio]")
        assert shown <= pixels < shown * 1.5, (pixels, shown)
        expect(phone.items().filter(has_text="Ding").first.locator("audio")).to_have_attribute("controls", "")
        expect(phone.items().filter(has_text="A page").first.locator("a.card")).to_have_attribute("href", "https://www.swift.org/")
        words = phone.items().filter(has_text="With a subtitle").first
        expect(words.locator("a.card")).to_have_attribute("href", "https://shop.example/1")
        assert phone.page.locator("h2", has_text="Today").count()
        # Nothing jumps when a picture comes: its place has its shape before.
        assert item.locator(".media").evaluate("(media) => media.style.aspectRatio !== ''")


def check_buttons_and_replies_reach_the_publisher(chromium):
    number = send("bob", title="Parcel", message="At the door.", actions=[
        {"id": "ask", "label": "Where?", "input": "Your question"}, {"id": "good", "label": "All right"}, {"id": "later", "label": "Later", "dismiss": True}])
    with Phone(chromium) as phone:
        phone.sign_in("bob")
        phone.page.goto(f"{APP}#reply/{number}/ask")
        field = phone.page.get_by_label("Your question")
        expect(field).to_be_focused()
        field.fill("Behind the house?")
        field.press("Enter")
        expect(phone.page.get_by_text("You replied: “Behind the house?”")).to_be_visible()
        phone.page.get_by_role("button", name="All right").click()
        expect(phone.page.get_by_role("button", name="All right")).to_have_class("done")
        assert not phone.page.get_by_role("button", name="Later").count()
    told = call("shop", "GET", f"/api/notifications/{number}/interactions")["interactions"]
    assert sorted((one["event"], one["action"], one.get("text")) for one in told) == [
        ("action", "good", None), ("reply", "ask", "Behind the house?")], told


def check_what_is_read_deleted_and_found(chromium):
    for number in range(3):
        send("carl", title=f"Letter {number}", message="A text.")
    news = call("shop", "POST", "/api/notifications", {"to": ["username:carl", "news"], "title": "News", "message": "Of today."})["id"]
    with Phone(chromium) as phone:
        page = phone.page
        phone.sign_in("carl")
        expect(page.locator(".item.unread")).to_have_count(4)
        assert page.title().startswith("(4) ")
        page.get_by_text("Of today.").click()
        expect(page.locator(".item.unread")).to_have_count(3)
        until(lambda: call("carl", "GET", "/api/notifications")["unread"] == 3)
        letter = phone.items().filter(has_text="Letter 1")
        letter.get_by_role("button", name="Delete").click()
        expect(letter).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(letter).to_have_count(1)
        letter.get_by_role("button", name="Delete").click()
        expect(letter).to_have_count(0)
        until(lambda: len(call("carl", "GET", "/api/notifications")["notifications"]) == 3)
        page.get_by_role("button", name="Mark all read").click()
        expect(page.locator(".item.unread")).to_have_count(0)
        assert not page.title().startswith("(")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("searchbox").type("letter 2")
        expect(phone.items()).to_have_count(1)
        expect(page.get_by_role("searchbox")).to_be_focused()
        page.get_by_role("link", name="News").click()
        expect(phone.items()).to_have_count(1)
        assert call("carl", "GET", f"/api/notifications/{news}/details")["read"]


def check_it_is_live(chromium):
    with Phone(chromium) as phone:
        phone.sign_in("dora")
        title = f"Now {time.time()}"
        send("dora", title=title, message="It comes while one looks.")
        expect(phone.page.get_by_role("heading", name=title)).to_be_visible()
        expect(phone.page.locator("#said")).to_contain_text("1 new notification")


def check_the_worker_shows_pushes_and_a_click_opens_the_notification(chromium):
    with Phone(chromium, may_notify=True, locale="de-DE") as phone:
        registrations = []
        cdp = phone.context.new_cdp_session(phone.page)
        cdp.on("ServiceWorker.workerRegistrationUpdated", lambda event: registrations.extend(event["registrations"]))
        cdp.send("ServiceWorker.enable")
        phone.sign_in("dora")
        worker = until(lambda: phone.page.evaluate("navigator.serviceWorker.controller !== null") and phone.context.service_workers)[0]
        registration = next(one["registrationId"] for one in registrations if one["scopeURL"] == APP)

        def deliver(push):
            before = len(shown())
            cdp.send("ServiceWorker.deliverPushMessage", {"origin": SERVER, "registrationId": registration, "data": json.dumps(push)})
            return until(lambda: len(shown()) > before and shown())

        def shown():
            return phone.page.evaluate("navigator.serviceWorker.ready.then((one) => one.getNotifications()).then((all) => "
                                       "all.map(({ title, body, actions, silent }) => [title, body, actions.map(({ title }) => title), silent]))")

        number = send("dora", title="Neu", message="Ein Bild", richType="img", payload="logo.png")
        push = {"richId": number, "richTitle": "Neu", "richMessage": "Ein Bild", "richType": "img", "actions": [
            {"id": "a", "label": "Eins"}, {"id": "b", "label": "Zwei"}, {"id": "c", "label": "Drei"}]}
        assert ["Neu", "Ein Bild", ["Eins", "Zwei"], False] in deliver(push)
        until(lambda: call("shop", "GET", f"/api/notifications/{number}/details")["counts"]["fetched"] == 1)
        # Nothing of it on a screen that may be locked, in the user's language.
        assert ["Neue Mitteilung", "", [], False] in deliver({"richId": 1, "richMessage": "Secret", "lockScreen": "private"})
        phone.page.evaluate("Device.load().then((device) => Device.save({ ...device, sound: false }))")
        assert ["Leise", "", [], True] in deliver({"richId": 2, "richTitle": "Leise"})
        worker.evaluate("""registration.getNotifications().then((all) => self.dispatchEvent(
          new NotificationEvent("notificationclick", { notification: all.find(({ title }) => title === "Neu"), action: "" })))""")
        phone.becomes(f"location.hash === '#{number}'")
        until(lambda: call("dora", "GET", f"/api/notifications/{number}/details")["read"])


def check_offline_the_newest_are_there_with_their_pictures_and_it_recovers(chromium):
    send("dora", title="Kept", message="Also without a network.", richType="img", payload="beach.jpg")
    with Phone(chromium) as phone:
        page = phone.page
        phone.sign_in("dora")
        phone.items().filter(has_text="Kept").first.locator("img").wait_for()
        phone.becomes("navigator.serviceWorker.controller !== null")
        phone.becomes("Device.load().then((device) => Offline.inbox(device)).then((kept) => kept?.notifications.length > 0)")
        phone.context.set_offline(True)
        page.reload()
        kept = phone.items().filter(has_text="Kept").first
        kept.locator("img").wait_for()
        expect(page.locator(".away")).to_contain_text("You are offline. This is as of")
        assert kept.locator("img").evaluate("(image) => image.naturalWidth") > 0
        phone.context.set_offline(False)
        expect(page.locator(".away")).to_be_hidden(timeout=60_000)


def check_a_token_that_ended_leaves_nothing_behind(chromium):
    with Phone(chromium, may_notify=True) as phone:
        phone.sign_in("dora")
        phone.becomes("navigator.serviceWorker.controller !== null")
        phone.page.evaluate("navigator.serviceWorker.ready.then((one) => one.showNotification('Left', { tag: 'left' }))")
        phone.page.evaluate("caches.open('other')")
        call("dora", "DELETE", "/api/register/" + phone.device()["id"])
        phone.page.reload()
        expect(phone.page.get_by_role("heading", level=1)).to_have_text("Sign in again")
        assert phone.left() == [[], [], 0, []], phone.left()


def check_signing_out_leaves_nothing_behind_in_all_tabs(chromium):
    with Phone(chromium, may_notify=True, has_service=True) as phone:
        phone.sign_in("dora")
        device = phone.device()["id"]
        first, second = phone.page, phone.open()
        second.goto(APP)
        second.locator(".side").wait_for()
        second.get_by_role("link", name="Settings").first.click()
        second.get_by_role("button", name="Sign out").click()
        second.get_by_role("dialog").get_by_role("button", name="Sign out").click()
        for page in (second, first):
            expect(page.get_by_text("Nothing of yours is left in this browser")).to_be_visible()
        assert phone.left() == [[], [], 0, []], phone.left()
        assert device not in [one["registration"] for one in call("dora", "GET", "/api/registrations")["devices"]]


def check_another_user_finds_nothing_of_the_first(chromium):
    send("dora", title="For Dora", message="Only for her.")
    with Phone(chromium) as phone:
        phone.sign_in("dora")
        phone.page.goto("about:blank")
        phone.page.goto(call("bob", "POST", "/api/pairings", {})["link"])
        expect(phone.page.get_by_text("This browser is set up for dora")).to_be_visible()
        phone.page.get_by_role("button", name="Set up this device").click()
        phone.page.locator(".side").wait_for()
        phone.becomes("!document.querySelector('.loading')")
        assert phone.device()["user"] == "bob" and not phone.page.get_by_text("Only for her.").count()
        kept = phone.page.evaluate("Device.load().then((device) => Offline.inbox(device))")
        assert "Only for her" not in json.dumps(kept)


def check_a_browser_that_has_lost_everything_can_be_the_same_device(chromium):
    with Phone(chromium) as phone:
        phone.sign_in("many")
        before = phone.device()["id"]
        phone.page.evaluate("Device.forget()")
        phone.page.goto("about:blank")
        phone.page.goto(APP)
        phone.page.get_by_label("Name", exact=True).fill("many")
        phone.page.locator("#password").fill(PASSWORD or "many")
        phone.page.locator("#password").press("Enter")
        dialog = phone.page.get_by_role("dialog", name="Is this one of your devices?")
        dialog.locator(".choices button").first.click()
        phone.page.locator(".side").wait_for()
        assert phone.device()["id"] == before


def check_it_takes_over_the_registration_of_the_earlier_page(chromium):
    call("bob", "PUT", "/api/register/browser-earlier", {"Platform": "webpush", "Handle": "https://updates.push.services.mozilla.com/wpush/earlier", "Keys": KEYS})
    token = call("bob", "POST", "/api/register/browser-earlier/token")["token"]
    with Phone(chromium, may_notify=True, has_service=True) as phone:
        phone.page.goto(APP)
        phone.page.locator("h1").wait_for()
        phone.page.evaluate("""async (device) => {
          await navigator.serviceWorker.register("../push/worker.js", { scope: "../push/" });
          await Device.save(device);
        }""", {"id": "browser-earlier", "user": "bob", "token": token})
        phone.context.add_init_script(f"subscribeEarlier('{SERVER}/push/')")
        phone.page.reload()
        phone.page.locator(".side").wait_for()
        phone.becomes("navigator.serviceWorker.getRegistrations().then((all) => all.every(({ scope }) => scope.endsWith('/app/')))")
        assert phone.page.evaluate("[...subscriptions.keys()]") == [APP]
        device = next(one for one in call("bob", "GET", "/api/registrations")["devices"] if one["registration"] == "browser-earlier")
        assert device["platform"] == "webpush" and not device["ended"]
        assert phone.device()["pushes"] == "on"


def check_notifications_can_be_turned_on_and_off(chromium):
    with Phone(chromium, may_notify=True, has_service=True) as phone:
        phone.sign_in("bob")
        phone.page.get_by_role("button", name="Turn on").click()
        expect(phone.page.get_by_role("heading", name="Turn on notifications")).to_have_count(0)
        device = next(one for one in call("bob", "GET", "/api/registrations")["devices"] if one["registration"] == phone.device()["id"])
        assert device["platform"] == "webpush", device
        phone.page.goto(APP + "#settings")
        phone.page.get_by_role("button", name="Turn off here").click()
        expect(phone.page.get_by_role("heading", name="Notifications are off")).to_be_visible()
        assert phone.page.evaluate("subscriptions.size") == 0


def check_settings_are_the_servers(chromium):
    with Phone(chromium, locale="en-GB") as phone:
        page = phone.page
        phone.sign_in("bob")
        page.get_by_role("link", name="Settings").first.click()

        def device():
            return next(one for one in call("bob", "GET", "/api/registrations")["devices"] if one["registration"] == phone.device()["id"])

        name = page.get_by_label("Name")
        name.fill("Bob’s phone")
        name.press("Tab")
        until(lambda: device()["name"] == "Bob’s phone")
        page.get_by_label("News").check()
        until(lambda: "news" in device()["tags"])
        page.get_by_label("No notifications at night").check()
        until(lambda: device().get("quietHours") == {"from": "22:00", "until": "07:00"})
        page.get_by_label("Until").fill("06:30")
        until(lambda: (device().get("quietHours") or {}).get("until") == "06:30")
        page.reload()
        expect(page.get_by_label("News")).to_be_checked()
        expect(page.get_by_label("Until")).to_have_value("06:30")
        page.get_by_label("Language").select_option("de")
        expect(page.get_by_role("heading", level=1)).to_have_text("Einstellungen")
        assert page.evaluate("document.documentElement.lang") == "de"


def check_another_device_is_added_with_the_password(chromium):
    with Phone(chromium) as phone, Phone(chromium) as other:
        phone.sign_in("bob")
        phone.page.goto(APP + "#settings")
        phone.page.get_by_role("button", name="Add another device").click()
        dialog = phone.page.get_by_role("dialog")
        dialog.get_by_label("Password").fill("wrong")
        dialog.get_by_role("button", name="Continue").click()
        expect(dialog.get_by_role("alert")).to_have_text("The password is wrong.")
        dialog.get_by_label("Password").fill(PASSWORD or "bob")
        dialog.get_by_role("button", name="Continue").click()
        expect(dialog.get_by_role("img", name="QR code")).to_be_visible()
        code = dialog.locator("p.code").inner_text()
        other.page.goto(APP)
        other.page.get_by_label("Code").fill(code)
        other.page.get_by_role("button", name="Use the code").click()
        expect(other.page.get_by_role("heading", level=1)).to_have_text("Inbox")
        assert other.device()["user"] == "bob" and other.device()["id"] != phone.device()["id"]


def check_a_thousand_scroll_and_few_are_held(chromium):
    first = call("many", "GET", "/api/notifications?limit=500")
    second = call("many", "GET", first["next"]) if first["next"] else {"notifications": []}
    for number in range(1000 - len(first["notifications"]) - len(second["notifications"])):
        send("many", message=f"Number {number}", richType="img", payload=("logo.png", "beach.jpg")[number % 2])
    with Phone(chromium) as phone:
        phone.context.add_init_script("""self.live = self.most = 0;
          for (const [name, step] of [["createObjectURL", 1], ["revokeObjectURL", -1]]) {
            const call = URL[name].bind(URL);
            URL[name] = (value) => { self.live += step; self.most = Math.max(self.most, self.live); return call(value); };
          }""")
        phone.sign_in("many")
        deadline = time.monotonic() + 240
        while phone.items().count() < 1000:
            assert time.monotonic() < deadline, phone.items().count()
            phone.page.evaluate("scrollTo(0, document.body.scrollHeight)")
            time.sleep(0.1)
        for _ in range(30):
            phone.page.mouse.wheel(0, -3000)
            time.sleep(0.05)
        phone.becomes("document.querySelectorAll('.media img').length > 0")
        assert phone.page.evaluate("most") < 60 and phone.page.locator(".media img").count() < 30


def check_both_languages_have_the_same_words(chromium):
    with Phone(chromium) as phone:
        phone.page.goto(APP)
        english, german = phone.page.evaluate("""async () => {
          const names = (value, path = "") => value !== null && typeof value === "object"
            ? Object.entries(value).flatMap(([key, inner]) => names(inner, `${path}.${key}`)) : [`${path} ${typeof value}`];
          return Promise.all(["en", "de"].map(async (tag) => names((await import(`./app-${tag}.js`)).app).sort()));
        }""".replace("`./app-", "`/app/app-"))
        assert english == german and len(english) > 150, set(english) ^ set(german)


def check_axe_finds_nothing(chromium):
    send("dora", title="Questions", message="Here.", actions=[{"id": "ask", "label": "Ask", "input": "Your question"}])
    axe, found = Axe(), {}

    def judge(page, place):
        page.wait_for_timeout(300)
        for finding in axe.run(page).response["violations"]:
            found[finding["id"]] = f"{place}: {finding['nodes'][0]['html'][:120]}"

    kinds = [(size, scheme, locale) for size in (PHONE, SCREEN) for scheme in ("light", "dark") for locale in ("en-GB", "de-DE")]
    for size, scheme, locale in kinds:
        with Phone(chromium, size, color_scheme=scheme, locale=locale, bypass_csp=True) as phone:
            kind = f"{size['width']} {scheme} {locale}"
            phone.page.goto(APP)
            phone.page.locator("h1").wait_for()
            judge(phone.page, f"welcome {kind}")
            phone.sign_in("dora")
            judge(phone.page, f"inbox {kind}")
            phone.page.evaluate("location.hash = '#settings'")
            phone.page.locator(".panel button.danger").wait_for()
            judge(phone.page, f"settings {kind}")
            phone.page.locator(".panel button.danger").click()
            judge(phone.page, f"dialog {kind}")
    assert not found, found


def check_the_keyboard_is_enough(chromium):
    for number in range(3):
        send("dora", title=f"Key {number}", message="A text.")
    with Phone(chromium, SCREEN) as phone:
        page = phone.page
        page.goto(APP)
        page.locator("h1").wait_for()

        def go(name):
            for _ in range(60):
                page.keyboard.press("Tab")
                label = page.evaluate("((one) => one.getAttribute('aria-label') || one.labels?.[0]?.textContent || one.textContent)(document.activeElement)")
                if label.strip() == name:
                    # What has the focus can be seen to have it.
                    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
                    return
            raise AssertionError(f"{name} cannot be reached")

        go("Name")
        page.keyboard.type("dora")
        go("Password")
        page.keyboard.type(PASSWORD or "dora")
        page.keyboard.press("Enter")
        phone.becomes("document.querySelector('.side') || document.querySelector('dialog .choices')")
        if page.locator("dialog .choices").count():
            go("No, it is a new one")
            page.keyboard.press("Enter")
        page.locator(".item").first.wait_for()
        count = page.locator(".item").count()
        go("Delete")
        page.keyboard.press("Enter")
        expect(page.locator(".item")).to_have_count(count - 1)
        # The focus stays in the list.
        assert page.evaluate("document.activeElement.closest('.item') !== null")


def check_it_reads_from_right_to_left_and_in_large_letters(chromium):
    send("dora", title="عرض الصيف", message="خصم كبير على جميع المنتجات.", language="ar")
    for script in ("document.documentElement.dir = 'rtl'", "document.documentElement.style.fontSize = '200%'"):
        with Phone(chromium) as phone:
            phone.sign_in("dora")
            phone.page.evaluate(script)
            assert phone.page.locator("h3[lang=ar]").first.evaluate("(one) => getComputedStyle(one).direction") == "rtl"
            for place in ("", "#settings"):
                phone.page.evaluate(f"location.hash = '{place}'")
                phone.page.wait_for_timeout(500)
                assert phone.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (script, place)


def main():
    failures = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"])
        expect.set_options(timeout=PATIENCE * 1000)
        only = os.environ.get("ONLY", "")
        checks = [(name, check) for name, check in globals().items() if name.startswith("check_" + only)]
        for name, check in checks:
            start = time.monotonic()
            said = name.replace("_", " ")
            try:
                check(chromium)
            except Exception:
                failures.append(f"{said}\n{traceback.format_exc(limit=-3)}")
            print(f"{time.monotonic() - start:5.1f} s  {said}", flush=True)
            for context in chromium.contexts:
                with contextlib.suppress(Exception):
                    context.close()
        chromium.close()
    sys.exit("\n".join(failures) if failures else 0)


if __name__ == "__main__":
    main()
