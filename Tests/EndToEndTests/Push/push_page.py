#!/usr/bin/env python3
"""The page /push/ and its worker in one Chromium, which gets the pushes that a running demonstration would send.

usage: push_page.py SERVER

Every function whose name begins with "check" is one check, in this order; all run, whatever fails. With the variable
ONLY only those checks run whose names begin with it.
"""

import base64
import contextlib
import json
import os
import sys
import time
import traceback

from playwright.sync_api import expect, sync_playwright

SERVER = sys.argv[1]
# A busy machine takes its time.
PATIENCE = 20
WHOLE = {
    "title": "Parcel", "subtitle": "Order 4711", "message": "Your parcel is at the door.", "link": "https://shop.example/4711",
    "actions": [
        {"id": "track", "label": "Track", "link": "https://shop.example/t/4711"}, {"id": "later", "label": "Later", "dismiss": True},
        {"id": "cancel", "label": "Cancel order"}],
    "data": {"order": "4711"}}
PICTURE = {"richType": "img", "payload": "logo.png"}


def call(page, user, method, path, body=None):
    password = base64.b64encode(f"{user}:{user}".encode()).decode()
    answer = page.request.fetch(
        SERVER + path, method=method, headers={"Authorization": f"Basic {password}"}, data=body and json.dumps(body))
    assert answer.ok, answer.text()
    return answer.json() if answer.text() else None


def until(value):
    """Waits until a function gives something true, and returns that."""
    deadline = time.monotonic() + PATIENCE
    while not (found := value()):
        assert time.monotonic() < deadline, "it does not become true"
        time.sleep(0.05)
    return found


class Browser:
    """The page of a device that is registered, and its worker."""

    def __init__(self, context, user):
        self.page = context.new_page()
        self.errors = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.user, self.device = user, f"{user}-browser"
        # Chromium has no push service here: the device is registered as another, and the worker gets its pushes by CDP.
        call(self.page, user, "PUT", f"/api/register/{self.device}", {"Platform": "apns", "Handle": self.device.encode().hex()})
        token = call(self.page, user, "POST", f"/api/register/{self.device}/token")["token"]
        registrations = []
        cdp = context.new_cdp_session(self.page)
        cdp.on("ServiceWorker.workerRegistrationUpdated", lambda event: registrations.extend(event["registrations"]))
        cdp.send("ServiceWorker.enable")
        self.page.goto(SERVER + "/push/")
        self.page.evaluate(
            "async device => { await navigator.serviceWorker.register('worker.js'); await navigator.serviceWorker.ready; await save(device); "
            "self.told = 0; navigator.serviceWorker.addEventListener('message', ({ data }) => { self.told += data === 'push'; }); }",
            {"id": self.device, "user": user, "token": token})
        until(lambda: self.page.evaluate("1") and registrations and context.service_workers)
        self.cdp, self.registration, self.worker = cdp, registrations[0]["registrationId"], context.service_workers[0]

    def deliver(self, push):
        """Gives the worker a push, and returns what it then shows."""
        before = self.shown()
        told = self.page.evaluate("self.told")
        self.cdp.send("ServiceWorker.deliverPushMessage", {
            "origin": SERVER, "registrationId": self.registration, "data": push if isinstance(push, str) else json.dumps(push)})
        # Chromium forgets a notification whose list is asked for before it is on the screen.
        until(lambda: self.page.evaluate("self.told") > told)
        new = [one for one in self.shown() if one not in before]
        assert len(new) == 1, new
        return new[0]

    def shown(self):
        return self.worker.evaluate(
            """async () => (await registration.getNotifications()).map(({ title, body, tag, icon, image, silent, actions, data, timestamp }) =>
                 ({ title, body, tag, icon, image, silent, timestamp, data, actions: actions.map(({ action, title }) => [action, title]) }))""")

    def push_of(self, notification):
        """The push that the server would send."""
        texts = call(self.page, "shop", "POST", "/api/notifications?dry-run", notification | {"to": [f"username:{self.user}"]})["texts"]
        return next(text["payload"] for text in texts if text["platform"] == "webpush")

    def send(self, notification):
        """Creates it; returns its ID and its push."""
        push = self.push_of(notification)
        number = call(self.page, "shop", "POST", "/api/notifications", notification | {"to": [f"username:{self.user}"]})["id"]
        return number, push | {"richId": str(number)}

    def press(self, button=""):
        """What opens when a notification is clicked, or one of its buttons: this list of addresses, or "the page"."""
        return self.worker.evaluate(
            """async button => {
                 const [opened, work] = [[], []];
                 const { openWindow } = clients;
                 clients.openWindow = async (address) => opened.push(address);
                 const focus = WindowClient.prototype.focus;
                 WindowClient.prototype.focus = async () => opened.push("the page");
                 const notification = (await registration.getNotifications()).at(-1);
                 const event = new NotificationEvent("notificationclick", { notification, action: button });
                 event.waitUntil = (promise) => work.push(promise);
                 dispatchEvent(event);
                 await Promise.all(work);
                 WindowClient.prototype.focus = focus;
                 delete clients.openWindow;
                 return opened;
               }""", button)

    def dismiss(self):
        """Tells the worker that the last notification was closed by hand."""
        self.worker.evaluate(
            """async () => {
                 const notification = (await registration.getNotifications()).at(-1);
                 const [event, work] = [new NotificationEvent("notificationclose", { notification }), []];
                 event.waitUntil = (promise) => work.push(promise);
                 dispatchEvent(event);
                 await Promise.all(work);
               }""")

    def receipt(self, number):
        receipts = call(self.page, "shop", "GET", f"/api/notifications/{number}/receipts")["receipts"]
        return next(one["state"] for one in receipts if one["user"] == self.user)


def check_title_texts_buttons_and_data_are_shown(browser):
    shown = browser.deliver(browser.push_of(WHOLE))
    assert [shown["title"], shown["body"]] == ["Parcel", "Order 4711\nYour parcel is at the door."], shown
    assert shown["actions"] == [["track", "Track"], ["later", "Later"]], shown
    assert shown["data"]["data"] == {"order": "4711"} and not shown["silent"] and not shown["image"], shown
    assert shown["tag"] == "rich-" + shown["data"]["richId"], shown


def check_a_text_without_a_title_is_the_title_as_before(browser):
    for notification, texts in [
            ({"message": "Look"}, ["Look", ""]), ({"message": "Look"} | PICTURE, ["Look", ""]), ({"title": "Parcel"}, ["Parcel", ""]),
            ({"subtitle": "Order", "message": "Look"}, ["Order", "Look"])]:
        shown = browser.deliver(browser.push_of(notification))
        assert [shown["title"], shown["body"]] == texts, shown


def check_a_push_without_a_sound_is_silent_and_one_replaces_another(browser):
    push = browser.push_of({"message": "Quiet", "sound": "none", "replaces": "order-4711"}) | {"icon": SERVER + "/push/icon.png"}
    shown = browser.deliver(push)
    assert shown["silent"] and shown["icon"] == SERVER + "/push/icon.png" and shown["tag"] == push["tag"] != "order-4711", shown
    later = browser.deliver(push | {"richMessage": "Later", "richId": "99999"})
    assert later["title"] == "Later" and len(browser.shown()) == 1, browser.shown()


def check_a_private_push_shows_none_of_its_texts(browser):
    for kind in ["private", "secret"]:
        pictures = {"att": {"url": SERVER + "/push/icon.png", "type": "image/png", "size": 1}, "icon": SERVER + "/push/icon.png"}
        shown = browser.deliver(browser.push_of(WHOLE | {"lockScreen": kind}) | pictures)
        assert [shown[name] for name in ["title", "body", "image", "icon", "actions"]] == ["New notification", "", "", "", []], shown
        assert browser.press() == [WHOLE["link"]]


def check_a_picture_of_another_host_is_not_asked_for(browser):
    failures = {}
    browser.page.context.on("requestfailed", lambda request: failures.update({request.url: request.failure}))
    urls = ["https://tracker.example/icon.png", "https://tracker.example/picture.png"]
    browser.deliver({"richMessage": "m", "icon": urls[0], "att": {"url": urls[1], "type": "image/png", "size": 1}})
    until(lambda: browser.page.evaluate("1") and len(failures) == 2)
    assert failures == dict.fromkeys(urls, "csp"), failures


def check_what_cannot_be_read_and_the_id_alone_are_shown_all_the_same(browser):
    number, _ = browser.send({"message": "Long"} | PICTURE)
    shown = browser.deliver({"richId": str(number)})
    assert shown["title"] == "New notification" and shown["tag"] == f"rich-{number}", shown
    until(lambda: browser.receipt(number) == "fetched")
    for broken in ["", "not JSON", "3", "null", '{"richId":"7","actions":null,"att":null}']:
        assert browser.deliver(broken)["title"] == "New notification"


def check_media_is_fetched_and_nothing_is_where_there_is_none(browser):
    fetches = []
    browser.page.context.on("request", lambda request: fetches.append(request.url) if "/api/notifications/" in request.url else None)
    text, push = browser.send({"message": "Text alone", "title": "Parcel"})
    browser.deliver(push)
    media, push = browser.send({"message": "A picture", "alt": "A logo"} | PICTURE)
    browser.deliver(push)
    until(lambda: browser.receipt(media) == "fetched")
    assert browser.receipt(text) != "fetched"
    assert not [url for url in fetches if f"/notifications/{text}?" in url], fetches
    assert [url for url in fetches if f"/notifications/{media}?" in url], "the requests of the worker are not seen"


def check_a_click_opens_the_link_a_button_its_own_and_else_the_page(browser):
    for button, opened, state in [
            ("", [WHOLE["link"]], "read"), ("track", [WHOLE["actions"][0]["link"]], "read"), ("later", [], "displayed"), ("cancel", [], "read")]:
        number, push = browser.send(WHOLE)
        browser.deliver(push)
        assert browser.press(button) == opened, (button, opened)
        assert browser.receipt(number) == state, (button, browser.receipt(number))
        assert browser.shown() == []
    for link in [None, "javascript:alert(1)", "shop:4711"]:
        browser.deliver({"richMessage": "m", "richId": "12", "link": link, "actions": [{"id": "reply", "label": "Reply", "input": "?"}]})
        assert browser.press() == ["the page"], link
    browser.deliver({"richMessage": "m", "richId": "12", "actions": [{"id": "reply", "label": "Reply", "input": "?"}]})
    assert browser.press("reply") == ["the page"]


def check_the_page_shows_texts_links_and_descriptions_and_fetches_no_media_of_a_text(browser):
    page = browser.page
    number, _ = browser.send(WHOLE)
    call(page, "shop", "POST", "/api/notifications", {"message": "m", "alt": "A logo", "to": [f"username:{browser.user}"]} | PICTURE)
    fetches = []
    page.on("request", lambda request: fetches.append(request.url))
    page.evaluate("async () => { show({}); await list(await load()); }")
    item = page.locator("#inbox li").filter(has_text="Order 4711").first
    expect(item.locator("p.said")).to_have_text(["Parcel", "Order 4711", "Your parcel is at the door."])
    expect(item.locator("a")).to_have_text(["https://shop.example/4711", "Track"])
    expect(page.locator("#inbox li img[alt='A logo']").first).to_be_visible()
    assert not [url for url in fetches if f"/notifications/{number}" in url], fetches
    item.get_by_role("button", name="Mark as read").click()
    expect(item.get_by_role("button")).to_have_text(["Cancel order"])


def check_a_button_and_replies_reach_the_publisher(browser):
    page = browser.page
    question = {"title": "Coming?", "actions": [{"id": "yes", "label": "Yes"}, {"id": "answer", "label": "Reply", "input": "Your answer"}]}
    number, push = browser.send(question)

    def answers():
        found = call(page, "shop", "GET", f"/api/notifications/{number}/interactions")["interactions"]
        return [(one["event"], one["action"], one["text"]) for one in found]

    browser.deliver(push)
    until(lambda: browser.receipt(number) == "displayed")
    assert browser.press("yes") == []
    assert answers() == [("action", "yes", None)], answers()
    # The button that asks brings the page to its field, whether it is open or not.
    page.evaluate("show({})")
    browser.deliver(push)
    assert browser.press("answer") == ["the page"]
    field = page.get_by_placeholder("Your answer")
    expect(field).to_be_focused()
    for text in ["On my way", "And soon", "And soon"]:
        field.fill(text)
        page.get_by_role("button", name="Reply").click()
        expect(field).to_have_value("")
    replies = [("reply", "answer", text) for text in ["On my way", "And soon", "And soon"]]
    assert answers() == [("action", "yes", None)] + replies, answers()
    # The answer to the first request is lost: what is sent once more is the same reply.
    lost = []
    page.route("**/interactions", lambda route: (lost.append(route.fetch().status), route.abort()) if not lost else route.continue_())
    field.fill("Once")
    page.get_by_role("button", name="Reply").click()
    expect(field).to_have_value("")
    assert lost == [201] and answers()[4:] == [("reply", "answer", "Once")], (lost, answers())
    page.unroute("**/interactions")
    browser.deliver(push)
    browser.dismiss()
    until(lambda: call(page, "shop", "GET", f"/api/notifications/{number}/receipts")["receipts"][0]["dismissed"])


def declared(push):
    """The same push as a service of Apple gets it."""
    lines = [push[name] for name in ["richTitle", "richSubtitle", "richMessage"] if push.get(name)]
    notification = {
        "title": lines[0], "body": "\n".join(lines[1:]), "navigate": push.get("link") or SERVER + "/push/#" + push["richId"],
        "tag": "rich-" + push["richId"], "mutable": True, "app_badge": 3}
    return {"web_push": 8030, "notification": notification, "mutable": True, "app_badge": 3} | push


def check_a_declared_push_is_shown_once_as_any_other(browser):
    number, push = browser.send(WHOLE)
    plain = browser.deliver(push)
    shown = browser.deliver(declared(push))
    same = ["title", "body", "tag", "actions", "silent", "icon", "image"]
    assert [shown[name] for name in same] == [plain[name] for name in same] and len(browser.shown()) == 1, browser.shown()
    assert browser.press() == [WHOLE["link"]]
    until(lambda: browser.receipt(number) == "read")
    # A browser that would show it by itself hands it to the worker, and shows its own only if the worker shows none.
    count = browser.worker.evaluate(
        """async push => {
             const [work, event] = [[], new PushEvent("push", { data: JSON.stringify(push) })];
             Object.defineProperty(event, "notification", { value: push.notification });
             event.waitUntil = promise => work.push(promise);
             const { showNotification } = registration;
             let count = 0;
             registration.showNotification = (...all) => { count += 1; return showNotification.apply(registration, all); };
             dispatchEvent(event);
             await Promise.all(work);
             delete registration.showNotification;
             return count;
           }""", declared(push))
    assert count == 1, count


def check_a_click_on_a_declared_push_without_a_link_opens_the_page(browser):
    _, push = browser.send({"message": "Look"})
    browser.deliver(declared(push))
    assert browser.press() == ["the page"]


def check_the_page_shows_and_reads_the_notification_of_its_address(browser):
    number, _ = browser.send({"message": "Named"})
    browser.page.goto(SERVER + f"/push/#{number}")
    browser.page.reload()
    until(lambda: browser.receipt(number) == "read")
    expect(browser.page.locator("#inbox li").filter(has_text="Named").first).to_be_in_viewport()


def check_a_publisher_changes_options_and_those_that_exclude_each_other_do_no_harm(browser):
    options = {"requireInteraction": True, "dir": "rtl", "body": "Other"}
    push = browser.push_of({"message": "Look", "title": "Parcel", "webpush": {"notification": options}})
    shown = browser.deliver(push)
    assert [shown["title"], shown["body"]] == ["Parcel", "Other"], shown
    kept = browser.worker.evaluate(
        "async () => (await registration.getNotifications()).map(({ requireInteraction, dir }) => [requireInteraction, dir])")
    assert kept == [[True, "rtl"]], kept
    push = browser.push_of({"message": "Look again", "webpush": {"notification": {"silent": True, "vibrate": [100, 50]}}})
    assert browser.deliver(push | {"richId": "99998"})["title"] == "Look again"


def main():
    failures = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"])
        expect.set_options(timeout=PATIENCE * 1000)
        only = os.environ.get("ONLY", "")
        checks = [(name, check) for name, check in globals().items() if name.startswith("check_" + only)]
        for number, (name, check) in enumerate(checks):
            start = time.monotonic()
            try:
                with contextlib.closing(chromium.new_context()) as context:
                    context.set_default_timeout(PATIENCE * 1000)
                    context.grant_permissions(["notifications"], origin=SERVER)
                    browser = Browser(context, f"reader-{number}")
                    check(browser)
                    assert not browser.errors, browser.errors
            except Exception:
                failures.append(f"{name.replace('_', ' ')}\n{traceback.format_exc(limit=-3)}")
            print(f"{time.monotonic() - start:5.1f} s  {name.replace('_', ' ')}", flush=True)
        chromium.close()
    sys.exit("\n".join(failures) if failures else 0)


if __name__ == "__main__":
    main()
