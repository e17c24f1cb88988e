"""What the worker shows of a push, also while no page of the app is open, and where a click leads."""

from playwright.sync_api import expect

from app_server import until

WHOLE = {
    "title": "Parcel", "subtitle": "Order 4711", "message": "Your parcel is at the door.", "link": "https://shop.example/4711",
    "actions": [
        {"id": "track", "label": "Track", "link": "https://shop.example/t/4711"}, {"id": "later", "label": "Later", "dismiss": True},
        {"id": "cancel", "label": "Cancel order"}],
    "data": {"order": "4711"}}
PICTURE = {"richType": "img", "payload": "logo.png"}


def receiver(bench):
    """A phone that may show notifications."""
    phone = bench.phone()
    phone.context.grant_permissions(["notifications"], origin=bench.server.url)
    phone.watch_pushes()
    return phone


def check_a_push_is_shown_while_no_page_is_open_and_a_click_opens_it(bench):
    server, phone = bench.server, receiver(bench)
    phone.page.close()
    number, push = phone.send(title="Closed", message="Come in", **PICTURE)
    phone.deliver(push)
    until(lambda: server.receipt(number, phone.user)["state"] in ("displayed", "fetched"))
    until(lambda: [one["title"] for one in phone.shown()] == ["Closed"])
    # Chromium opens no window for a click that a script makes, so where it would is what counts.
    opened = phone.press()
    assert opened == [f"{server.app}#{number}"] and phone.shown() == [], opened
    until(lambda: server.receipt(number, phone.user)["state"] == "read")
    # What the worker has fetched is there without the server's help.
    phone.page = phone.new_page()
    phone.page.route("**/api/notifications**", lambda route: route.abort())
    phone.page.goto(opened[0])
    expect(phone.item("Closed").locator("img")).to_be_visible()


def check_title_texts_buttons_and_data_are_shown(bench):
    phone = receiver(bench)
    shown = phone.shown_by(phone.push_of(**WHOLE))
    assert [shown["title"], shown["body"]] == ["Parcel", "Order 4711\nYour parcel is at the door."], shown
    assert shown["actions"] == [["track", "Track"], ["later", "Later"]], shown
    assert shown["data"]["data"] == {"order": "4711"} and not shown["silent"] and not shown["image"], shown
    assert shown["tag"] == f"rich-{shown['data']['richId']}" and shown["icon"] == phone.server.app + "icon-192.png", shown
    for notification, texts in [
            ({"message": "Look"}, ["Look", ""]), ({"message": "Look"} | PICTURE, ["Look", ""]), ({"title": "Parcel", "message": ""}, ["Parcel", ""]),
            ({"subtitle": "Order", "message": "Look"}, ["Order", "Look"])]:
        shown = phone.shown_by(phone.push_of(**notification))
        assert [shown["title"], shown["body"]] == texts, shown


def check_a_push_without_a_sound_is_silent_and_one_replaces_another(bench):
    phone = receiver(bench)
    push = phone.push_of(message="Quiet", sound="none", replaces="order-4711") | {"icon": phone.server.app + "icon-512.png"}
    shown = phone.shown_by(push)
    assert shown["silent"] and shown["icon"] == push["icon"] and shown["tag"] == push["tag"] != "order-4711", shown
    later = phone.shown_by(push | {"richMessage": "Later", "richId": 99999})
    assert later["title"] == "Later" and len(phone.shown()) == 1, phone.shown()


def check_a_device_without_sound_is_silent(bench):
    phone = receiver(bench)
    phone.go("#settings")
    phone.page.get_by_role("switch", name="Sound").uncheck()
    until(lambda: phone.device().get("sound") is False)
    assert phone.shown_by(phone.push_of(message="Quiet"))["silent"]
    vibrating = phone.push_of(message="Quiet, too", webpush={"notification": {"vibrate": [100, 50]}})
    assert phone.shown_by(vibrating | {"richId": 99996})["silent"]


def check_a_private_push_shows_none_of_its_texts(bench):
    phone = receiver(bench)
    for kind in ["private", "secret"]:
        pictures = {"att": {"url": phone.server.app + "icon-192.png", "type": "image/png", "size": 1}, "icon": phone.server.app + "icon-192.png"}
        shown = phone.shown_by(phone.push_of(**WHOLE, lockScreen=kind) | pictures)
        assert [shown[name] for name in ["title", "body", "image", "icon", "actions"]] == ["New notification", "", "", "", []], shown
        assert phone.press() == [WHOLE["link"]]


def check_a_picture_of_another_host_is_not_asked_for(bench):
    phone = receiver(bench)
    failures = {}
    phone.context.on("requestfailed", lambda request: failures.update({request.url: request.failure}))
    urls = ["https://tracker.example/icon.png", "https://tracker.example/picture.png"]
    phone.shown_by({"richMessage": "m", "icon": urls[0], "att": {"url": urls[1], "type": "image/png", "size": 1}})
    until(lambda: phone.page.evaluate("1") and len(failures) == 2)
    assert failures == dict.fromkeys(urls, "csp"), failures
    phone.errors = [error for error in phone.errors if "tracker.example" not in error]


def check_what_cannot_be_read_and_the_id_alone_are_shown_all_the_same(bench):
    phone = receiver(bench)
    number, _ = phone.send(message="Long", **PICTURE)
    shown = phone.shown_by({"richId": number})
    assert shown["title"] == "New notification" and shown["tag"] == f"rich-{number}", shown
    until(lambda: bench.server.receipt(number, phone.user)["state"] == "fetched")
    for broken in ["", "not JSON", "3", "null", '{"richId":7,"actions":null,"att":null}']:
        assert phone.shown_by(broken)["title"] == "New notification", broken


def check_media_is_fetched_and_nothing_is_where_there_is_none(bench):
    phone = receiver(bench)
    phone.page.close()
    text, push = phone.send(message="Text alone", title="Parcel")
    phone.deliver(push)
    until(lambda: bench.server.receipt(text, phone.user)["state"] == "displayed")
    media, push = phone.send(message="A picture", alt="A logo", **PICTURE)
    phone.deliver(push)
    until(lambda: bench.server.receipt(media, phone.user)["state"] == "fetched")
    assert bench.server.receipt(text, phone.user)["state"] == "displayed"


def check_a_click_opens_the_link_a_button_its_own_and_else_the_page(bench):
    server, phone = bench.server, receiver(bench)
    for button, opened, state in [
            ("", [WHOLE["link"]], "read"), ("track", [WHOLE["actions"][0]["link"]], "read"), ("later", [], "displayed"), ("cancel", [], "read")]:
        number, push = phone.send(**WHOLE)
        phone.shown_by(push)
        assert phone.press(button) == opened, (button, opened)
        found = server.receipt(number, phone.user)["state"]
        assert found == state and phone.shown() == [], (button, found)
    for link in [None, "javascript:alert(1)", "shop:4711"]:
        phone.shown_by({"richMessage": "m", "richId": 12, "link": link, "actions": [{"id": "reply", "label": "Reply", "input": "?"}]})
        assert phone.press() == ["the page"], link
    # The button that asks brings the page to its field.
    number, push = phone.send(message="Coming?", actions=[{"id": "yes", "label": "Yes"}, {"id": "answer", "label": "Reply", "input": "Your answer"}])
    phone.shown_by(push)
    assert phone.press("yes") == [] and server.interactions(number) == [("action", "yes", None)], server.interactions(number)
    phone.shown_by(push)
    assert phone.press("answer") == ["the page"]
    field = phone.item("Coming?").get_by_placeholder("Your answer")
    expect(field).to_be_focused()
    field.fill("On my way")
    phone.page.keyboard.press("Enter")
    until(lambda: server.interactions(number)[-1] == ("reply", "answer", "On my way"))
    phone.shown_by(push)
    phone.dismiss()
    until(lambda: server.receipt(number, phone.user)["dismissed"])


def declared(phone, push):
    """The same push as a service of Apple gets it."""
    lines = [push[name] for name in ["richTitle", "richSubtitle", "richMessage"] if push.get(name)]
    notification = {
        "title": lines[0], "body": "\n".join(lines[1:]), "navigate": push.get("link") or f"{phone.server.app}#{push['richId']}",
        "tag": f"rich-{push['richId']}", "mutable": True, "app_badge": 3}
    return {"web_push": 8030, "notification": notification, "mutable": True, "app_badge": 3} | push


def check_a_declared_push_is_shown_once_as_any_other(bench):
    phone = receiver(bench)
    number, push = phone.send(**WHOLE)
    plain = phone.shown_by(push)
    shown = phone.shown_by(declared(phone, push))
    same = ["title", "body", "tag", "actions", "silent", "icon", "image"]
    assert [shown[name] for name in same] == [plain[name] for name in same] and len(phone.shown()) == 1, phone.shown()
    assert phone.press() == [WHOLE["link"]]
    until(lambda: bench.server.receipt(number, phone.user)["state"] == "read")
    # A browser that would show it by itself hands it to the worker, and shows its own only if the worker shows none.
    count = phone.worker.evaluate(
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
           }""", declared(phone, push))
    assert count == 1, count


def check_a_click_on_a_declared_push_without_a_link_opens_the_page(bench):
    phone = receiver(bench)
    _, push = phone.send(message="Look")
    phone.shown_by(declared(phone, push))
    assert phone.press() == ["the page"]


def check_a_publisher_changes_options_and_those_that_exclude_each_other_do_no_harm(bench):
    phone = receiver(bench)
    options = {"requireInteraction": True, "dir": "rtl", "body": "Other"}
    shown = phone.shown_by(phone.push_of(message="Look", title="Parcel", webpush={"notification": options}))
    assert [shown["title"], shown["body"]] == ["Parcel", "Other"], shown
    kept = phone.worker.evaluate(
        "async () => (await registration.getNotifications()).map(({ requireInteraction, dir }) => [requireInteraction, dir])")
    assert kept == [[True, "rtl"]], kept
    push = phone.push_of(message="Look again", webpush={"notification": {"silent": True, "vibrate": [100, 50]}})
    assert phone.shown_by(push | {"richId": 99998})["title"] == "Look again"


def check_a_push_for_who_has_gone_shows_no_text(bench):
    """The push service may still have one when the device was signed out."""
    phone = receiver(bench)
    push = phone.push_of(**WHOLE)
    phone.page.evaluate("Device.forget()")
    for gone in [push, declared(phone, push) | {"richId": 99997}]:
        shown = phone.shown_by(gone)
        assert [shown["title"], shown["body"], shown["actions"]] == ["New notification", "", []], shown


def check_a_push_service_that_does_not_answer_is_told_of(bench):
    """Chromium reaches none here: the inbox works all the same."""
    phone = receiver(bench)
    phone.page.evaluate("void (PushManager.prototype.subscribe = async () => { throw new DOMException('no service', 'AbortError'); })")
    phone.button("Turn on").click()
    expect(phone.page.get_by_role("heading", name="The push service cannot be reached")).to_be_visible()
    bench.server.send(phone.user, message="All the same")
    expect(phone.item("All the same")).to_be_visible()
    expect(phone.button("Try again")).to_be_enabled()
