#!/usr/bin/env python3
"""Uses the console as people do: one Chromium, against a running demonstration.

usage: console.py SERVER PROGRAM ASSETS PICTURES

PROGRAM is richpush, ASSETS the drop folder of the server, PICTURES the folder with the samples. Every function whose
name begins with "check" is one check, in this order; all run, whatever fails. With the variable ONLY only
those checks run whose names have it in them.
"""

import contextlib
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import judge

SERVER, PROGRAM, ASSETS, PICTURES = sys.argv[1:5]
HOSTILE = '<img src=x onerror="window.hit=1">'
SECONDS = 1000
# A busy machine takes its time. Changes of the drop folder that were not heard of are found after 30 seconds only.
PATIENCE = 20 * SECONDS


def chunk(kind, data):
    body = kind + data
    return len(data).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")


def bomb():
    """A PNG of a few kilobytes that claims 60,000 x 60,000 pixels."""
    head = (60_000).to_bytes(4, "big") * 2 + bytes([8, 6, 0, 0, 0])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(99_999))) + chunk(b"IEND", b"")


class Console:
    """The browser, with a context for each scheme."""

    def __init__(self, chromium):
        self.chromium = chromium
        self.browser = None
        self.messages = []

    @contextlib.contextmanager
    def page(self, user=None, undo=0, **options):
        if not self.browser or not self.browser.is_connected():
            self.browser = self.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"])
        context = self.browser.new_context(**({"viewport": {"width": 1280, "height": 860}, "locale": "en-GB"} | options))
        context.set_default_timeout(PATIENCE)
        # What these checks send need not wait; no page of another origin has a storage in each case.
        context.add_init_script(f"try {{ localStorage.undo ??= '{undo}' }} catch {{}}")
        page = context.new_page()
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.on("dialog", lambda dialog: self.messages.append(dialog.message))
        page.on("console", lambda message: self.messages.append(message.text)
                if "Content Security" in message.text else None)
        try:
            if user:
                sign_in(page, user)
            yield page
            assert page.evaluate("window.hit") is None, "a stored script has run"
            assert not self.messages, self.messages
        finally:
            self.messages.clear()
            context.close()


def sign_in(page, user, password=None):
    page.goto(SERVER + "/console/")
    page.get_by_label("Name").fill(user)
    page.get_by_label("Password").fill(password or user)
    page.get_by_role("button", name="Sign in").click()
    if password is None:
        expect(page.get_by_role("navigation")).to_be_visible()


def show(page, screen):
    page.goto(f"{SERVER}/console/#{screen}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def drop(page, *files):
    """Drops files, as (name, bytes, type), on the page."""
    page.evaluate(
        """files => {
             const transfer = new DataTransfer();
             for (const [name, bytes, type] of files)
               transfer.items.add(new File([new Uint8Array(bytes)], name, { type }));
             for (const kind of ["dragover", "drop"])
               document.querySelector("main").dispatchEvent(
                 new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
           }""",
        [[name, list(data), kind] for name, data, kind in files])


def card(page, name):
    return page.locator("asset-card").filter(has=page.get_by_text(name, exact=True))


def shown(page, name):
    """Waits until the asset's picture has pixels."""
    expect(card(page, name).locator("img")).to_be_visible()
    # Another state brings another element.
    page.wait_for_function(
        """name => [...document.querySelectorAll("asset-card")].some(card =>
             card.querySelector(".name").textContent === name && card.querySelector("img")?.naturalWidth > 0)""",
        arg=name)


def sample(name):
    return pathlib.Path(PICTURES, name).read_bytes()


def check_a_wrong_password_is_refused_with_a_sentence(console):
    with console.page() as page:
        sign_in(page, "alice", "wrong")
        expect(page.get_by_role("alert")).not_to_be_empty()
        assert page.evaluate("document.cookie") == ""


def check_files_are_uploaded_judged_and_seen_without_a_reload(console):
    with console.page("shop") as page:
        shown(page, "beach.jpg")
        drop(page, ("good.png", sample("img/logo.png"), "image/png"), ("bomb.png", bomb(), "image/png"),
             ("notes.pdf", b"%PDF-1.4\n1 0 obj\n" + bytes(2000), "application/pdf"),
             (HOSTILE + ".png", sample("img/logo.png"), "image/png"))
        uploads = page.locator("upload-list li")
        expect(uploads.filter(has_text="good.png")).to_contain_text("Accepted")
        expect(uploads.filter(has_text="notes.pdf")).to_contain_text("PDF")
        expect(uploads.filter(has_text="bomb.png")).to_have_class("bad")
        shown(page, "good.png")
        pathlib.Path(ASSETS, "img/dropped.jpg").write_bytes(sample("img/beach.jpg"))
        shown(page, "dropped.jpg")
        pathlib.Path(ASSETS, "img/refused.png").write_bytes(b"%PDF-1.4\n1 0 obj\n" + bytes(2000))
        expect(card(page, "refused.png")).to_contain_text("Refused")
        expect(card(page, "refused.png").locator(".reason")).to_contain_text("PDF")


def check_a_late_response_to_an_upload_hides_no_newer_state(console):
    with console.page("shop") as page:
        shown(page, "beach.jpg")

        def answer_late(route):
            response = route.fetch()
            shown(page, "late.png")
            route.fulfill(response=response, json=response.json() | {"state": "preparing"})

        page.route(re.compile(r"/api/assets\?name=late\.png$"), answer_late)
        drop(page, ("late.png", sample("img/logo.png"), "image/png"))
        expect(page.locator("upload-list li").filter(has_text="late.png")).to_contain_text("Accepted")
        expect(card(page, "late.png")).not_to_contain_text("Preparing", timeout=1)


def choose(page, *paths):
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload files").click()
    chooser.value.set_files([str(path) for path in paths])


def digest(page, asset):
    return page.request.get(f"{SERVER}/api/assets/{asset}", headers=basic("shop")).json().get("sha256")


def check_a_file_whose_name_is_there_is_replaced_kept_beside_it_or_not_uploaded(console):
    """One question for one file, and one for several, whatever is chosen."""
    with console.page("shop") as page, tempfile.TemporaryDirectory() as folder:
        names = ["twice.jpg", "thrice.jpg", "once.jpg"]
        files = [pathlib.Path(folder, name) for name in names]
        for file in files:
            pathlib.Path(ASSETS, "img", file.name).write_bytes(sample("img/logo.png"))
            shown(page, file.name)
            file.write_bytes(sample("img/beach.jpg"))
        old = digest(page, "img/twice.jpg")
        question = page.get_by_role("dialog")
        uploads = page.locator("upload-list li")

        choose(page, files[0])
        expect(question).to_contain_text("“twice.jpg” is there already")
        expect(question.get_by_role("checkbox")).to_have_count(0)
        question.get_by_role("button", name="Cancel").click()
        expect(uploads.filter(has_text="twice.jpg")).to_contain_text("Cancelled")
        assert digest(page, "img/twice.jpg") == old
        page.get_by_role("button", name="Clear").click()

        choose(page, *files)
        question.get_by_role("checkbox").check()
        question.get_by_role("button", name="Keep both").click()
        for name in ["twice (2).jpg", "thrice (2).jpg", "once (2).jpg"]:
            shown(page, name)
        expect(question).to_have_count(0)
        assert digest(page, "img/twice.jpg") == old
        new = digest(page, "img/twice (2).jpg")

        choose(page, *files)
        question.get_by_role("button", name="Replace").click()
        expect(question).to_have_count(1)
        question.get_by_role("checkbox").check()
        question.get_by_role("button", name="Replace").click()
        expect(question).to_have_count(0)
        expect(page.locator("upload-list summary")).to_have_text("6 files accepted")
        assert [digest(page, f"img/{name}") for name in names] == [new] * 3


def check_a_file_is_uploaded_once_after_the_server_was_away(console):
    with console.page("shop") as page:
        show(page, "sent")
        page.route("**/api/assets?**", lambda route: route.abort())
        page.evaluate("location.hash = '#catalogue'")
        expect(page.locator("main").get_by_role("alert")).to_have_text("The server does not respond.")
        page.unroute("**/api/assets?**")
        expect(page.locator("asset-card").first).to_be_visible()
        sent = []
        page.on("request", lambda request: sent.append(request.url) if request.method in ("POST", "PUT") else None)
        drop(page, ("once.png", sample("img/logo.png"), "image/png"))
        expect(card(page, "once.png")).to_be_visible()
        expect(page.get_by_role("dialog")).to_have_count(0)
        assert len(sent) == 1, sent
        removed = page.request.delete(f"{SERVER}/api/assets/img/once.png", headers=basic("shop"))
        assert removed.ok, removed.text()
        # A text goes where it is dropped.
        show(page, "compose")
        assert page.get_by_role("textbox", name="Message").evaluate(
            """field => {
                 const dataTransfer = new DataTransfer();
                 dataTransfer.setData("text/plain", "Words");
                 return field.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
               }""")


def check_what_was_not_accepted_stands_first_and_one_upload_is_cancelled(console):
    with console.page("shop") as page:
        held = threading.Event()
        page.route(re.compile(r"\?name=slow\.png$"), lambda route: held.set())
        several = [(f"many-{number}.png", sample("img/logo.png"), "image/png") for number in range(8)]
        drop(page, ("slow.png", sample("img/logo.png"), "image/png"), *several,
             ("bad.png", b"%PDF-1.4\n" + bytes(2000), "image/png"))
        uploads = page.locator("upload-list")
        expect(uploads.locator("summary")).to_have_text("8 files accepted")
        expect(uploads.get_by_text("many-0.png")).not_to_be_visible()
        expect(uploads.locator("li").first).to_contain_text("bad.png")
        page.get_by_role("button", name="Cancel: slow.png").click()
        expect(uploads.locator("li").filter(has_text="slow.png")).to_contain_text("Cancelled")
        expect(card(page, "slow.png")).to_have_count(0)
        uploads.locator("summary").click()
        expect(uploads.get_by_text("many-0.png")).to_be_visible()


def check_a_film_is_uploaded_previewed_and_found_as_a_film(console):
    with console.page("shop") as page, tempfile.TemporaryDirectory() as folder:
        film = pathlib.Path(folder, "clip.mp4")
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=10:d=2", "-f", "lavfi", "-i", "sine=d=2",
             "-pix_fmt", "yuv420p", "-c:v", "libx264", "-c:a", "aac", str(film)], check=True)
        choose(page, film)
        shown(page, "clip.mp4")
        expect(page.get_by_role("combobox", name="Type")).to_contain_text("Videos")
        expect(card(page, "clip.mp4")).to_contain_text("Ready")
        card(page, "clip.mp4").get_by_role("button").click()
        dialog = page.get_by_role("dialog")
        profiles = dialog.locator(".profiles li")
        for name in ["iPhone", "Browser"]:
            expect(profiles.filter(has_text=name)).to_contain_text("MP4 · 320 × 180")
            expect(profiles.filter(has_text=name)).to_contain_text("of 50 MB")
        expect(profiles.filter(has_text="Watch")).to_contain_text("JPEG")
        dialog.locator("video").first.evaluate("film => { film.muted = true; return film.play(); }")
        dialog.get_by_role("link", name="Send it").click()
        expect(page.locator(".devices figure[data-device=iosExpanded] video")).to_have_attribute("data-profile", "ios")
        expect(page.locator(".devices figure[data-device=iosExpanded]")).to_contain_text("of 50 MB")
        expect(page.locator(".devices figure[data-device=watch] img[data-profile=watch]")).to_be_visible()


def local(hours):
    """A time so many hours from now, as a field of the page takes it."""
    return time.strftime("%Y-%m-%dT%H:%M", time.gmtime(time.time() + hours * 3600))


def check_all_that_is_missing_or_wrong_is_said_at_once(console):
    with console.page("shop", timezone_id="UTC") as page:
        show(page, "compose")
        page.get_by_role("button", name="Send", exact=True).click()
        faults = page.locator(".fault:visible")
        expect(faults).to_have_count(2)
        expect(page.get_by_role("alert")).to_contain_text("2 things")
        expect(page.get_by_role("textbox", name="Message")).to_be_focused()
        show(page, "compose/img/beach.jpg")
        page.get_by_label("Send at").fill(local(-2))
        expect(faults.first).to_contain_text("This time has passed")
        page.get_by_label("Expires at").fill(local(-3))
        page.get_by_role("combobox", name="Kind of recipients").select_option("Tags")
        page.get_by_role("combobox", name="Recipients", exact=True).fill("news &&")
        expect(page.get_by_text("For this one “Silent”")).to_be_visible()
        page.get_by_role("combobox", name="Form").select_option("Alert")
        page.get_by_role("button", name="Schedule", exact=True).click()
        expect(faults).to_have_count(4)
        expect(page.locator("#fault-to")).to_contain_text("The recipients are not valid")
        page.get_by_label("Send at").fill(local(1))
        page.get_by_label("Expires at").fill(local(0.5))
        expect(page.locator("#fault-expires")).to_contain_text("before it is sent")
        # Outside the demonstration every name must be a user's: all that are not are named.
        page.route("**/api/session", lambda route: route.fulfill(json=route.fetch().json() | {"demo": False}))
        page.reload()
        page.get_by_role("combobox", name="Kind of recipients").select_option("People")
        page.get_by_role("combobox", name="Recipients", exact=True).fill("nobody-1, shop, nobody-2")
        expect(page.locator("#fault-to")).to_contain_text("nobody called “nobody-1” and “nobody-2”")


def check_what_is_sent_to_whom_and_when_is_asked_before(console):
    with console.page("shop", timezone_id="Europe/Berlin") as page:
        compose(page, "beach.jpg", "Look at this", "alice")
        expect(page.get_by_text("Europe/Berlin, UTC+1").or_(page.get_by_text("Europe/Berlin, UTC+2"))).to_be_visible()
        page.get_by_label("Send at").fill("2099-01-05T10:30")
        page.get_by_role("button", name="Schedule", exact=True).click()
        dialog = page.get_by_role("dialog")
        for text in ["1 person", "Look at this", "beach.jpg", "alice", "5 January 2099", "10:30", "Europe/Berlin, UTC+1"]:
            expect(dialog).to_contain_text(text)
        expect(dialog.locator("img")).to_be_visible()
        dialog.get_by_role("button", name="Cancel").click()
        page.get_by_role("button", name="Start over").click()
        expect(page.get_by_role("textbox", name="Message")).to_have_value("")


def check_a_time_by_each_recipients_own_clock_is_chosen_changed_and_withdrawn_between_two(console):
    with console.page("shop", timezone_id="Europe/Berlin") as page:
        phone = page.request.put(f"{SERVER}/api/register/early-phone", headers=basic("early"), data=json.dumps(
            {"Platform": "apns", "Handle": "EA01", "TimeZone": "Etc/GMT-14"}))
        assert phone.ok, phone.text()
        compose(page, "beach.jpg", "Good morning", "early, late")
        choice = page.get_by_label("In each recipient’s local time")
        expect(choice).to_be_disabled()
        # It has begun where the first clock is, and not in Berlin.
        at = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(time.time() + 10 * 3600))
        page.get_by_label("Send at").fill(at)
        choice.check()
        page.reload()
        expect(choice).to_be_checked()
        page.get_by_role("button", name="Schedule", exact=True).click()
        dialog = page.get_by_role("dialog")
        for text in ["2 people", "in each recipient’s local time", "The first get it", "The last get it", "has passed there1"]:
            expect(dialog).to_contain_text(text)
        dialog.get_by_role("button", name="Schedule").click()
        expect(page).to_have_url(re.compile(r"#sent/\d+$"))
        expect(page.locator("main .facts-list").first).to_contain_text("in each recipient’s local time")
        number = int(re.search(r"sent/(\d+)", page.url)[1])
        path = f"{SERVER}/api/notifications/{number}"
        details = page.request.get(f"{path}/details", headers=basic("shop")).json()
        assert details["localTime"] == {"at": at, "zone": "Europe/Berlin"}, details
        assert [page.request.get(path, headers=basic(name)).status for name in ["early", "late"]] == [200, 404]
        expect(page.locator(".funnel [data-part=fetched] strong")).to_have_text("1")
        page.get_by_role("button", name="Withdraw").click()
        page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
        expect(page.locator(".toast")).to_have_text("The notification was withdrawn. 1 had it already.")
        # What is sent again has it as it was, and what waits can have another.
        late = send(page, "shop", "Later", localTime={"at": "2098-12-31T09:00", "zone": "Europe/Berlin"})
        show(page, f"sent/{late}")
        page.get_by_role("button", name="Change").click()
        expect(dialog.get_by_label("Send at")).to_have_value("2098-12-31T09:00")
        dialog.get_by_label("Send at").fill("2098-12-31T10:30")
        dialog.get_by_role("button", name="Save").click()
        expect(page.locator("main .facts-list").first).to_contain_text("10:30")
        page.get_by_role("button", name="Take back").click()
        expect(page.get_by_label("Send at")).to_have_value("2098-12-31T10:30")
        expect(choice).to_be_checked()


def check_a_rate_is_chosen_kept_and_sent_and_quiet_hours_are_said(console):
    with console.page("shop", timezone_id="Europe/Berlin") as page:
        compose(page, "beach.jpg", "One after the other", "shop")
        rate = page.get_by_label("Most devices a minute")
        wrong = page.get_by_text("Enter a whole number from 1 to 1,000,000.")
        rate.fill("0")
        expect(wrong).to_be_visible()
        rate.fill("100")
        expect(wrong).to_be_hidden()
        quiet = page.get_by_text("Pushes wait until 03:34")
        page.get_by_label("Send at").fill("2099-01-05T03:32")
        expect(quiet).to_be_hidden()
        page.get_by_label("Send at").fill("2099-01-05T03:33")
        expect(quiet).to_be_visible()
        page.reload()
        expect(rate).to_have_value("100")
        page.get_by_role("button", name="Schedule", exact=True).click()
        dialog = page.get_by_role("dialog")
        for text in ["Most devices a minute100", "The first get it", "The last get it", "Pushes wait until 03:34"]:
            expect(dialog).to_contain_text(text)
        dialog.get_by_role("button", name="Schedule").click()
        expect(page).to_have_url(re.compile(r"#sent/\d+$"))
        expect(page.locator("main .facts-list").first).to_contain_text("Most devices a minute100")
        number = re.search(r"sent/(\d+)", page.url)[1]
        path = f"{SERVER}/api/notifications/{number}"
        details = page.request.get(f"{path}/details", headers=basic("shop")).json()
        assert details["perMinute"] == 100, details
        assert page.request.delete(path, headers=basic("shop")).ok


def check_the_whole_time_is_to_be_seen(console):
    for width in [1440, 390]:
        with console.page("shop", viewport={"width": width, "height": 900}) as page:
            show(page, "compose")
            for name in ["Send at", "Expires at"]:
                page.get_by_label(name).fill("2099-12-30T22:30")
                missing = page.get_by_label(name).evaluate(WIDTH_MISSING)
                assert missing <= 0, f"{name} at {width}: {missing} pixels are missing"


WIDTH_MISSING = """field => {
  const whole = field.cloneNode();
  whole.value = field.value;
  whole.style.cssText = "width: max-content; max-width: none; position: absolute";
  field.after(whole);
  const missing = whole.offsetWidth - field.offsetWidth;
  whole.remove();
  return missing;
}"""


def check_who_has_no_device_is_told_where_a_test_went(console):
    with console.page("nora") as page:
        compose(page, "beach.jpg", "A test", "alice")
        page.get_by_role("button", name="Send to myself only").click()
        expect(page.locator(".toast")).to_contain_text("You have no registered device")


def check_what_was_typed_is_there_after_leaving_reloading_and_the_end_of_the_session(console):
    with console.page("shop") as page:
        message, recipients = page.get_by_role("textbox", name="Message"), page.get_by_role("combobox", name="Recipients", exact=True)

        def go(screen):
            page.get_by_role("navigation").get_by_role("link", name=screen).click()

        def is_kept():
            expect(message).to_have_value("Half a thought")
            expect(recipients).to_have_value("alice, bob")
            expect(page.get_by_label("Expires at")).to_have_value("2099-01-05T10:30")
            expect(page.locator(".chosen")).to_contain_text("beach.jpg")

        compose(page, "beach.jpg", "Half a thought", "alice, bob")
        page.get_by_label("Expires at").fill("2099-01-05T10:30")
        go("Sent")
        go("Compose")
        is_kept()
        page.reload()
        is_kept()
        page.context.clear_cookies()
        # A request that is still under way may find it out first.
        page.evaluate("location.hash = '#sent'")
        expect(page.get_by_role("alert")).to_contain_text("Your session has ended")
        page.get_by_label("Name").fill("shop")
        page.get_by_label("Password").fill("shop")
        page.get_by_role("button", name="Sign in").click()
        go("Compose")
        is_kept()
        page.get_by_role("button", name="Send", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Send").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Half a thought")
        go("Compose")
        expect(message).to_have_value("")
        message.fill("Another thought")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        assert page.evaluate("[...Object.keys(sessionStorage), ...Object.keys(localStorage)]") == ["undo"]


EVERYTHING = {
    "title": "Parcel", "subtitle": "Order 4711", "message": "Your parcel is at the door.", "link": "https://shop.example/4711",
    "actions": [
        {"id": "track-it", "label": "Track it", "link": "https://shop.example/t/4711"},
        {"id": "reply", "label": "Reply", "input": "Your answer"},
        {"id": "spater", "label": "Später", "dismiss": True},
        {"id": "cancel-order", "label": "Cancel order", "destructive": True}],
    "sound": "chime.caf", "importance": "high", "alt": "A parcel on a doormat", "lockScreen": "public", "thread": "orders",
    "icon": "https://shop.example/icon.png", "colour": "#00aa77", "channel": "orders", "category": "ORDER", "relevance": 0.8,
    "label": "orders", "data": {"order": "4711", "lines": {"count": 2}}}


def button(page, number):
    return page.get_by_role("group", name=f"Button {number}")


def add_button(page, number, label, kind, value=None, destructive=False):
    page.get_by_role("button", name="Add a button").click()
    row = button(page, number)
    expect(row.get_by_label("Label")).to_be_focused()
    row.get_by_label("Label").fill(label)
    row.get_by_label("When it is pressed").select_option(kind)
    if value:
        row.get_by_role("textbox", name="Link" if kind == "Opens a link" else "Question").fill(value)
    row.get_by_role("checkbox").set_checked(destructive)


def open_more(page):
    page.locator("summary").filter(has_text="More").click()


def said(notification):
    return {name: notification.get(name) for name in EVERYTHING}


def check_a_text_with_title_buttons_and_all_else_is_written_previewed_kept_and_sent(console):
    with console.page("otto") as page:
        show(page, "compose")
        for name in ["Title", "Subtitle", "Message"]:
            page.get_by_role("textbox", name=re.compile(f"^{name}")).fill(EVERYTHING[name.lower()])
        page.locator("form > .field").filter(has_text="Opens when").get_by_label("Link").fill(EVERYTHING["link"])
        for number in [1, 2]:
            add_button(page, number, "To be removed", "Tells you")
        page.get_by_role("button", name="Remove: Button 1").click()
        page.get_by_role("button", name="Remove: Button 1").click()
        expect(page.get_by_role("button", name="Add a button")).to_be_focused()
        add_button(page, 1, "Track it", "Opens a link", "https://shop.example/t/4711")
        add_button(page, 2, "Reply", "Asks for a text", "Your answer")
        add_button(page, 3, "Später", "Closes the notification")
        add_button(page, 4, "Cancel order", "Tells you", destructive=True)
        expect(page.get_by_role("button", name="Add a button")).to_be_disabled()
        page.get_by_role("combobox", name="Sound").select_option("One of your app")
        page.get_by_label("Name of the sound").fill("chime.caf")
        page.get_by_label("Importance").select_option("High: interrupts")
        open_more(page)
        for name, value in [
                ("Description of the media", EVERYTHING["alt"]), ("Conversation", "orders"), ("Icon", EVERYTHING["icon"]), ("Colour", "#00aa77"),
                ("Android channel", "orders"), ("Category", "ORDER"), ("Rank", "0.8"), ("Statistics label", "orders"), ("Data", json.dumps(EVERYTHING["data"]))]:
            page.get_by_label(name, exact=True).fill(value)
        page.get_by_label("Locked screen").select_option("Shows all")
        expect(page.get_by_text("For this one “Alert”")).to_be_visible()

        figure = lambda name: page.locator(f".devices figure[data-device={name}]")
        for name, buttons in [
                ("iosCollapsed", []), ("iosExpanded", ["Track it", "Reply", "Später", "Cancel order"]), ("androidCollapsed", []),
                ("androidBig", ["Track it", "Reply", "Später"]), ("browser", ["Track it", "Reply"])]:
            expect(figure(name).locator("p b")).to_have_text("Parcel")
            expect(figure(name).locator("p")).to_contain_text("Order 4711Your parcel is at the door.")
            expect(figure(name).locator(".presses span")).to_have_text(buttons)
        expect(page.locator(".devices .shot")).to_have_count(0)
        page.reload()
        expect(page.get_by_role("textbox", name="Title", exact=True)).to_have_value("Parcel")
        expect(button(page, 2).get_by_label("Question")).to_have_value("Your answer")
        expect(page.get_by_label("Data", exact=True)).to_be_visible()
        page.get_by_role("combobox", name="Recipients", exact=True).fill("alice")
        expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()
        page.get_by_role("button", name="Send", exact=True).click()
        dialog = page.get_by_role("dialog")
        for text in ["Parcel", "Order 4711", "Track it (opens https://shop.example/t/4711)", "Reply (asks “Your answer”)", "chime.caf"]:
            expect(dialog).to_contain_text(text)
        expect(dialog.locator(".picture")).to_have_count(0)
        dialog.get_by_role("button", name="Send").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Parcel")
        expect(page.locator(".facts-list").first).to_contain_text("Your parcel is at the door.")
        expect(page.get_by_role("heading", name="What devices get")).to_have_count(0)
        number = page.url.split("/")[-1]
        details = page.request.get(f"{SERVER}/api/notifications/{number}/details", headers=basic("otto")).json()
        assert said(details) == EVERYTHING and details["form"] == "alert" and "richType" not in details, details
        show(page, "sent")
        row = entry(page, "Parcel").first
        expect(row).to_contain_text("Your parcel is at the door.")
        expect(row.locator(".picture")).to_have_count(0)
        row.get_by_role("link", name="Send again…: Parcel: Your parcel is at the door.").click()
        expect(page.get_by_role("combobox", name="Form")).to_have_value("alert")
        expect(button(page, 4).get_by_role("checkbox")).to_be_checked()
        page.get_by_role("button", name="Send", exact=True).click()
        dialog.get_by_role("button", name="Send").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Parcel")
        again = page.url.split("/")[-1]
        assert again != number
        assert said(page.request.get(f"{SERVER}/api/notifications/{again}/details", headers=basic("otto")).json()) == EVERYTHING


def check_every_fault_that_the_server_finds_is_said_beside_its_field(console):
    with console.page("otto") as page:
        show(page, "compose")
        page.get_by_role("textbox", name="Title", exact=True).fill("t" * 1025)
        add_button(page, 1, "Track", "Opens a link", "http://shop.example")
        add_button(page, 2, "l" * 65, "Asks for a text", "q" * 65)
        open_more(page)
        page.get_by_label("Colour").fill("red")
        page.get_by_label("Rank").fill("3")
        page.get_by_label("Icon", exact=True).fill("icon.png")
        faults = page.locator(".fault:visible")
        expect(faults).to_have_count(7)
        for fault in faults.all():
            expect(fault).not_to_contain_text("actions[")
        fault = lambda field: page.locator(f"#{field.get_attribute('aria-describedby')}")
        expect(fault(page.get_by_role("textbox", name="Title", exact=True))).to_have_text("Title must have at most 1024 bytes.")
        expect(fault(button(page, 1).get_by_role("textbox", name="Link"))).to_have_text("Link must be a URL that begins with https:.")
        expect(fault(button(page, 2).get_by_label("Label"))).to_have_text("Label must have at most 64 bytes.")
        expect(fault(button(page, 2).get_by_label("Question"))).to_contain_text("at most 64 bytes")
        # What is folded away is opened where it is wrong.
        page.get_by_role("textbox", name="Title", exact=True).fill("")
        page.get_by_role("button", name="Remove: Button 2").click()
        page.get_by_role("button", name="Remove: Button 1").click()
        page.get_by_role("textbox", name="Message").fill("Only text")
        page.get_by_role("combobox", name="Recipients", exact=True).fill("alice")
        expect(faults).to_have_count(3)
        open_more(page)
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_label("Icon", exact=True)).to_be_focused()
        page.get_by_label("Data").fill("not JSON")
        page.get_by_role("combobox", name="Sound").select_option("One of your app")
        add_button(page, 1, "", "Asks for a text")
        page.get_by_role("button", name="Send", exact=True).click()
        for words in ["Write what is on the button.", "Enter a question.", "Enter the name of a sound", "Enter a JSON object"]:
            expect(faults.filter(has_text=words)).to_have_count(1)
        # What is entered in no field of its own is said at that of which it is a part, or at the content.
        errors = [
            ("actions/0/id", "actions[0].id is odd."), ("actions/0/id", "It is long."), ("actions/0/label", "actions[0].label is short."),
            ("sound/critical", "sound.critical is loud."), ("richType", "richType is new.")]
        page.route("**/api/notifications?dry-run", lambda route: route.fulfill(status=422, json={
            "detail": "All is wrong.", "errors": [{"pointer": f"#/{pointer}", "detail": words} for pointer, words in errors]}))
        page.get_by_role("button", name="Start over").click()
        page.get_by_role("textbox", name="Message").fill("m")
        add_button(page, 1, "Yes", "Tells you")
        expect(fault(button(page, 1).get_by_label("When it is pressed"))).to_have_text("actions[0].id is odd. It is long.")
        expect(fault(button(page, 1).get_by_label("Label"))).to_have_text("Label is short.")
        expect(fault(page.get_by_role("combobox", name="Sound"))).to_have_text("sound.critical is loud.")
        expect(page.locator("#fault-content")).to_have_text("richType is new.")


def check_previews_say_where_screens_cut_and_what_a_platform_leaves_out(console):
    with console.page("otto") as page:
        def answer(route):
            result = route.fetch().json()
            for text in result["texts"]:
                text |= {"apns": {"dropped": ["colour", "icon"], "carried": ["link"], "shown": ["message"]},
                         "webpush": {"dropped": [], "carried": [], "shown": ["message"]}}.get(text["platform"], {})
            route.fulfill(json=result)

        page.route("**/api/notifications?dry-run", answer)
        show(page, "compose")
        message = page.get_by_role("textbox", name="Message")
        figure = lambda name: page.locator(f".devices figure[data-device={name}]")
        collapsed, centre, locked = "about 49 of", "notification centre shows about 100 of", "locked screen shows about 160 of"
        for length, warnings in [(49, []), (50, [collapsed]), (100, [collapsed]), (101, [collapsed, centre]), (161, [collapsed, centre, locked])]:
            message.fill("🦊" * length)
            expect(figure("androidCollapsed").locator("p")).to_have_text("🦊" * length)
            for words, device in [(collapsed, "androidCollapsed"), (centre, "iosCollapsed"), (locked, "iosCollapsed")]:
                expect(figure(device).get_by_text(f"{words} {length} characters")).to_have_count(1 if words in warnings else 0)
        expect(figure("iosExpanded")).to_contain_text("Not shown on this platform: colour and icon.")
        expect(figure("iosExpanded")).to_contain_text("Only passed to your app: link.")
        for name in ["browser", "androidBig"]:
            expect(figure(name)).not_to_contain_text("Not shown")
        title = page.get_by_role("textbox", name="Title", exact=True)
        for length in [40, 41]:
            title.fill("t" * length)
            expect(figure("iosCollapsed").locator("b")).to_have_text(["9:41", "t" * length])
            expect(figure("iosCollapsed").get_by_text("about 40 of 41 characters of the title")).to_have_count(length - 40)
        open_more(page)
        page.get_by_label("Locked screen").select_option("Shows that there is one")
        for name in ["iosCollapsed", "androidBig", "browser", "watch"]:
            expect(figure(name).locator("p").first).to_have_text("New notification")


def check_the_details_of_a_notification_say_what_a_platform_leaves_out(console):
    with console.page("otto") as page:
        number = send(page, "otto", "Look", colour="#00aa77")
        platforms = [{"platform": "apns", "shown": ["message"], "carried": [], "dropped": ["colour"]},
                     {"platform": "fcm", "shown": [], "carried": ["message", "colour"], "dropped": []}]
        page.route(f"**/api/notifications/{number}/details", lambda route: route.fulfill(json=route.fetch().json() | {"platforms": platforms}))
        show(page, f"sent/{number}")
        facts = page.locator(".facts-list").first
        expect(facts).to_contain_text("iOSNot shown on this platform: colour.")
        expect(facts).to_contain_text("AndroidOnly passed to your app: message and colour.")


def check_texts_in_other_languages_are_written_in_tabs_previewed_kept_and_sent(console):
    with console.page("otto") as page:
        show(page, "compose")
        page.get_by_role("textbox", name="Title", exact=True).fill("Parcel")
        page.get_by_role("textbox", name=re.compile("^Message")).fill("It is at the door.")
        add_button(page, 1, "Track it", "Opens a link", "https://shop.example/t/4711")
        page.get_by_text("Other languages").click()
        page.get_by_label("Language of the texts above").fill("en")
        page.get_by_label("Another language").fill("de")
        page.get_by_role("button", name="Add", exact=True).click()
        german = page.get_by_role("tab", name="German (de)")
        expect(german).to_have_attribute("aria-selected", "true")
        panel = page.get_by_role("tabpanel")
        panel.get_by_label("Message").fill("Es ist an der Tür.")
        panel.get_by_label("Button “Track it”").fill("Verfolgen")
        # The title is the notification's own.
        words = page.locator(".devices figure[data-device=browser] p")
        expect(words).to_contain_text("ParcelEs ist an der Tür.")
        german.press("ArrowLeft")
        expect(page.get_by_role("tab", name="As written above")).to_be_focused()
        expect(words).to_contain_text("ParcelIt is at the door.")
        page.reload()
        german.click()
        expect(panel.get_by_label("Message")).to_have_value("Es ist an der Tür.")
        page.get_by_role("combobox", name="Recipients", exact=True).fill("alice")
        page.get_by_role("button", name="Send", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Send").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Parcel")
        number = page.url.split("/")[-1]
        details = page.request.get(f"{SERVER}/api/notifications/{number}/details", headers=basic("otto")).json()
        assert details["language"] == "en", details
        actions = {details["actions"][0]["id"]: "Verfolgen"}
        assert details["languages"] == {"de": {"message": "Es ist an der Tür.", "actions": actions}}, details
        read = page.request.get(f"{SERVER}/api/notifications/{number}/details", headers=basic("alice") | {"Accept-Language": "de-CH"}).json()
        assert read["message"] == "Es ist an der Tür." and read["actions"][0]["label"] == "Verfolgen", read


def check_one_takes_the_place_of_an_earlier_one_which_links_to_it(console):
    with console.page("otto") as page:
        earlier = send(page, "otto", "At noon", replaces="parcel")
        show(page, "compose")
        page.get_by_role("textbox", name="Message").fill("At one. " * 25)
        open_more(page)
        page.get_by_label("What it replaces", exact=True).fill("parcel")
        page.get_by_role("combobox", name="Recipients", exact=True).fill("alice")
        # It cannot wait for its time.
        page.get_by_label("Send at").fill("2099-01-01T12:00")
        page.get_by_role("button", name="Schedule", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Schedule").click()
        expect(page.locator(".fault:visible")).to_contain_text("without notBefore")
        page.get_by_label("Send at").fill("")
        page.get_by_role("button", name="Send", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Send").click()
        expect(page.locator(".facts-list").first).to_contain_text("What it replacesparcel")
        # Nothing of a text can be fetched, and its length is judged here, too.
        expect(page.locator("counts-bar")).to_contain_text("0 of 1 displayed")
        expect(page.locator(".funnel [data-part=fetched]")).to_have_count(0)
        expect(page.locator(".panel .advice")).to_have_count(3)
        later = page.url.split("/")[-1]
        show(page, f"sent/{earlier}")
        expect(page.locator("counts-bar")).to_contain_text("0 of 1 fetched")
        expect(page.get_by_role("button", name="Change")).to_be_hidden()
        link = page.get_by_role("link", name=f"Notification {later} has taken its place.")
        link.focus()
        link.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("At one.")
        page.get_by_role("button", name="Change").click()
        open_more(page.get_by_role("dialog"))
        expect(page.get_by_role("dialog").get_by_label("Conversation")).to_be_visible()
        expect(page.get_by_role("dialog").get_by_label("What it replaces")).to_have_count(0)


def check_a_change_sends_only_what_is_other_and_removes_what_was_emptied(console):
    with console.page("olga") as page:
        buttons = [action | {"id": f"own-{number}"} for number, action in enumerate(EVERYTHING["actions"])]
        said = {name: value for name, value in EVERYTHING.items() if name != "message"} | {"actions": buttons}
        late = send(page, "olga", "Later", notBefore="2099-01-01T12:00:00Z", **said)
        show(page, f"sent/{late}")
        page.get_by_role("button", name="Change").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_label("Data", exact=True)).to_be_visible()
        dialog.get_by_label("Subtitle").fill("")
        dialog.get_by_role("combobox", name="Sound").select_option("None")
        dialog.get_by_label("Rank").fill("3")
        dialog.get_by_label("Data", exact=True).fill('{"order": "4712"}')
        button(dialog, 1).get_by_label("Label").fill("Follow")
        dialog.get_by_role("button", name="Remove the content").click()
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.locator(".fault:visible")).to_have_text("Rank must be a number from 0 to 1.")
        expect(dialog.get_by_label("Rank")).to_be_focused()
        dialog.get_by_label("Data", exact=True).fill('{"order": null}')
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.locator(".fault:visible").filter(has_text="null")).to_have_count(1)
        dialog.get_by_label("Data", exact=True).fill('{"order": "4712"}')
        dialog.get_by_label("Rank").fill("")
        with page.expect_request(lambda request: request.method == "PATCH") as change:
            dialog.get_by_role("button", name="Save").click()
        assert change.value.post_data_json == {
            "subtitle": None, "sound": "none", "relevance": None, "richType": None, "payload": None,
            "data": {"order": "4712", "lines": None},
            "actions": [{"id": "follow", "label": "Follow", "link": "https://shop.example/t/4711"}] + buttons[1:],
        }, change.value.post_data
        expect(page.locator(".toast")).to_have_text("The notification was changed.")
        details = page.request.get(f"{SERVER}/api/notifications/{late}/details", headers=basic("olga")).json()
        assert details["data"] == {"order": "4712"} and "subtitle" not in details and "richType" not in details, details
        # Nothing is sent if nothing is other.
        page.get_by_role("button", name="Change").click()
        patches = []
        page.on("request", lambda request: patches.append(request.post_data) if request.method == "PATCH" else None)
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_have_count(0)
        assert not patches, patches


def check_changes_of_payloads_are_kept_when_one_is_changed(console):
    with console.page("olga") as page:
        late = send(page, "olga", "Later", notBefore="2099-01-01T12:00:00Z", apns={"a": None, "b": 1}, fcm={"data": {"own": "x"}})
        show(page, f"sent/{late}")
        page.get_by_role("button", name="Change").click()
        dialog = page.get_by_role("dialog")
        apple = dialog.get_by_label("Changes for Apple", exact=True)
        expect(apple).to_have_value(re.compile('"a": null'))
        apple.fill("7")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.locator(".fault:visible")).to_have_count(1)
        apple.fill('{"a": null, "c": 2}')
        with page.expect_request(lambda request: request.method == "PATCH") as change:
            dialog.get_by_role("button", name="Save").click()
        assert change.value.post_data_json == {"apns": {"a": None, "c": 2}}, change.value.post_data


def check_a_picture_is_seen_from_afar_until_it_is_loaded(console):
    with console.page("olga") as page:
        held, isHeld = [], True
        page.route("**/api/assets/img/**", lambda route: held.append(route) if isHeld else route.continue_())
        show(page, "catalogue")
        picture = card(page, "logo.png").locator("img")
        expect(picture).to_have_css("background-image", re.compile("data:image/png"))
        isHeld = False
        for route in held:
            route.continue_()
        shown(page, "logo.png")
        expect(picture).to_have_css("background-image", "none")


def check_nobody_is_told_to_drop_a_file_on_a_touch_screen(console):
    with console.page("shop", has_touch=True, is_mobile=True, viewport={"width": 390, "height": 800}) as page:
        show(page, "compose")
        expect(page.locator(".chosen")).to_contain_text("this device")
        expect(page.locator("main")).not_to_contain_text("drop one anywhere")


def check_the_catalogue_is_used_by_keyboard_and_a_file_replaced_and_removed(console):
    with console.page("shop") as page:
        shown(page, "good.png")
        page.keyboard.press("/")
        page.keyboard.type("good")
        expect(page.locator("asset-card:visible")).to_have_count(1)
        card(page, "good.png").get_by_role("button").focus()
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog")
        expect(dialog.locator(".profiles li")).to_have_count(5)
        expect(dialog.locator(".profiles")).to_contain_text("160 × 160")
        page.keyboard.press("Escape")
        before = card(page, "good.png").locator("img").screenshot()
        page.keyboard.press("Enter")
        with page.expect_file_chooser() as chooser:
            dialog.get_by_role("button", name="Replace").click()
        chooser.value.set_files(str(pathlib.Path(PICTURES, "img/beach.jpg")))
        expect(card(page, "good.png")).to_contain_text("1200 × 800")
        shown(page, "good.png")
        assert card(page, "good.png").locator("img").screenshot() != before, "the old picture is shown"
        card(page, "good.png").get_by_role("button").focus()
        page.keyboard.press("Delete")
        page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        expect(card(page, "good.png")).to_have_count(0)


def check_the_point_that_crops_keep_and_a_description_are_set_by_mouse_and_keyboard(console):
    with console.page("shop") as page:
        card(page, "beach.jpg").get_by_role("button").click()
        dialog = page.get_by_role("dialog")
        point = dialog.get_by_role("button", name="The point that crops keep")
        picture = point.locator("img")
        page.wait_for_function("picture => picture.naturalWidth > 0", arg=picture.element_handle())
        box = picture.bounding_box()
        picture.click(position={"x": box["width"] * 0.25, "y": box["height"] * 0.75})
        where = dialog.get_by_text("Crops keep")
        expect(where).to_have_text(re.compile("^Crops keep 2[45].* % from the left, 7[45].* % from the top"))
        # Both at one moment: what is loaded below moves the picture.
        across, down = point.evaluate("""point => {
            const [mark, box] = ["i", "img"].map(name => point.querySelector(name).getBoundingClientRect());
            return [(mark.x + mark.width / 2 - box.x) / box.width, (mark.y + mark.height / 2 - box.y) / box.height];
        }""")
        assert abs(across - 0.25) < 0.02 and abs(down - 0.75) < 0.02, (across, down)
        # The keys go no further than the edge; Enter changes nothing.
        point.focus()
        for key in ["ArrowLeft"] * 20 + ["ArrowDown"] * 20 + ["ArrowRight", "ArrowUp", "Enter"]:
            page.keyboard.press(key)
        expect(where).to_contain_text("Crops keep 2 % from the left, 98 % from the top.")
        text = dialog.get_by_role("textbox", name="Description of the media")
        text.fill("x" * 1001)
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.locator(".fault:visible")).to_contain_text("1000 bytes")
        text.fill(HOSTILE)
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_text("Saved.")).to_be_visible()
        expect(dialog.locator(".fault:visible")).to_be_hidden()
        asset = lambda: page.request.get(f"{SERVER}/api/assets/img/beach.jpg", headers=basic("shop")).json()
        assert (asset()["alt"], asset()["focus"]) == (HOSTILE, "0.02,0.98"), asset()
        number = send(page, "shop", "With a description")
        details = page.request.get(f"{SERVER}/api/notifications/{number}/details", headers=basic("shop")).json()
        assert details["alt"] == HOSTILE, details
        page.request.delete(f"{SERVER}/api/notifications/{number}", headers=basic("shop"))
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        card(page, "beach.jpg").get_by_role("button").click()
        expect(text).to_have_value(HOSTILE)
        expect(where).to_contain_text("Crops keep 2 % from the left, 98 % from the top.")
        dialog.get_by_role("button", name="Use the centre").click()
        text.fill(" ")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_text("Saved.")).to_be_visible()
        assert (asset()["alt"], asset()["focus"]) == (None, None), asset()
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        # Only a picture is cropped.
        card(page, "chime.wav").get_by_role("button").click()
        expect(text).to_be_visible()
        expect(point).to_have_count(0)


def fetched(page, path):
    return page.evaluate(
        """async path => Array.from(new Uint8Array(await (await fetch(path)).arrayBuffer()))""", path)


def compose(page, name, message, people):
    show(page, f"compose/img/{urllib.parse.quote(name)}")
    page.get_by_role("textbox", name="Message").fill(message)
    page.get_by_role("combobox", name="Recipients", exact=True).fill(people)
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()


@contextlib.contextmanager
def device(user):
    with tempfile.TemporaryDirectory() as folder:
        phone = subprocess.Popen(
            [PROGRAM, "device", "--user", user, "--server", SERVER], cwd=folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        phone.stdout.readline()
        try:
            yield phone
        finally:
            phone.terminate()
            phone.wait()


def check_what_is_previewed_is_what_devices_get_and_is_followed_to_the_phone(console):
    with console.page("shop") as page:
        compose(page, "beach.jpg", "Look at this", "alice")
        pictures = page.locator(".devices img[data-profile]")
        expect(pictures).to_have_count(6)
        previews = {
            picture.get_attribute("data-profile"): fetched(page, picture.get_attribute("src"))
            for picture in pictures.all()}
        assert set(previews) == {"ios", "android", "watch", "web"} and all(map(len, previews.values()))
        for caption in page.locator(".devices figcaption").all():
            expect(caption).to_contain_text(" of ")
        with device("alice"):
            page.get_by_role("button", name="Send", exact=True).click()
            page.get_by_role("dialog").get_by_role("button", name="Send").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("Look at this")
            number = page.url.split("/")[-1]
            tile = lambda step: page.locator(f".funnel [data-part={step}] strong")
            expect(tile("fetched")).to_have_text("1")
            expect(page.locator("counts-bar")).not_to_contain_text("queued")
        renditions = page.request.get(f"{SERVER}/api/notifications/{number}/details", headers=basic("alice")).json()["renditions"]
        for profile, data in previews.items():
            got = page.request.get(SERVER + renditions[profile], headers=basic("alice"))
            assert list(got.body()) == data, f"{profile}: {len(data)} bytes were shown, {len(got.body())} are sent"
        page.request.put(f"{SERVER}/api/notifications/{number}/read", headers=basic("alice"))
        expect(tile("read")).to_have_text("1")
        page.get_by_role("button", name="Withdraw").click()
        page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sent")
        gone = page.request.get(f"{SERVER}/api/notifications/{number}", headers=basic("alice"))
        assert gone.status == 404


def basic(user):
    import base64
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{user}".encode()).decode()}


def send(page, sender, message, payload="beach.jpg", to=("username:alice",), kind="img", **more):
    answer = page.request.post(
        f"{SERVER}/api/notifications", headers=basic(sender), data=json.dumps(
            {"message": message, "richType": kind, "payload": payload, "to": list(to)} | more))
    assert answer.status == 201, answer.text()
    return answer.json()["id"]


def entry(page, message):
    return page.locator(".sent-list > li").filter(has=page.get_by_role("link", name=message, exact=True))


def check_what_was_sent_is_listed_with_right_shares_pictures_and_its_end(console):
    with console.page("lena") as page:
        fetched = send(page, "lena", "Fetched by its only recipient")
        withdrawn = send(page, "lena", "Taken back")
        page.request.get(f"{SERVER}/api/notifications/{fetched}", headers=basic("alice"))
        page.request.delete(f"{SERVER}/api/notifications/{withdrawn}", headers=basic("lena"))
        until(lambda: page.request.get(f"{SERVER}/api/notifications?sent", headers=basic("lena"))
              .json()["notifications"][1]["counts"]["fetched"] == 1)
        show(page, "sent")
        bar = entry(page, "Fetched by its only recipient").locator("counts-bar")
        expect(bar).to_have_text("1 of 1 fetched")
        # All of the bar has the colour of what was fetched.
        widths = bar.evaluate(
            """bar => [bar.querySelector("i.fetched"), bar.querySelector(".track")].map(part => part.getBoundingClientRect().width)""")
        assert abs(widths[0] - widths[1]) < 1, widths
        page.wait_for_function("""() => document.querySelector(".sent-list img")?.naturalWidth > 0""")
        ended = entry(page, "Taken back")
        expect(ended.locator(".state")).to_have_text("Withdrawn")
        expect(ended).not_to_contain_text("queued")
        ended.get_by_role("link", name="Taken back", exact=True).click()
        expect(page.locator(".ended")).to_contain_text("cannot see it any more")
        expect(page.get_by_role("button", name="Withdraw")).to_have_count(0)
        expect(page.get_by_role("button", name="Change")).to_be_hidden()
        counts = page.request.get(f"{SERVER}/api/notifications?sent", headers=basic("lena")).json()["notifications"]
        assert [one["counts"]["fetched"] for one in counts] == [0, 1], "looking at it is no fetch"


def check_what_was_sent_is_searched_exported_and_sent_again(console):
    with console.page("mia") as page:
        send(page, "mia", "Frühlingsfest im Park", badge=True, form="hybrid", to=["username:alice", "username:bob"])
        send(page, "mia", '=HYPERLINK("http://bad.example","x")')
        for number in range(60):
            send(page, "mia", f"Number {number}")
        show(page, "sent")
        rows = page.locator(".sent-list > li")
        expect(rows).to_have_count(50)
        search = page.get_by_role("searchbox")
        search.fill("FRUHLINGS park")
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("Frühlingsfest im Park")
        search.fill("nobody wrote this")
        expect(page.locator(".sent-list .empty")).to_contain_text("nobody wrote this")
        search.fill("")
        expect(rows).to_have_count(50)
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        table = list(csv.reader(io.StringIO(download.value.path().read_text("utf-8-sig"))))
        assert len(table) == 63, len(table)
        assert not [cell for row in table for cell in row if cell[:1] in "=+-@\t\r" and cell], "a formula"
        assert table[-1][7] == '\'=HYPERLINK("http://bad.example","x")' or table[-2][7].startswith("'="), table[-2:]
        search.fill("fruhlings")
        expect(rows).to_have_count(1)
        page.get_by_role("link", name="Send again…: Frühlingsfest im Park").click()
        expect(page.get_by_role("textbox", name="Message")).to_have_value("Frühlingsfest im Park")
        expect(page.get_by_role("combobox", name="Recipients", exact=True)).to_have_value("alice, bob")
        expect(page.locator(".chosen")).to_contain_text("beach.jpg")
        expect(page.get_by_role("combobox", name="Form")).to_have_value("hybrid")
        expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()


def check_a_segment_is_saved_counted_and_sent_to_and_the_rest_is_sent_to_again(console):
    with console.page("mia"), console.page("shop") as page:
        show(page, "compose")
        page.get_by_role("textbox", name="Message").fill("For whom it concerns")
        page.get_by_label("Kind of recipients").select_option("segment")
        page.get_by_role("button", name="All segments").click()
        segments = page.get_by_role("dialog").filter(has_text="Saved recipients")
        segments.get_by_role("button", name="New segment").click()
        form = page.get_by_role("dialog").filter(has_text="Includes everybody who")
        form.get_by_label("Name of the segment").fill("two words")
        form.get_by_label("Tags, or people").fill("username:mia, username:shop")
        # It is counted while one types.
        expect(form.get_by_role("status")).to_contain_text("2 people")
        form.get_by_label("Language of the device").fill("x")
        expect(form).to_contain_text("BCP 47")
        form.get_by_label("Language of the device").fill("")
        form.get_by_role("button", name="Save").click()
        expect(form).to_contain_text("without spaces")
        form.get_by_label("Name of the segment").fill("both")
        # Of this, a browser gives the field as empty.
        contact = form.get_by_label("Last contact")
        contact.press_sequentially("3e")
        form.get_by_role("button", name="Save").click()
        expect(form).to_contain_text("Enter a number.")
        for _ in "3e":
            contact.press("Backspace")
        form.get_by_role("button", name="Save").click()
        expect(form).not_to_be_visible()
        expect(segments).to_contain_text("mia, shop")
        findings = violations(page, "segments")
        assert not findings, findings
        segments.get_by_role("button", name=re.compile("^both")).click()
        expect(page.get_by_role("combobox", name="Recipients", exact=True)).to_have_value("both")
        expect(page.locator("fieldset").filter(has_text="All segments").get_by_role("status")).to_contain_text("2 people")
        # Scheduled, it keeps its segment.
        page.get_by_label("Send at").fill("2099-01-05T10:30")
        page.get_by_role("button", name="Schedule", exact=True).click()
        sure = page.get_by_role("dialog")
        expect(sure).to_contain_text("Segment both")
        expect(sure).to_contain_text("2 people")
        sure.get_by_role("button", name="Schedule", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("For whom it concerns")
        scheduled = page.url
        show(page, "compose")
        page.get_by_label("Kind of recipients").select_option("segment")
        page.get_by_role("button", name="All segments").click()
        segments.get_by_role("button", name="Remove the segment: both").click()
        page.get_by_role("dialog").filter(has_text="for all publishers?").get_by_role("button", name="Remove the segment").click()
        expect(segments).to_contain_text("is scheduled for this segment")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Start over").click()
        # At once, and then to those who have not opened it.
        page.goto(scheduled)
        page.get_by_role("button", name="Withdraw").click()
        page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
        expect(page.get_by_role("list", name="Sent")).to_be_visible()
        compose(page, "beach.jpg", "Have you seen it?", "alice, bob")
        page.get_by_role("button", name="Send", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Have you seen it?")
        page.get_by_role("link", name="Send to those who have not opened it").click(timeout=30_000)
        expect(page.get_by_label("Kind of recipients")).to_have_value("notOpened")
        expect(page.get_by_role("textbox", name="Message")).to_have_value("Have you seen it?")
        expect(page.locator("fieldset").filter(has=page.get_by_label("Kind of recipients")).get_by_role("status")).to_contain_text("2 people")


def check_a_draft_is_finished_and_sent_by_another_publisher(console):
    def keep(page, name=None, template=False):
        page.get_by_role("button", name="Keep as a draft").click()
        dialog = page.get_by_role("dialog")
        if name:
            dialog.get_by_label("Name").fill(name)
        dialog.get_by_label("A template").set_checked(template)
        dialog.get_by_role("button", name="Keep as a draft").click()

    def open_draft(page, name):
        page.get_by_role("button", name="Drafts").click()
        page.get_by_role("dialog").get_by_role("button", name=re.compile("^" + name)).click()

    with console.page("mia") as mia, console.page("shop") as shop:
        compose(mia, "beach.jpg", "Half of it", "alice, bob")
        mia.get_by_label("Expires at").fill("2099-01-05T10:30")
        keep(mia, "Summer")
        expect(mia.locator(".toast")).to_contain_text("kept for all publishers")
        show(shop, "compose")
        open_draft(shop, "Summer")
        message = shop.get_by_role("textbox", name="Message")
        expect(message).to_have_value("Half of it")
        expect(shop.get_by_role("combobox", name="Recipients", exact=True)).to_have_value("alice, bob")
        expect(shop.get_by_label("Expires at")).to_have_value("2099-01-05T10:30")
        expect(shop.locator(".chosen")).to_contain_text("beach.jpg")
        message.fill("All of it")
        keep(shop)
        expect(shop.locator(".toast")).to_contain_text("kept for all publishers")
        # Who has not read it is asked.
        mia.get_by_role("textbox", name="Message").fill("Something else")
        keep(mia)
        question = mia.get_by_role("dialog").filter(has_text="shop has changed")
        expect(question).to_be_visible()
        question.get_by_role("button", name="Cancel").click()
        # It is another's, also after a reload, until it is sent.
        shop.reload()
        expect(message).to_have_value("All of it")
        shop.get_by_role("button", name="Send", exact=True).click()
        shop.get_by_role("dialog").get_by_role("button", name="Send", exact=True).click()
        expect(shop.get_by_role("heading", level=1)).to_contain_text("All of it")
        show(mia, "compose")
        mia.get_by_role("button", name="Drafts").click()
        expect(mia.get_by_role("dialog")).to_contain_text("There is no draft.")
        mia.keyboard.press("Escape")
        # A template stays when it was sent.
        mia.get_by_role("button", name="Start over").click()
        mia.get_by_role("textbox", name="Message").fill("Every Monday")
        keep(mia, "Monday", template=True)
        expect(mia.locator(".toast")).to_contain_text("The template is kept")
        mia.get_by_role("combobox", name="Recipients", exact=True).fill("alice")
        mia.get_by_role("button", name="Send", exact=True).click()
        mia.get_by_role("dialog").get_by_role("button", name="Send", exact=True).click()
        expect(mia.get_by_role("heading", level=1)).to_contain_text("Every Monday")
        show(mia, "compose")
        mia.get_by_role("button", name="Drafts").click()
        mia.get_by_role("button", name="Remove: Monday").click()
        mia.get_by_role("dialog").last.get_by_role("button", name="Remove").click()
        expect(mia.get_by_role("dialog")).not_to_contain_text("Monday")


def check_what_is_sent_can_be_undone_until_it_goes(console):
    def send_at_once(page):
        page.get_by_role("button", name="Send", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Send").click()
        expect(page.get_by_text("It is sent in")).to_be_visible()
        return page.url.split("/")[-1]

    with console.page("shop", undo=30) as page:
        message = page.get_by_role("textbox", name="Message")
        compose(page, "beach.jpg", "Too early", "alice")
        page.get_by_label("Expires at").fill("2099-01-05T10:30")
        number = send_at_once(page)
        assert page.request.get(f"{SERVER}/api/notifications/{number}", headers=basic("alice")).status == 404
        page.get_by_role("button", name="Undo").click()
        expect(message).to_have_value("Too early")
        expect(page.locator(".toast")).to_have_text("It was not sent. You can go on writing.")
        expect(page.get_by_role("combobox", name="Recipients", exact=True)).to_have_value("alice")
        expect(page.get_by_label("Expires at")).to_have_value("2099-01-05T10:30")
        expect(page.get_by_label("Send at")).to_have_value("")
        expect(page.locator(".chosen")).to_contain_text("beach.jpg")
        details = page.request.get(f"{SERVER}/api/notifications/{number}/details", headers=basic("shop")).json()
        assert details["state"] == "withdrawn" and details["counts"]["sent"] == 0, details
        # With another time it goes by itself.
        show(page, "account")
        page.get_by_label("Time to undo").select_option("5 seconds")
        show(page, "compose")
        number = send_at_once(page)
        expect(page.get_by_text("It is sent in")).to_have_count(0)
        expect(page.get_by_role("button", name="Undo")).to_have_count(0)
        assert page.request.get(f"{SERVER}/api/notifications/{number}", headers=basic("alice")).ok
        # What was scheduled keeps its time.
        number = send(page, "shop", "Later", notBefore="2099-01-01T12:00:00Z")
        show(page, f"sent/{number}")
        page.get_by_role("button", name="Take back").click()
        expect(message).to_have_value("Later")
        expect(page.get_by_label("Send at")).to_have_value(re.compile("^2099-01-01T"))


def check_a_coupon_is_filled_in_previewed_kept_and_sent_without_a_file(console):
    shutil.copytree(pathlib.Path(PICTURES, "../plugins/examples/coupon"), pathlib.Path(ASSETS, "../plugins/coupon"))
    types = urllib.request.Request(f"{SERVER}/api/types", headers=basic("shop"))
    until(lambda: any(one["richType"] == "coupon" for one in json.load(urllib.request.urlopen(types))["types"]))
    with console.page("shop") as page:
        show(page, "compose")
        kind = page.get_by_role("combobox", name="Or fill in")
        expect(kind.locator("option")).to_have_text(["Nothing", "Coupon"])
        kind.select_option("Coupon")
        fields = page.get_by_role("group", name="Coupon")
        code = fields.get_by_label("Code at the till")
        assert code.get_attribute("placeholder") == "SUMMER25"
        expect(fields.get_by_role("textbox", name="Link to the shop (optional)")).to_be_visible()
        # All that is missing is said beside its field, and nothing was sent.
        page.get_by_role("combobox", name="Recipients", exact=True).fill("alice")
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("3 things are missing or wrong")
        expect(code).to_be_focused()
        expect(fields.locator(".fault:visible")).to_have_text(["This is missing."] * 3)
        # What the server refuses, too.
        code.fill("SUMMER25")
        fields.get_by_label("Discount in per cent").fill("125")
        fields.get_by_label("Valid until").fill("2099-08-31")
        expect(fields.locator(".fault:visible")).to_have_text(["Discount in per cent must be a number from 1 to 100."])
        fields.get_by_label("Discount in per cent").fill("25")
        fields.get_by_label("Where it is valid").select_option("In the shop")
        fields.get_by_label("Once for each customer").check()
        expect(fields.locator(".fault:visible")).to_have_count(0)
        # What the plugin itself makes of it is seen.
        picture = page.locator("figure[data-device=iosExpanded] img[data-profile=ios]")
        expect(picture).to_be_visible()
        page.wait_for_function("image => image.naturalWidth > 300", arg=picture.element_handle())
        expect(page.locator("figure[data-device=browser]")).to_contain_text("PNG")
        expect(page.locator(".fault:visible")).to_have_count(0)
        assert not violations(page, "a coupon"), violations(page, "a coupon")
        # It is there after a reload, and for another who goes on with the draft; another content loses nothing.
        page.reload()
        expect(code).to_have_value("SUMMER25")
        kind.select_option("Nothing")
        expect(fields).to_be_hidden()
        kind.select_option("Coupon")
        expect(code).to_have_value("SUMMER25")
        page.get_by_role("button", name="Keep as a draft").click()
        page.get_by_role("dialog").get_by_label("Name").fill("August")
        page.get_by_role("dialog").get_by_role("button", name="Keep as a draft").click()
        expect(page.locator(".toast")).to_contain_text("kept for all publishers")
    with console.page("mia", undo=10) as page:
        show(page, "compose")
        page.get_by_role("button", name="Drafts").click()
        page.get_by_role("dialog").get_by_role("button", name=re.compile("^August")).click()
        fields = page.get_by_role("group", name="Coupon")
        expect(fields.get_by_label("Discount in per cent")).to_have_value("25")
        expect(fields.get_by_label("Valid until")).to_have_value("2099-08-31")
        expect(fields.get_by_label("Once for each customer")).to_be_checked()

        def send_it():
            page.get_by_role("button", name="Send", exact=True).click()
            question = page.get_by_role("dialog")
            for words in ["SUMMER25", "31 August 2099", "In the shop", "1 person"]:
                expect(question).to_contain_text(words)
            expect(question).not_to_contain_text("{")
            question.get_by_role("button", name="Send", exact=True).click()

        page.get_by_role("textbox", name="Title", exact=True).fill("For you")
        send_it()
        expect(page.get_by_role("heading", level=1)).to_contain_text("For you")
        page.get_by_role("button", name="Undo").click()
        expect(fields.get_by_label("Code at the till")).to_have_value("SUMMER25")
        send_it()
        about = page.locator(".facts-list").first
        expect(about).to_contain_text("Coupon")
        expect(about).to_contain_text("SUMMER25")
        expect(about).not_to_contain_text("{")
        page.get_by_role("link", name="Send again").click()
        expect(fields.get_by_label("Where it is valid")).to_have_value("shop")
        # A file takes its place.
        show(page, "compose/img/beach.jpg")
        expect(page.locator(".chosen")).to_contain_text("beach.jpg")
        expect(fields).to_be_hidden()
        show(page, "sent")
        expect(page.locator(".sent-list li").first).to_contain_text("Coupon")
    with console.page(locale="de-DE", viewport={"width": 320, "height": 700}) as page:
        page.goto(SERVER + "/console/")
        page.get_by_label("Name").fill("shop")
        page.get_by_label("Passwort").fill("shop")
        page.get_by_role("button", name="Anmelden").click()
        expect(page.get_by_role("navigation")).to_be_visible()
        show(page, "compose")
        page.get_by_role("combobox", name="Oder ausfüllen").select_option("Gutschein")
        page.get_by_role("group", name="Gutschein").get_by_label("Code an der Kasse").fill("X")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def check_what_is_for_many_people_is_approved_or_refused_by_another_publisher(console):
    readers = [f"reader{number}" for number in range(201)]
    with console.page("olga") as olga, console.page("paul") as paul:
        for number, name in enumerate(readers):
            answer = olga.request.put(f"{SERVER}/api/register/of-{name}", headers=basic(name), data=json.dumps(
                {"Platform": "apns", "Handle": f"AB{number:04}", "Tags": ["many"]}))
            assert answer.ok, answer.text()
        first = send(olga, "olga", "Not a good idea", to=["many"])
        # The others are told at once.
        expect(paul.locator("nav .mark")).to_contain_text("1")
        expect(olga.locator("nav .mark")).to_have_count(0)
        show(olga, f"sent/{first}")
        expect(olga.locator("main")).to_contain_text("It is for 201 people, and is sent once another publisher has approved it.")
        expect(olga.get_by_role("button", name="Approve")).to_have_count(0)
        show(olga, "compose/img/beach.jpg")
        olga.get_by_role("textbox", name="Message").fill("A good idea")
        olga.get_by_label("Kind of recipients").select_option("Tags")
        olga.get_by_role("combobox", name="Recipients", exact=True).fill("many")
        olga.get_by_role("button", name="Send", exact=True).click()
        question = olga.get_by_role("dialog")
        expect(question).to_contain_text("another publisher has to approve it")
        question.get_by_role("button", name="Send", exact=True).click()
        expect(olga.get_by_role("heading", level=1)).to_have_text("A good idea")
        second = olga.url.split("/")[-1]
        show(olga, "sent")
        expect(entry(olga, "A good idea")).to_contain_text("Awaits approval")
        assert olga.request.get(f"{SERVER}/api/notifications/{second}", headers=basic("reader0")).status == 404

        expect(paul.locator("nav .mark")).to_contain_text("2")
        with console.page(viewport={"width": 390, "height": 700}, locale="de-DE") as narrow:
            narrow.goto(f"{SERVER}/console/#sent")
            narrow.get_by_label("Name").fill("paul")
            narrow.get_by_label("Passwort").fill("paul")
            narrow.get_by_role("button", name="Anmelden").click()
            expect(narrow.locator(".awaiting li")).to_have_count(2)
            expect(narrow.locator(".awaiting")).to_contain_text("olga möchte an 201 Personen senden.")
            assert not violations(narrow, "what awaits approval")
            assert narrow.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            narrow.locator(".awaiting").get_by_role("link", name="A good idea", exact=True).click()
            expect(narrow.get_by_role("button", name="Freigeben")).to_be_visible()
            assert not violations(narrow, "a notification that awaits approval")
            assert narrow.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            rows = narrow.locator("nav a").evaluate_all("links => new Set(links.map(link => Math.round(link.getBoundingClientRect().y))).size")
            assert rows == 1, rows
        show(paul, "sent")
        paul.locator(".awaiting").get_by_role("link", name="A good idea", exact=True).click()
        expect(paul.get_by_role("button", name="Withdraw")).to_have_count(0)
        expect(paul.locator(".profiles img").first).to_be_visible()
        # What is approved is what is shown.
        change = olga.request.patch(f"{SERVER}/api/notifications/{second}", headers=basic("olga"), data=json.dumps({"message": "A better idea"}))
        assert change.ok, change.text()
        approve = paul.get_by_role("button", name="Approve")
        approve.focus()
        paul.keyboard.press("Enter")
        paul.get_by_role("dialog").get_by_role("button", name="Approve").click()
        expect(paul.locator(".toast")).to_contain_text("changed meanwhile")
        paul.reload()
        expect(paul.get_by_role("heading", level=1)).to_have_text("A better idea")
        approve.click()
        paul.get_by_role("dialog").get_by_role("button", name="Approve").click()
        expect(paul.locator(".toast")).to_have_text("It was approved.")
        assert olga.request.get(f"{SERVER}/api/notifications/{second}", headers=basic("reader0")).ok
        expect(paul.locator(".awaiting li")).to_have_count(1)
        paul.locator(".awaiting").get_by_role("link", name="Not a good idea").click()
        paul.get_by_role("button", name="Refuse").click()
        dialog = paul.get_by_role("dialog")
        dialog.get_by_role("button", name="Refuse").click()
        expect(dialog.get_by_role("alert")).to_have_text("Enter a reason.")
        dialog.get_by_label("Why?").fill("It is too <b>early</b>.")
        assert not violations(paul, "a refusal")
        dialog.get_by_role("button", name="Refuse").click()
        expect(paul.locator(".toast")).to_have_text("It was refused.")
        expect(paul.locator("nav .mark")).to_have_count(0)
        expect(paul.locator(".awaiting")).to_be_hidden()
        show(olga, f"sent/{first}")
        expect(olga.locator("main")).to_contain_text("paul has refused it: It is too <b>early</b>.")
        show(olga, f"sent/{second}")
        expect(olga.locator(".timeline")).to_contain_text("Approved by paul")
        for name in readers:
            assert olga.request.delete(f"{SERVER}/api/users/{name}", headers=basic("admin")).ok


def check_a_scheduled_notification_is_changed_and_a_fetched_one_not_offered(console):
    with console.page("nora") as page:
        late = send(page, "nora", "Later", notBefore="2099-01-01T12:00:00Z")
        show(page, f"sent/{late}")
        page.get_by_role("button", name="Change").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Message").fill("Sooner")
        dialog.get_by_label("Send at").fill("2001-01-01T10:00")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.locator(".fault:visible")).to_contain_text("past")
        expect(dialog.get_by_label("Send at")).to_be_focused()
        dialog.get_by_label("Send at").fill("2098-06-01T10:30")
        dialog.get_by_label("Expires at").fill("2098-06-02T10:30")
        dialog.get_by_role("button", name="Choose a file").click()
        page.get_by_role("dialog", name="Choose a file").get_by_role("button", name="logo.png").click()
        dialog.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sooner")
        changed = page.request.get(f"{SERVER}/api/notifications?sent", headers=basic("nora")).json()["notifications"][0]
        assert [changed[name] for name in ["message", "payload", "notBefore", "expires"]] == [
            "Sooner", "logo.png", "2098-06-01T10:30:00Z", "2098-06-02T10:30:00Z"], changed
        answer = page.request.patch(f"{SERVER}/api/notifications/{late}", headers=basic("admin"), data=json.dumps({"title": "News"}))
        assert answer.ok, answer.text()
        page.reload()
        changes = page.get_by_role("region", name="Changes").get_by_role("listitem")
        expect(changes).to_have_count(2)
        expect(changes.nth(0)).to_contain_text("by admin")
        expect(changes.nth(0)).to_contain_text("Titlenothing → News")
        expect(changes.nth(1)).to_contain_text("by nora")
        for words in ["MessageLater → Sooner", "ContentPictures: beach.jpg → Pictures: logo.png", "Expires atnothing → ", "1 January 2099", "→ Sunday, 1 June 2098"]:
            expect(changes.nth(1)).to_contain_text(words)
        sent = send(page, "nora", "Now")
        show(page, f"sent/{sent}")
        expect(page.get_by_role("button", name="Change")).to_be_visible()
        page.request.get(f"{SERVER}/api/notifications/{sent}", headers=basic("alice"))
        expect(page.get_by_role("button", name="Change")).to_be_hidden()
        expect(page.get_by_text("a device has fetched it")).to_be_visible()


def check_the_catalogue_is_searched_and_sorted_as_people_do_and_several_files_removed(console):
    with console.page("shop") as page:
        # The last is the newest, by a day each.
        for day, name in enumerate(["Frühlingsfest.png", "zebra.png", "Apfel.png", "apfel 10.png", "apfel 9.png"]):
            file = pathlib.Path(ASSETS, "..", name)
            file.write_bytes(sample("img/logo.png"))
            os.utime(file, (86_400 * (20_000 + day),) * 2)
            file.rename(pathlib.Path(ASSETS, "img", name))
        show(page, "catalogue")
        for name in ["apfel 9.png", "zebra.png"]:
            shown(page, name)
        names = lambda: page.locator("asset-card:visible .name").all_inner_texts()
        search = page.get_by_role("searchbox")
        search.fill("fruhlings")
        expect(page.locator("asset-card:visible")).to_have_count(1)
        search.fill("apfel")
        until(lambda: names() == ["apfel 9.png", "apfel 10.png", "Apfel.png"])
        page.get_by_role("combobox", name="Order").select_option("Newest first")
        until(lambda: names() == ["apfel 9.png", "apfel 10.png", "Apfel.png"])
        search.fill("")
        page.get_by_role("combobox", name="Order").select_option("Oldest first")
        until(lambda: [name for name in names() if "fel" in name] == ["Apfel.png", "apfel 10.png", "apfel 9.png"])
        search.fill("no such name")
        expect(page.get_by_text("No file has “no such name” in its name.")).to_be_visible()
        page.get_by_role("button", name="Show all files").click()
        page.get_by_role("button", name="Select", exact=True).click()
        for name in ["apfel 9.png", "apfel 10.png", "Frühlingsfest.png"]:
            card(page, name).get_by_role("button").click()
        expect(card(page, "apfel 9.png").get_by_role("button")).to_have_attribute("aria-pressed", "true")
        page.get_by_role("button", name="Remove 3 selected").click()
        page.get_by_role("dialog").get_by_role("button", name="Remove 3 selected").click()
        for name in ["apfel 9.png", "apfel 10.png", "Frühlingsfest.png"]:
            expect(card(page, name)).to_have_count(0)
        expect(card(page, "Apfel.png")).to_have_count(1)
        show(page, "compose")
        page.get_by_role("textbox", name="Message").fill("Half a thought")
        page.get_by_role("button", name="Choose a file").click()
        picker = page.get_by_role("dialog", name="Choose a file")
        picker.get_by_role("searchbox").fill("zeb")
        expect(picker.locator(".picker button")).to_have_text(["zebra.png"])
        picker.get_by_role("searchbox").fill("")
        # Rows keep their height, however many there are.
        assert picker.locator(".picker button").first.bounding_box()["height"] > 100
        picker.get_by_role("button", name="zebra.png").click()
        sent = send(page, "shop", "Again, please")
        show(page, "compose")
        page.get_by_role("textbox", name="Message").fill("Half a thought")
        show(page, f"compose/again/{sent}")
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("textbox", name="Message")).to_have_value("Half a thought")
        show(page, f"compose/again/{sent}")
        page.get_by_role("dialog").get_by_role("button", name="Replace it").click()
        expect(page.get_by_role("textbox", name="Message")).to_have_value("Again, please")
        for name in ["zebra.png", "Apfel.png"]:
            page.request.delete(f"{SERVER}/api/assets/img/{name}", headers=basic("shop"))


def check_files_are_labelled_and_renamed_and_what_uses_them_is_seen(console):
    with console.page("shop") as page:
        one, two, three = [f"labelled {number}.png" for number in ("one", "two", "three")]
        for name in [one, two]:
            pathlib.Path(ASSETS, "img", name).write_bytes(sample("img/logo.png"))
        show(page, "catalogue")
        for name in [one, two]:
            shown(page, name)
        page.get_by_role("button", name="Select", exact=True).click()
        for name in [one, two]:
            card(page, name).get_by_role("button").click()
        page.get_by_role("button", name="Label 2 selected").click()
        dialog = page.get_by_role("dialog", name="Label 2 selected")
        dialog.get_by_label("Label", exact=True).fill("summer")
        dialog.get_by_role("button", name="Save").click()
        for name in [one, two]:
            expect(card(page, name).locator(".labels")).to_have_text("summer")
        page.get_by_role("button", name="End selection").click()
        labels = page.get_by_role("combobox", name="Label", exact=True)
        labels.select_option("summer")
        expect(page.locator("asset-card:visible")).to_have_count(2)
        labels.select_option("All labels")
        sent = send(page, "shop", "With a labelled file", one)
        states = page.get_by_role("combobox", name="State")
        states.select_option("Unused")
        expect(card(page, one)).to_be_hidden()
        expect(card(page, two)).to_be_visible()
        states.select_option("All states")
        card(page, one).get_by_role("button").click()
        dialog = page.get_by_role("dialog", name=one)
        dialog.get_by_text("Used in (1)").click()
        expect(dialog.get_by_role("link", name="With a labelled file")).to_have_attribute("href", f"#sent/{sent}")
        dialog.get_by_label("Labels", exact=True).fill("summer, sale , summer")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_text("Saved.")).to_be_visible()
        expect(dialog.get_by_label("Labels", exact=True)).to_have_value("sale, summer")
        findings = violations(page, "file with labels")
        dialog.get_by_role("button", name="Rename").click()
        dialog = page.get_by_role("dialog", name="Rename")
        expect(dialog).to_contain_text("Notifications keep the file.")
        dialog.get_by_label("New name").fill(two)
        findings += violations(page, "new name")
        dialog.get_by_role("button", name="Rename").click()
        expect(page.get_by_text("There is already a file")).to_be_visible()
        card(page, one).get_by_role("button").click()
        page.get_by_role("dialog", name=one).get_by_role("button", name="Rename").click()
        page.get_by_role("dialog", name="Rename").get_by_label("New name").fill(three)
        page.keyboard.press("Enter")
        expect(card(page, three).locator(".labels span")).to_have_text(["sale", "summer"])
        expect(card(page, one)).to_have_count(0)
        assert pathlib.Path(ASSETS, "img", three).exists()
        page.request.delete(f"{SERVER}/api/notifications/{sent}", headers=basic("shop"))
        for name in [two, three]:
            page.request.delete(f"{SERVER}/api/assets/img/{name}", headers=basic("shop"))
        assert not findings, "\n".join(findings)


def check_several_files_are_selected_by_range_and_keyboard_removed_and_brought_back(console):
    with console.page("shop") as page:
        names = [f"range {number}.png" for number in range(8, 12)]
        for name in names:
            pathlib.Path(ASSETS, "img", name).write_bytes(sample("img/logo.png"))
        for name in names:
            shown(page, name)
        page.get_by_role("searchbox").fill("range")
        expect(page.locator("asset-card:visible")).to_have_count(4)
        page.get_by_role("button", name="Select", exact=True).click()
        button = lambda name: card(page, name).get_by_role("button")
        button(names[0]).click()
        button(names[2]).click(modifiers=["Shift"])
        remove = page.locator(".filters .danger")
        expect(remove).to_have_text("Remove 3 selected")
        button(names[1]).click()
        expect(remove).to_have_text("Remove 2 selected")
        button(names[1]).focus()
        page.keyboard.press("Control+a")
        expect(remove).to_have_text("Remove 4 selected")
        assert violations(page, "selection") == []
        # One that may not be removed, since its sidecar publishes it.
        sidecar = pathlib.Path(ASSETS, "img", names[1] + ".notify.json")
        sidecar.write_text("{}")
        page.keyboard.press("Delete")
        page.get_by_role("dialog").get_by_role("button", name="Remove 4 selected").click()
        results = page.locator(".results")
        expect(results).to_contain_text("One file was not removed. 3 files were removed.")
        expect(results.locator("li").first).to_contain_text(names[1])
        assert violations(page, "results") == []
        for name in names:
            expect(card(page, name)).to_have_count(1 if name == names[1] else 0)
        sidecar.unlink()
        results.get_by_role("button", name="Bring all back").click()
        for name in names:
            expect(card(page, name)).to_have_count(1)
        button(names[1]).focus()
        page.keyboard.press("Escape")
        expect(remove).to_be_hidden()


def check_replaced_and_removed_files_are_brought_back(console):
    with console.page("shop") as page, tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "again.png")
        file.write_bytes(sample("img/logo.png"))
        choose(page, file)
        shown(page, "again.png")
        first = digest(page, "img/again.png")
        file.write_bytes(sample("img/beach.jpg"))
        choose(page, file)
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("can be brought back for a while")
        dialog.get_by_role("button", name="Replace").click()
        expect(card(page, "again.png")).to_contain_text("1200 × 800")
        second = digest(page, "img/again.png")
        card(page, "again.png").get_by_role("button").click()
        dialog.get_by_text("Earlier versions (1)").click()
        versions = dialog.locator(".versions li")
        expect(versions).to_have_count(1)
        page.wait_for_function("() => document.querySelector('.versions img')?.naturalWidth > 0")
        # The link that sends the file is no skip link.
        assert [one for one in violations(page, "earlier versions") if "skip-link" not in one] == []
        dialog.get_by_role("button", name="Bring back").click()
        expect(dialog).to_have_count(0)
        expect(card(page, "again.png")).not_to_contain_text("1200 × 800")
        assert digest(page, "img/again.png") == first

        # Taken back at once, and from the list of what was removed.
        for step in ["toast", "list"]:
            card(page, "again.png").get_by_role("button").focus()
            page.keyboard.press("Delete")
            dialog.get_by_role("button", name="Remove").click()
            expect(card(page, "again.png")).to_have_count(0)
            if step == "toast":
                page.locator(".toast").get_by_role("button", name="Bring back").click()
            else:
                page.get_by_role("button", name="Removed files").click()
                row = dialog.locator("li").filter(has_text="again.png")
                expect(row).to_be_visible()
                found = [one for one in violations(page, "removed files") if "skip-link" not in one]
                assert found == [], found
                row.get_by_role("button", name="Bring back").click()
                expect(row).to_contain_text("Brought back.")
                page.keyboard.press("Escape")
            expect(card(page, "again.png")).to_have_count(1)
            assert digest(page, "img/again.png") == first
        assert second != first


def check_the_order_of_the_catalogue_is_remembered_and_the_servers_beyond_a_page(console):
    with console.page("shop") as page:
        shown(page, "beach.jpg")
        order = page.get_by_role("combobox", name="Order")
        order.select_option("Largest first")
        sizes = lambda: [asset["bytes"] for asset in page.evaluate("[...document.querySelectorAll('asset-card')].map(card => card.asset)")]
        until(lambda: len(sizes()) > 2 and sizes() == sorted(sizes(), reverse=True))
        page.reload()
        expect(order).to_have_value("largest")
        until(lambda: len(sizes()) > 2 and sizes() == sorted(sizes(), reverse=True))
        # Of a list that does not end with its first page, the server says what comes first.
        known = page.request.get(f"{SERVER}/api/assets", headers=basic("shop")).json()["assets"]
        page.route("**/api/assets?*", lambda route: route.fulfill(json={"assets": known, "next": "img/zzz"}))
        page.reload()
        expect(page.get_by_role("button", name="Show more")).to_be_visible()
        with page.expect_request(lambda request: "sort=newest" in request.url and "after" not in request.url):
            order.select_option("Newest first")


def check_a_file_beyond_the_first_page_is_found_and_chosen(console):
    with console.page("shop") as page:
        assets = page.request.get(f"{SERVER}/api/assets?state=ready&limit=1000", headers=basic("shop")).json()["assets"]
        # Of more than a thousand, the server gives a page first.
        page.route("**/api/assets?state=ready**", lambda route: route.fulfill(json={
            "assets": assets[1:] if "after=" in route.request.url else assets[:1], "next": None if "after=" in route.request.url else "more"}))
        show(page, "compose")
        page.get_by_role("button", name="Choose a file").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("searchbox").fill(assets[-1]["name"])
        dialog.locator(".picker button").filter(has_text=assets[-1]["name"]).click()
        expect(page.locator(".chosen")).to_contain_text(assets[-1]["name"])
        page.get_by_role("button", name="Start over").click()


def check_names_and_tags_are_offered_and_everybody_can_be_addressed(console):
    with console.page("shop") as page:
        page.request.put(f"{SERVER}/api/register/tagged-1", headers=basic("alina"), data=json.dumps(
            {"Platform": "apns", "Handle": "AB12", "Tags": ["newsletter"]}))
        show(page, "compose/img/beach.jpg")
        page.get_by_role("textbox", name="Message").fill("To all")
        field = page.get_by_role("combobox", name="Recipients", exact=True)
        offered = lambda: page.evaluate("""() => [...document.querySelectorAll("datalist[id^=names-] option")].map(option => option.value)""")
        field.fill("alice, ali")
        until(lambda: "alice, alina" in offered())
        assert "alice, alice" not in offered()
        page.get_by_label("Kind of recipients").select_option("Tags")
        field.fill("!newsl")
        until(lambda: offered() == ["!newsletter"])
        page.get_by_label("Kind of recipients").select_option("Everybody with a device")
        expect(page.locator(".audience + .hint, .audience ~ .hint")).to_contain_text("people")
        page.get_by_role("button", name="Send", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Send").click()
        page.wait_for_url(re.compile(r"sent/\d+$"))
        expect(page.locator(".facts-list").first).to_contain_text("Everybody with a device")
        receipts = page.request.get(f"{SERVER}/api/notifications/{page.url.split('/')[-1]}/receipts?user=alina", headers=basic("shop"))
        assert len(receipts.json()["receipts"]) == 1, receipts.text()


def check_people_change_their_own_password_and_stay_signed_in_here(console):
    with console.page("admin") as page:
        page.request.put(f"{SERVER}/api/users/petra", headers=basic("admin"), data=json.dumps(
            {"role": "publisher", "password": "correct horse"}))
    with console.page() as page:
        sign_in(page, "petra", "correct horse")
        expect(page.get_by_role("navigation")).to_be_visible()
        show(page, "account")
        page.get_by_role("button", name="Change the password").click()
        dialog = page.get_by_role("dialog")

        def change(old, new, again):
            dialog.get_by_label("Old password").fill(old)
            dialog.get_by_label("New password", exact=True).fill(new)
            dialog.get_by_label("New password again").fill(again)
            dialog.get_by_role("button", name="Change the password").click()

        change("correct horse", "battery staple", "battery stable")
        expect(dialog.get_by_role("alert")).to_contain_text("not the same")
        change("wrong horse", "battery staple", "battery staple")
        expect(dialog.get_by_role("alert")).to_contain_text("old password is wrong")
        change("correct horse", "battery staple", "battery staple")
        expect(dialog).to_have_count(0)
        expect(page.get_by_text("This browser")).to_be_visible()
    with console.page() as page:
        sign_in(page, "petra", "battery staple")
        expect(page.get_by_role("navigation")).to_be_visible()


def check_admins_read_who_did_what_and_save_it(console):
    with console.page("admin") as page:
        for role in ["device", "publisher"]:
            assert page.request.put(f"{SERVER}/api/users/rosa", headers=basic("admin"), data=json.dumps(
                {"role": role, "password": "correct horse"})).ok
        show(page, "people")
        page.get_by_role("link", name="Audit log").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Audit log")
        token = page.request.post(f"{SERVER}/api/tokens", headers=basic("admin"), data=json.dumps({"name": "ci", "user": "rosa"})).json()["id"]
        assert page.request.delete(f"{SERVER}/api/tokens/{token}", headers=basic("admin")).ok
        # The newest first; a change of the role and of the password are two.
        rows = page.locator("tbody tr")
        expect(rows.filter(has_text="Changed a role (Publisher)").filter(has_text="rosa").first).to_contain_text("admin")
        page.get_by_label("Person").fill("rosa")
        page.get_by_role("combobox", name="What", exact=True).select_option("People")
        expect(rows).to_have_count(3)
        expect(rows.last).to_contain_text("Added a person (Device)")
        page.get_by_label("From", exact=True).fill("2099-01-01")
        expect(page.get_by_text("Nothing was recorded.")).to_be_visible()
        page.get_by_role("combobox", name="What", exact=True).select_option("Access tokens")
        page.get_by_label("From", exact=True).fill("")
        # Hers, though an admin has removed it.
        expect(rows.first.get_by_role("cell")).to_have_text([
            re.compile("now|ago"), "admin", "Removed an access token", f"{token} (rosa)", "The name alone", re.compile(r"^[\d.:]+$")])
        page.get_by_role("combobox", name="What", exact=True).select_option("People")
        expect(rows).to_have_count(3)
        with page.expect_download() as saving:
            page.get_by_role("button", name="Save as JSON lines").click()
        assert saving.value.suggested_filename.endswith(".jsonl")
        with open(saving.value.path(), encoding="utf-8") as file:
            entries = [json.loads(line) for line in file]
        assert [entry["action"] for entry in entries] == ["user.password-changed", "user.role-changed", "user.added"], entries
        assert page.request.delete(f"{SERVER}/api/users/rosa", headers=basic("admin")).ok
        number = entries[0]["object"]["id"]
        page.get_by_label("Person").fill(number)
        page.get_by_label("Person").press("Enter")
        expect(rows.first).to_contain_text("Removed a person")
        expect(rows.first).to_contain_text(f"Removed user {number}")
    with console.page("shop") as page:
        show(page, "people/audit")
        expect(page.get_by_role("heading", level=1)).not_to_have_text("Audit log")


def read_code(page, dialog):
    """What a QR reader finds in the picture of a dialog."""
    with tempfile.NamedTemporaryFile(suffix=".png") as file:
        file.write(dialog.locator("svg.qr-code").screenshot())
        file.flush()
        return subprocess.run(["zbarimg", "--quiet", "--raw", file.name], capture_output=True, text=True).stdout.strip()


def use_code(code, **members):
    request = urllib.request.Request(f"{SERVER}/api/pair", json.dumps({"code": code} | members).encode())
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def check_a_phone_is_paired_by_a_picture_that_a_camera_reads(console):
    with console.page("admin") as page:
        show(page, "people")
        page.get_by_role("button", name="Pair a phone: admin").click()
        dialog = page.get_by_role("dialog", name="Pair a phone for admin")
        link = dialog.get_by_label("Or send this link").input_value()
        assert read_code(page, dialog) == link, link
        short = dialog.locator(".short-code").inner_text()
        violations = Axe().run(page).response["violations"]
        assert not violations, violations
        paired = use_code(short, name="Paired by hand")
        assert paired["user"] == "admin" and paired["token"], paired
        expect(dialog.get_by_role("status")).to_contain_text("was used")
        dialog.get_by_role("button", name="Close").click()
    with console.page("alice") as page:
        show(page, "account")
        page.get_by_role("button", name="Add a device").click()
        dialog = page.get_by_role("dialog", name="Add a device")
        expect(dialog.locator("svg.qr-code")).to_be_visible()
        dialog.get_by_role("button", name="Make another code").click()
        expect(dialog.locator("tbody tr")).to_have_count(2)
        code = dialog.get_by_label("Or send this link").input_value()[-22:]
        dialog.get_by_role("button", name="Revoke").first.click()
        expect(dialog.locator("tbody tr")).to_have_count(1)
        expect(dialog.locator("svg.qr-code")).to_have_count(0)
        try:
            use_code(code)
            raise AssertionError("a revoked code was used")
        except urllib.error.HTTPError as refused:
            assert refused.code == 410, refused.code
        dialog.get_by_role("button", name="Make another code").click()
        use_code(dialog.get_by_label("Or send this link").input_value()[-22:], name="Alice's new phone")
        expect(dialog.get_by_role("status")).to_contain_text("was used")
        dialog.get_by_role("button", name="Close").click()
        expect(page.get_by_role("cell", name="Alice's new phone", exact=True)).to_be_visible()


def check_an_access_token_is_made_shown_once_used_and_removed(console):
    def send(token, to):
        return page.request.post(f"{SERVER}/api/notifications", headers={"Authorization": f"Bearer {token}"}, data=json.dumps(
            {"message": "By a program.", "to": to})).status

    def add(page, name, opened):
        page.get_by_role("button", name="Add an access token", exact=True).last.click()
        dialog = page.get_by_role("dialog", name=opened)
        dialog.get_by_label("Name").fill(name)
        dialog.get_by_label("Only to these tags").fill("username:alice news")
        dialog.get_by_label("May see who").check()
        dialog.get_by_label("Most notifications a minute").fill("2")
        dialog.get_by_role("button", name="Add an access token").click()
        shown = page.get_by_role("dialog", name=f"The access token {name}")
        token = shown.get_by_label("Token").input_value()
        assert re.fullmatch(r"rpt_[\w-]{43}", token), token
        violations = Axe().run(page).response["violations"]
        assert not violations, violations
        shown.get_by_role("button", name="Close").click()
        assert token not in page.content()
        return token

    with console.page("tilda") as page:
        show(page, "account")
        expect(page.get_by_text("There is no access token.")).to_be_visible()
        token = add(page, "ci", "Add an access token")
        rows = page.get_by_role("region", name="Access tokens").locator("tbody tr")
        expect(rows).to_contain_text("send to username:alice, news; see who has read it; 2 a minute")
        expect(rows.get_by_role("cell").nth(3)).to_have_text("Never")
        assert [send(token, to) for to in (["username:alice"], ["username:bob"], ["username:alice"], ["username:alice"])] == [
            201, 403, 201, 429]
        show(page, "catalogue")
        show(page, "account")
        expect(rows.get_by_role("cell").nth(3)).to_contain_text("127.0.0.1")
        # A name can be there once.
        page.get_by_role("button", name="Add an access token").click()
        dialog = page.get_by_role("dialog", name="Add an access token")
        dialog.get_by_label("Name").fill("ci")
        dialog.get_by_role("button", name="Add an access token").click()
        expect(dialog.get_by_role("alert")).to_contain_text("already")
        expect(dialog.get_by_label("May read how the server is")).to_have_count(0)
        dialog.get_by_role("button", name="Cancel").click()
    with console.page("admin") as page:
        show(page, "people")
        page.get_by_role("button", name="Change: tilda").click()
        page.get_by_role("dialog").get_by_role("button", name="Access tokens").click()
        dialog = page.get_by_role("dialog", name="Access tokens of tilda")
        expect(dialog.locator("tbody tr")).to_have_count(1)
        second = add(page, "backup", "Add an access token for tilda")
        expect(dialog.locator("tbody tr")).to_have_count(2)
        for name in ["ci", "backup"]:
            dialog.get_by_role("button", name=f"Remove: {name}").click()
            page.get_by_role("dialog", name=f"Remove {name}?").get_by_role("button", name="Remove").click()
            expect(dialog.get_by_role("button", name=f"Remove: {name}")).to_have_count(0)
        assert [send(token, ["username:alice"]), send(second, ["username:alice"])] == [401, 401]


def check_a_webhook_is_made_called_replayed_and_removed(console):
    def call(address, event):
        return page.request.post(address, data=json.dumps(event)).status

    with console.page("tilda") as page:
        show(page, "account")
        expect(page.get_by_text("There is no webhook.")).to_be_visible()
        page.get_by_role("button", name="Add a webhook", exact=True).click()
        dialog = page.get_by_role("dialog", name="Add a webhook")
        dialog.get_by_label("Name").fill("door")
        dialog.get_by_role("combobox", name="Template", exact=True).select_option("Own")
        template = dialog.get_by_label("Own template (JSON)")
        template.fill("{")
        dialog.get_by_label("To these tags").fill("username:alice username:bob")
        dialog.get_by_role("button", name="Add a webhook").click()
        expect(dialog.get_by_role("alert")).to_have_text("The template is not JSON.")
        template.fill('{"notification": {"title": "{{t}}", "to": ["{{to|username:alice}}"]}}')
        violations = Axe().run(page).response["violations"]
        assert not violations, violations
        dialog.get_by_role("button", name="Add a webhook").click()
        shown = page.get_by_role("dialog", name="The webhook door")
        address = shown.get_by_label("Address").input_value()
        assert re.fullmatch(re.escape(SERVER) + r"/api/in/rpt_[\w-]{43}", address), address
        shown.get_by_role("button", name="Close").click()
        assert address not in page.content()
        rows = page.get_by_role("region", name="Webhooks").locator("tbody tr")
        expect(rows).to_contain_text("username:alice, username:bob")
        assert [call(address, event) for event in ({"t": "Ding"}, {"t": "Dong", "to": "username:carol"}, {})] == [200, 403, 422]
        show(page, "catalogue")
        show(page, "account")
        expect(rows).to_contain_text("127.0.0.1")
        rows.get_by_role("button", name="Failed: 2").click()
        failed = page.get_by_role("dialog", name="Failed deliveries to door")
        expect(failed.locator("tbody tr")).to_have_count(2)
        expect(failed).to_contain_text("“username:carol”")
        failed.get_by_role("button", name="Replay").first.click()
        expect(page.locator(".toast")).to_contain_text("says nothing")
        failed.get_by_role("button", name="Close").click()
    with console.page("admin") as page:
        show(page, "people")
        page.get_by_role("button", name="Change: tilda").click()
        page.get_by_role("dialog").get_by_role("button", name="Access tokens").click()
        dialog = page.get_by_role("dialog", name="Access tokens of tilda")
        dialog.get_by_role("button", name="Remove: door").click()
        page.get_by_role("dialog", name="Remove door?").get_by_role("button", name="Remove").click()
        expect(dialog.get_by_text("There is no webhook.")).to_be_visible()
        assert call(address, {"t": "Ding"}) == 404


def check_the_page_opens_without_an_error_and_names_the_account_of_the_demonstration(console):
    with console.page() as page:
        errors = []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(SERVER + "/console/")
        expect(page.get_by_text("sign in as admin with the password admin")).to_be_visible()
        sign_in(page, "admin")
        assert not errors, errors


def check_the_absence_of_the_server_is_said_and_its_return(console):
    with console.page("shop") as page:
        send(page, "shop", "Listed before")
        show(page, "sent")
        # A list that could not be read says so itself.
        expect(entry(page, "Listed before")).to_be_visible()
        page.context.set_offline(True)
        page.get_by_role("searchbox").fill("x")
        banner = page.get_by_role("alert").filter(has_text="does not respond")
        expect(banner).to_be_visible()
        page.context.set_offline(False)
        expect(banner).to_have_count(0)
        # What a proxy says in its place is no answer.
        page.route("**/api/notifications?**", lambda route: route.fulfill(status=502, body="Bad Gateway"))
        page.get_by_role("searchbox").fill("y")
        expect(page.locator(".toast")).to_have_text("The server does not respond.")
        # A stream that has ended for good comes back, and a session that has ended shows the form.
        number = send(page, "shop", "Told of by the new stream")
        show(page, f"sent/{number}")
        page.request.get(f"{SERVER}/api/notifications/{number}", headers=basic("alice"))
        expect(page.locator(".funnel [data-part=fetched] strong")).to_have_text("1")
        ended = page.request.get(f"{SERVER}/api/session", headers=basic("shop")).json()["sessions"]
        for one in ended:
            page.request.delete(f"{SERVER}/api/session/{one['id']}", headers=basic("shop"))
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def check_in_every_dialog_what_it_is_for_comes_last(console):
    with console.page("admin") as page:
        for address, button in [("people", "Add a person"), ("people", "Remove: shop")]:
            show(page, address)
            page.get_by_role("button", name=button).click()
            names = page.get_by_role("dialog").locator(".actions button").all_inner_texts()
            assert names[0] == "Cancel" and len(names) == 2, names
            page.keyboard.press("Escape")


def check_a_person_who_is_added_takes_nobodys_place(console):
    with console.page("admin") as page:
        users = lambda: {one["username"]: one["role"] for one in page.request.get(
            f"{SERVER}/api/users?limit=500", headers=basic("admin")).json()["users"]}
        # In the demonstration a name becomes a user when it is first used.
        page.request.get(f"{SERVER}/api/session", headers=basic("shop"))
        before = users()
        show(page, "people")
        page.get_by_role("button", name="Add a person").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("shop")
        dialog.get_by_label("Password").fill("another password")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_role("alert")).to_have_text("There is already a person called shop.")
        assert users() == before


def check_nothing_is_left_after_signing_out(console):
    with console.page("shop") as page:
        show(page, "sent")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        for _ in range(2):
            page.go_back()
            page.wait_for_load_state()
            expect(page.locator("nav, asset-card, .sent-list")).to_have_count(0)


def check_who_could_not_be_signed_out_is_told(console):
    with console.page("shop") as page:
        show(page, "sent")
        for failure in [{"status": 502, "body": "Bad Gateway"}, {"status": 503, "json": {"detail": "The database is away."}}]:
            page.route("**/api/session", lambda route: route.fulfill(**failure))
            page.get_by_role("button", name="Sign out").click()
            expect(page.locator(".toast")).to_contain_text("You are still signed in.")
            page.unroute("**/api/session")
            expect(page.locator(".sent-list")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def check_answers_are_listed_as_they_come_and_a_text_is_displayed_not_fetched(console):
    with console.page("shop") as page:
        sent = page.request.post(
            f"{SERVER}/api/notifications", headers=basic("shop"), data=json.dumps(
                {"title": "Coming?", "to": ["username:dora", "username:emil"], "actions": [
                    {"id": "yes", "label": "Yes"}, {"id": "answer", "label": "Reply", "input": "Your answer"}]})).json()
        show(page, f"sent/{sent['id']}")
        answers = page.locator("section").filter(has=page.get_by_role("heading", name="Answers"))
        expect(answers).to_contain_text("Nobody has pressed a button or replied.")
        page.request.put(f"{SERVER}/api/register/doras", headers=basic("dora"), data=json.dumps({"Platform": "apns", "Handle": "D0"}))
        token = page.request.post(f"{SERVER}/api/register/doras/token", headers=basic("dora")).json()["token"]
        for report in [{"event": "displayed"}, {"event": "action", "action": "yes"},
                       {"event": "reply", "action": "answer", "text": "On my way", "key": "a"}]:
            answer = page.request.post(
                f"{SERVER}/api/notifications/{sent['id']}/interactions", headers={"Authorization": f"Bearer {token}"}, data=json.dumps(report))
            assert answer.ok, answer.text()
        expect(answers.locator("tbody tr")).to_have_count(2)
        expect(answers.locator("tbody")).to_contain_text("On my way")
        expect(answers.locator("tbody")).to_contain_text("dora")
        expect(page.locator("counts-bar")).to_have_text("1 of 2 displayed · 1 pressed a button · 1 reply · 1 queued")
        expect(page.locator(".funnel [data-part=displayed] strong")).to_have_text("1")
        expect(page.locator(".tiles [data-step=replies] .big")).to_have_text("1")
        expect(page.locator(".funnel [data-part=fetched]")).to_have_count(0)
        expect(page.locator(".timeline")).to_contain_text("First displayed")


def part(page, step):
    """The number of people of a step, and its share of all, as the page has it."""
    return " ".join(page.locator(f".funnel [data-part={step}] > :nth-child(n+4)").all_inner_texts())


def check_chart_bars_tables_and_exports_have_the_numbers_of_the_receipts_as_they_come(console):
    readers = [f"reader{number}" for number in range(4)]
    with console.page("vera") as page:
        for number, reader in enumerate(readers[:3]):
            page.request.put(f"{SERVER}/api/register/phone-{reader}", headers=basic(reader), data=json.dumps(
                {"Platform": ["apns", "apns", "fcm"][number], "Handle": f"C{number}", "Language": ["de-CH", "de", "en"][number]}))
        sent = send(page, "vera", "Chart", to=[f"username:{reader}" for reader in readers])
        segment = f"{SERVER}/api/segments/half"
        page.request.put(segment, headers=basic("vera"), data=json.dumps({"to": ["username:reader0", "username:reader3"]}))
        show(page, f"sent/{sent}")
        expect(page.get_by_role("heading", name="What became of it")).to_be_visible()
        expect(page.locator(".funnel [data-part=recipients]")).to_contain_text("4")
        for count, reader in enumerate(readers[:3], 1):
            page.request.get(f"{SERVER}/api/notifications/{sent}", headers=basic(reader))
            # While it is open, without a reload.
            expect(page.locator(".funnel [data-part=fetched] strong")).to_have_text(f"{count}")
        page.request.put(f"{SERVER}/api/notifications/{sent}/read", headers=basic(readers[0]))
        expect(page.locator(".funnel [data-part=read] strong")).to_have_text("1")
        assert part(page, "fetched") == "3 75%" and part(page, "recipients") == "4 100%", part(page, "fetched")
        chart = page.get_by_role("img", name="How far it has come, over time")
        expect(chart).to_be_visible()
        assert "Fetched 3" in chart.locator("desc").text_content(), chart.locator("desc").text_content()
        # By keyboard, the numbers of the lines.
        numbers = page.locator("line-chart summary")
        numbers.focus()
        page.keyboard.press("Enter")
        row = page.locator("line-chart tbody tr").last
        expect(row).to_be_visible()
        fetched = page.locator("line-chart thead th").all_inner_texts().index("Fetched")
        expect(row.locator("td").nth(fetched)).to_have_text("3")
        platforms = page.get_by_role("region", name="By platform")
        expect(platforms.locator("tbody tr")).to_have_count(3)
        expect(platforms.locator("tbody tr").filter(has_text="iOS")).to_contain_text("2 (100%)")
        expect(page.get_by_role("region", name="By language").locator("tbody tr").filter(has_text="German")).to_contain_text("2 (100%)")
        expect(page.get_by_role("region", name="Why some are not reached")).to_contain_text("No device is registered")
        # The people of a segment alone.
        among = page.get_by_role("combobox", name="Among")
        among.select_option("half")
        expect(page.locator(".funnel [data-part=recipients] strong")).to_have_text("2")
        assert part(page, "fetched") == "1 50%", part(page, "fetched")
        among.select_option("All recipients")
        expect(page.locator(".funnel [data-part=recipients] strong")).to_have_text("4")
        page.request.delete(segment, headers=basic("vera"))
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        table = list(csv.DictReader(io.StringIO(download.value.path().read_text("utf-8-sig"))))
        assert len(table) == 4 and sum(bool(row["fetched"]) for row in table) == 3 and sum(bool(row["read"]) for row in table) == 1, table
        show(page, "sent")
        page.get_by_role("link", name="By week").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("By week")
        expect(page.locator("tbody tr")).to_have_count(12)
        columns = page.locator("thead th").all_inner_texts()
        cells = page.locator("tbody tr").first.locator("td").all_inner_texts()
        week = dict(zip(columns, cells))
        assert (week["Notifications"], week["Recipients"], week["Fetched"], week["Read"]) == ("1", "4", "3", "1"), week
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        table = list(csv.DictReader(io.StringIO(download.value.path().read_text("utf-8-sig"))))
        assert len(table) == 12 and table[-1]["fetched"] == "3", table[-1]
        page.get_by_role("combobox", name="How many weeks").select_option("The last 4 weeks")
        expect(page.locator("tbody tr")).to_have_count(4)
        page.request.delete(f"{SERVER}/api/notifications/{sent}", headers=basic("vera"))
        show(page, "sent")
        expect(entry(page, "Chart").locator(".state")).to_have_text("Withdrawn")


def check_receipts_are_filtered_and_searched(console):
    with console.page("shop") as page:
        sent = page.request.post(
            f"{SERVER}/api/notifications", headers=basic("shop"), data=json.dumps(
                {"message": "To three", "richType": "img", "payload": "beach.jpg",
                 "to": ["username:anna", "username:berta", "username:carla"]})).json()
        show(page, f"sent/{sent['id']}")
        people = page.get_by_role("region", name="People")
        expect(people.locator("tbody tr")).to_have_count(3)
        # Within the two seconds in which the page does not read again.
        page.request.get(f"{SERVER}/api/notifications/{sent['id']}", headers=basic("berta"))
        expect(page.locator(".timeline")).to_contain_text("First fetched")
        expect(page.locator(".funnel [data-part=fetched] strong")).to_have_text("1")
        page.get_by_role("combobox", name="State").first.select_option("Fetched")
        expect(people.locator("tbody tr")).to_have_count(1)
        expect(people.locator("tbody")).to_contain_text("berta")
        page.get_by_role("combobox", name="State").first.select_option("All states")
        page.get_by_role("searchbox", name="Name").fill("carla")
        expect(people.locator("tbody tr")).to_have_count(1)
        expect(people.locator("tbody")).to_contain_text("carla")


def check_devices_are_listed_and_ended_by_their_user_and_by_an_administrator(console):
    def register(user, *devices):
        for device in devices:
            answer = page.request.put(
                f"{SERVER}/api/register/{device}", headers=basic(user), data=json.dumps(
                    {"Platform": "apns", "Handle": device.encode().hex(), "Name": f"{device} of {user}"}))
            assert answer.ok, answer.text()

    with console.page("ilse") as page:
        register("ilse", "phone-1", "planted-1")
        show(page, "account")
        rows = page.get_by_role("region", name="Your devices").locator("tbody tr")
        expect(rows).to_have_count(2)
        page.get_by_role("button", name="End: planted-1 of ilse").click()
        page.get_by_role("dialog").get_by_role("button", name="End").click()
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("phone-1 of ilse")
    with console.page("admin") as page:
        register("jule", "phone-2", "planted-2")
        show(page, "people")
        page.get_by_role("button", name="Devices: jule").click()
        dialog = page.get_by_role("dialog", name="Devices of jule")
        rows = dialog.locator("tbody tr")
        expect(rows).to_have_count(2)
        dialog.get_by_role("button", name="End: planted-2 of jule").click()
        page.get_by_role("dialog", name="End planted-2").get_by_role("button", name="End").click()
        expect(rows).to_have_count(1)
        dialog.get_by_role("checkbox").check()
        dialog.get_by_role("button", name="Sign out everywhere").click()
        expect(rows).to_have_count(0)
        # Outside of the dialog a screen reader would not hear it.
        expect(dialog.get_by_role("status")).to_have_text("jule is signed out everywhere.")


def check_attributes_of_people_are_imported_after_a_look_at_the_lines_that_are_wrong(console):
    def attributes(user):
        return page.request.get(f"{SERVER}/api/users/{user}/attributes", headers=basic("admin")).json()

    def choose(*lines):
        dialog.get_by_label("CSV file").set_input_files(
            {"name": "people.csv", "mimeType": "text/csv", "buffer": "\r\n".join(lines).encode()})

    with console.page("admin", viewport={"width": 390, "height": 800}) as page:
        for user in ["alice", "bob"]:
            page.request.get(f"{SERVER}/api/session", headers=basic(user))
        before = {user: attributes(user) for user in ["alice", "bob"]}
        show(page, "people")
        page.get_by_role("button", name="Import", exact=True).click()
        dialog = page.get_by_role("dialog", name="Import what is known of people (CSV)")
        expect(dialog.get_by_role("button", name="Import 0 people")).to_be_disabled()
        choose("name", "x")
        expect(dialog.get_by_role("alert")).to_contain_text("no column “username”")
        expect(dialog.get_by_role("button", name="Save the report")).to_be_hidden()
        choose("username;shoe", "alice;42", '"' + HOSTILE.replace('"', '""') + '";1', 'bob;"43', 'wide"', "no.body;1")
        expect(dialog.get_by_role("status")).to_have_text(
            "2 people will change, 0 already have these attributes, 2 lines will be left out.")
        wrong = dialog.locator("tbody tr")
        expect(wrong).to_have_count(2)
        expect(wrong.first).to_contain_text(HOSTILE)
        expect(wrong.last).to_contain_text("There is no user “no.body”")
        assert dialog.locator(".actions button").all_inner_texts() == ["Cancel", "Save the report", "Import 2 people"]
        findings = violations(page, "import")
        assert not findings, findings
        for box in dialog.locator("button, td").evaluate_all("all => all.map(one => one.getBoundingClientRect())"):
            assert 0 <= box["left"] and box["right"] <= 390, box
        with page.expect_download() as download:
            dialog.get_by_role("button", name="Save the report").click()
        assert download.value.suggested_filename == "people-report.csv"
        table = list(csv.DictReader(io.StringIO(download.value.path().read_text("utf-8-sig"))))
        assert [(row["line"], row["result"]) for row in table] == [
            ("2", "changed"), ("3", "refused"), ("4", "changed"), ("6", "refused")], table
        assert {user: attributes(user) for user in before} == before, "nothing has changed yet"
        dialog.get_by_role("button", name="Import 2 people").click()
        expect(page.locator(".toast")).to_have_text("2 people changed, 2 lines left out.")
        expect(dialog).to_have_count(0)
        assert [attributes(user) for user in before] == [{"shoe": "42"}, {"shoe": "43\r\nwide"}]
        for user, values in before.items():
            page.request.put(f"{SERVER}/api/users/{user}/attributes", headers=basic("admin"), data=json.dumps(values))


def check_more_people_are_added_below_and_the_focus_stays(console):
    with console.page("admin") as page:
        for number in range(165):
            page.request.get(f"{SERVER}/api/session", headers=basic(f"user-{number:03}"))
        show(page, "people")
        rows = page.get_by_role("region", name="People").locator("tbody tr")
        more = page.get_by_role("button", name="Show more")
        expect(rows).to_have_count(50)
        first = rows.first.inner_text()
        more.focus()
        page.keyboard.press("Enter")
        expect(rows).to_have_count(150)
        expect(more).to_be_focused()
        assert rows.first.inner_text() == first
        page.keyboard.press("Enter")
        expect(more).to_be_hidden()
        expect(rows.nth(150)).to_be_focused()
        names = [cell.split("\t")[0] for cell in rows.all_inner_texts()]
        assert names == sorted(set(names)), "each once, by name"


def check_a_plugin_that_fails_is_shown_with_what_it_wrote(console):
    plugin = pathlib.Path(ASSETS, "../plugins/note")
    plugin.write_text(f"#!/bin/sh\necho '{HOSTILE}' >&2; exit 3\n")
    plugin.chmod(0o755)
    with console.page("admin") as page:
        new = {"message": "m", "richType": "note", "payload": "p", "to": ["username:bob"]}

        def failed():
            answer = page.request.post(f"{SERVER}/api/notifications", headers=basic("shop"), data=json.dumps(new))
            return answer.status == 502

        until(failed)
        show(page, "plugins")
        panel = page.locator("section.panel").filter(has=page.get_by_role("heading", name="note"))
        expect(panel.locator("summary")).to_contain_text("Last failure now")
        expect(panel).to_contain_text("it exited with status 3")
        expect(panel.locator("pre")).to_have_text(HOSTILE)
        assert page.locator("main img[src='x']").count() == 0


def until(condition):
    deadline = time.monotonic() + PATIENCE / SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it does not become true"
        time.sleep(0.05)


def check_whether_the_server_is_ready_is_shown_with_the_reason(console):
    with console.page("admin") as page:
        show(page, "services")
        ready = page.get_by_label("Readiness")
        expect(ready).to_contain_text("Serving devices")
        expect(ready.locator("[data-state=ready]")).to_have_count(2)
        found = page.request.get(f"{SERVER}/api/status", headers=basic("admin")).json()
        found["attention"] = [attention("disk.full", "problem", name="/srv"), attention("token", "warning", name="ci", user="shop")]
        page.route("**/api/status", lambda route: route.fulfill(json=found))
        page.route("**/readyz?for=publishing", lambda route: route.fulfill(status=503, json={"detail": "It is full."}))
        expect(ready).to_contain_text("The disk of /srv is full")
        expect(ready.locator("[data-state=ready]")).to_have_count(1)
        expect(ready.locator("[data-state=problem]")).to_have_count(2)
        assert "ci" not in ready.inner_text(), "what has nothing to do with it is on the first page"


def attention(code, level, **members):
    """An element of what needs attention, as the server sends it."""
    return dict.fromkeys(["name", "user", "count", "since", "until", "reason"]) | {"code": code, "level": level, "text": f"Of {code}."} | members


def check_admins_begin_where_what_needs_attention_is_said_as_it_changes(console):
    with console.page("shop") as page:
        expect(page.get_by_role("heading", level=1)).to_have_text("Catalogue")
        assert page.get_by_role("link", name="Status").count() == 0
    with console.page() as page:
        found = page.request.get(f"{SERVER}/api/status", headers=basic("admin")).json()
        shown = {**found, "attention": []}
        page.route("**/api/status", lambda route: route.fulfill(json=shown))
        sign_in(page, "admin")
        expect(page.get_by_role("heading", level=1)).to_have_text("Status")
        expect(page.get_by_text("Nothing needs attention.")).to_be_visible()
        expect(page.locator(".tiles .panel")).to_have_count(5)
        expect(page.get_by_label("The server")).to_contain_text(found["server"]["version"])
        # Without a reload, and with the way to what mends it.
        shown["attention"] = [
            attention("lane.paused", "problem", name="apns", reason=f"{HOSTILE}."),
            attention("certificate.expires", "warning", name="/etc/tls.pem", until="2026-12-24T12:00:00Z"),
            attention("later.version", "warning")]
        said = page.get_by_label("Needs attention")
        expect(said.get_by_role("listitem")).to_have_count(3)
        for text in [f"Pushes to apns are paused ({HOSTILE})", "/etc/tls.pem expires on 24 Dec 2026", "Of later.version."]:
            expect(said).to_contain_text(text)
        # While the database does not respond.
        shown["records"] = None
        expect(page.get_by_text("The database does not respond.")).to_be_visible()
        said.get_by_role("link", name="Push services").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Push services")
    with console.page(locale="de-DE", viewport={"width": 390, "height": 800}) as page:
        page.route("**/api/status", lambda route: route.fulfill(json=found | {"attention": [
            attention("lane.slow", "warning", name="apns", count=2, since="2026-12-24T12:00:00Z")]}))
        page.goto(SERVER + "/console/")
        page.get_by_label("Name").fill("admin")
        page.get_by_label("Passwort").fill("admin")
        page.get_by_role("button", name="Anmelden").click()
        expect(page.get_by_label("Zu tun")).to_contain_text("2 Zustellungen warten auf apns, die älteste seit 24.12.2026")
        # What is paused is resumed by a button, which covers nothing.
        lane = {"name": "apns", "state": "paused", "reason": "403 InvalidProviderToken", "until": "2026-12-24T12:00:00Z", "queued": 3,
                "oldestWaiting": None, "sent": 1, "failed": 0, "retried": 0}
        page.route("**/api/lanes", lambda route: route.fulfill(json={"lanes": [lane]}))
        show(page, "services")
        button = page.get_by_role("button", name="Fortsetzen: apns").bounding_box()
        reason = page.get_by_text("403 InvalidProviderToken").last.bounding_box()
        assert button["y"] + button["height"] <= reason["y"], (button, reason)
        page.set_viewport_size({"width": 1440, "height": 900})
        role, out = page.locator(".who small").bounding_box(), page.get_by_role("button", name="Abmelden").bounding_box()
        assert role["x"] + role["width"] <= out["x"] or role["y"] + role["height"] <= out["y"], (role, out)


def check_stored_scripts_are_text_everywhere(console):
    with console.page("admin") as page:
        sent = page.request.post(
            f"{SERVER}/api/notifications", headers=basic("shop"), data=json.dumps(
                {"message": HOSTILE, "title": HOSTILE, "subtitle": HOSTILE, "actions": [{"id": "a", "label": HOSTILE}], "data": {HOSTILE: HOSTILE},
                 "richType": "img", "payload": "beach.jpg", "to": ["username:bob"]}))
        assert sent.status == 201, sent.text()
        page.request.put(
            f"{SERVER}/api/register/x%3Cimg%20src%3Dx%20onerror%3Dhit%3D1%3E", headers=basic("bob"),
            data=json.dumps({"Platform": "apns", "Handle": "C0FFEE", "Tags": [HOSTILE]}))
        pathlib.Path(ASSETS, "img/<img src=x onerror=hit=1>.png").write_bytes(sample("img/logo.png"))
        show(page, "catalogue")
        expect(card(page, "<img src=x onerror=hit=1>.png")).to_be_visible()
        for screen in ["status", "catalogue", "compose", "sent", "services", "plugins", "people"]:
            show(page, screen)
            page.wait_for_load_state("networkidle") if False else page.wait_for_timeout(200)
            assert page.locator("main img[src='x']").count() == 0, screen
        for screen in ["sent", "compose/again"]:
            show(page, f"{screen}/{sent.json()['id']}")
            expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE if screen == "sent" else "Compose")
            expect(page.locator(".facts-list" if screen == "sent" else ".devices figure").first).to_contain_text(HOSTILE)


def foreign_site(text):
    """A server of another origin, whose pages all have this text."""
    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    site = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    return site


def check_no_other_page_may_frame_it(console):
    site = foreign_site(f'<link rel=icon href=data:,><iframe src="{SERVER}/console/"></iframe>')
    with console.page("shop") as page:
        page.goto(f"http://127.0.0.1:{site.server_port}/")
        page.wait_for_load_state("networkidle")
        texts = [frame.locator("body").inner_text() for frame in page.frames if frame != page.main_frame]
        console.messages.clear()  # the browser says that it refused
        assert all("Sign" not in text and "Catalogue" not in text for text in texts), texts
    site.shutdown()


FORGED = """
async server => {
  const secret = JSON.stringify({ message: "forged", richType: "img", payload: "beach.jpg", to: ["username:bob"] });
  const json = { "Content-Type": "application/json" };
  const user = JSON.stringify({ role: "admin", password: "correct horse" });
  const wait = (work) => Promise.race([Promise.resolve(work).catch(() => {}), new Promise((done) => setTimeout(done, 1500))]);
  const ask = (path, options) => fetch(server + path, { credentials: "include", ...options });
  const loaded = (tag, properties) => new Promise((done) => {
    const element = Object.assign(document.createElement(tag), properties, { onload: done, onerror: done });
    document.body.append(element);
  });
  const form = (path, method, enctype, fields) => new Promise((done) => {
    const frame = Object.assign(document.createElement("iframe"), { name: `f${Math.random()}`, onload: done });
    const form = Object.assign(document.createElement("form"), { action: server + path, method, enctype, target: frame.name });
    for (const [name, value] of Object.entries(fields)) form.append(Object.assign(document.createElement("input"), { name, value }));
    document.body.append(frame, form);
    form.submit();
  });
  const xhr = (method, path, body) => new Promise((done) => {
    const request = new XMLHttpRequest();
    request.open(method, server + path);
    request.withCredentials = true;
    request.onloadend = done;
    request.send(body);
  });
  const asText = { ["{\\"message\\":\\"forged\\",\\"richType\\":\\"img\\",\\"payload\\":\\"beach.jpg\\",\\"to\\":[\\"username:bob\\"],\\"x"]: "\\":1}" };
  const all = [
    () => ask("/api/notifications", { method: "POST", mode: "no-cors", body: secret }),
    () => ask("/api/notifications", { method: "POST", mode: "no-cors", body: new URLSearchParams({ message: "forged" }) }),
    () => ask("/api/notifications", { method: "POST", mode: "no-cors", keepalive: true, body: secret }),
    () => ask("/api/notifications", { method: "POST", headers: json, body: secret }),
    () => ask("/api/notifications?pns=apns&to_tag=bob", { method: "POST", mode: "no-cors", body: '"forged"' }),
    () => ask("/api/notifications", { method: "POST", mode: "no-cors" }),
    () => ask("/api/notifications/0", { method: "DELETE" }),
    () => ask("/api/notifications/0", { method: "PATCH", headers: json, body: '{"message":"forged"}' }),
    () => ask("/api/assets/img/beach.jpg", { method: "DELETE" }),
    () => ask("/api/assets/img/forged.png", { method: "PUT", body: "x" }),
    () => ask("/api/users/forged", { method: "PUT", headers: json, body: user }),
    () => ask("/api/users/shop/tokens", { method: "DELETE" }),
    () => ask("/api/session", { method: "DELETE" }),
    () => ask("/api/session", { method: "POST", mode: "no-cors", body: '{"username":"mallory","password":"mallory"}' }),
    () => ask("/api/outbox/replay", { method: "POST", mode: "no-cors" }),
    () => xhr("POST", "/api/notifications", secret),
    () => xhr("PUT", "/api/users/forged", user),
    () => Promise.resolve(navigator.sendBeacon(server + "/api/notifications", secret)),
    () => form("/api/notifications", "post", "text/plain", asText),
    () => form("/api/notifications", "post", "application/x-www-form-urlencoded", { message: "forged", to_tag: "bob" }),
    () => form("/api/notifications", "post", "multipart/form-data", { message: "forged" }),
    () => form("/api/session", "post", "text/plain", { '{"username":"mallory","password":"mallory","x': '":1}' }),
    () => form("/api/notifications", "get", "text/plain", { sent: "" }),
    () => loaded("img", { src: server + "/api/assets/img/beach.jpg/media" }),
    () => loaded("script", { src: server + "/api/session" }),
    () => loaded("iframe", { src: server + "/api/users" }),
    () => new Promise((done) => { new EventSource(server + "/api/events/stream?counts", { withCredentials: true }).onerror = done; }),
    () => new Promise((done) => { const socket = new WebSocket(server.replace("http", "ws") + "/api/events/stream"); socket.onerror = socket.onclose = done; }),
    async () => { if ((await ask("/api/session")).ok) window.read = true; },
  ];
  await Promise.all(all.map((one) => wait(one())));
  return all.length;
}
"""


def check_requests_that_a_foreign_page_forges_change_nothing(console):
    site = foreign_site("<!doctype html><link rel=icon href=data:,><body>")
    with console.page("admin") as page:
        page.request.post(
            f"{SERVER}/api/notifications", headers=basic("shop"), data=json.dumps(
                {"message": "Mine", "richType": "img", "payload": "beach.jpg", "to": ["username:bob"]}))

        def state():
            get = lambda path: page.evaluate("async path => (await fetch(path)).text()", path)
            show(page, "account")
            session = json.loads(get("/api/session"))
            assets = json.loads(get("/api/assets?limit=1000"))["assets"]
            users = json.loads(get("/api/users?limit=500"))["users"]
            sent = json.loads(get("/api/notifications?sent&sender=*&limit=500"))["notifications"]
            return {
                "user": session["username"], "session": session["current"], "sessions": [one["id"] for one in session["sessions"]],
                "assets": [(one["richType"], one["name"], one.get("sha256")) for one in assets],
                "users": [(one["username"], one["role"]) for one in users],
                "sent": [(one["id"], one["message"], one["state"]) for one in sent]}

        before = state()
        # Another port of this machine is the same site, so the browser sends the cookie along; localhost is another site.
        for host in ["127.0.0.1", "localhost"]:
            tab = page.context.new_page()
            tab.goto(f"http://{host}:{site.server_port}/")
            number = tab.evaluate(FORGED, SERVER)
            assert number >= 20, number
            assert tab.evaluate("window.read") is None, f"{host} could read"
            tab.close()
            # A page that is left by its own form, a link and a redirect.
            for way in [
                f"location.href = '{SERVER}/api/session'",
                f"document.body.innerHTML = '<a href={SERVER}/console/#sent>x</a>'; document.querySelector('a').click()",
                f"document.body.innerHTML = '<form method=post action={SERVER}/api/notifications></form>'; document.forms[0].submit()",
            ]:
                tab = page.context.new_page()
                tab.goto(f"http://{host}:{site.server_port}/")
                with tab.expect_request(lambda request: request.url.startswith(SERVER)):
                    tab.evaluate(way)
                # It ends in Chromium's question for a password, which no event tells.
                tab.wait_for_timeout(300)
                tab.close()
            console.messages.clear()  # the browser says what it refused
            after = state()
            assert after == before, {name: (before[name], after[name]) for name in before if before[name] != after[name]}
    site.shutdown()


def check_a_publisher_signs_out_another_browser(console):
    with console.page("shop") as other, console.page("shop") as page:
        page.get_by_role("link", name="shop").click()
        end = page.get_by_role("button", name="Sign out there")
        expect(end.first).to_be_visible()
        while end.count():
            left = end.count()
            end.first.click()
            expect(end).to_have_count(left - 1)
        other.reload()
        expect(other.get_by_role("button", name="Sign in")).to_be_visible()
        expect(page.get_by_text("This browser")).to_be_visible()


SCREENS = {
    "status": ("status", ".tiles"), "catalogue": ("catalogue", "asset-card"), "compose": ("compose/img/beach.jpg", ".devices figure"),
    "sent": ("sent", ".sent-list li"), "weeks": ("sent/weeks", "table"), "services": ("services", "section"), "plugins": ("plugins", "section"),
    "people": ("people", "table"), "audit": ("people/audit", "table"), "account": ("account", "table"),
}


def check_axe_finds_nothing_in_both_schemes(console):
    findings = []
    for scheme in ["light", "dark"]:
        with console.page(color_scheme=scheme, reduced_motion="reduce") as page:
            page.goto(SERVER + "/console/")
            expect(page.get_by_role("button", name="Sign in")).to_be_visible()
            findings += violations(page, f"sign-in, {scheme}")
            sign_in(page, "admin")
            for name, (address, element) in SCREENS.items():
                show(page, address)
                expect(page.locator(element).first).to_be_visible()
                findings += violations(page, f"{name}, {scheme}")
            show(page, "compose")
            page.get_by_role("textbox", name="Title", exact=True).fill("t" * 1025)
            add_button(page, 1, "Track", "Opens a link", "http://shop.example")
            open_more(page)
            expect(page.locator(".fault:visible")).to_have_count(2)
            findings += violations(page, f"every field, {scheme}")
            show(page, "catalogue")
            card(page, "beach.jpg").get_by_role("button").click()
            expect(page.locator(".profiles")).to_contain_text("160 × ")
            findings += violations(page, f"asset, {scheme}")
    assert not findings, "\n".join(findings)


# What a table says by the names of its members: a function by its parameters and its source.
TABLES = """
async () => {
  const flat = (value, path, all) => {
    if (typeof value === "function") all[path] = ["function", `${value}`.split("=>")[0].replace(/[()\\s]/g, ""), `${value}`];
    else if (typeof value === "object") for (const name of Object.keys(value)) flat(value[name], `${path}.${name}`, all);
    else all[path] = ["text", "", value];
    return all;
  };
  const table = async (name) => flat({ ...await import(`./${name}.js`) }, "", {});
  return Promise.all([["en", "de"], ["app-en", "app-de"], ["attention-en", "attention-de"]].map((names) => Promise.all(names.map(table))));
}
"""
# Names, and words that both languages have.
SHARED = {
    "Android", "Browser", "Code", "Film", "Form", "Link", "Links", "Name", "Person", "Plugins", "Version", "Videos", "Webhooks", "Windows", "Windows Phone", "iOS", "iOS (ntfy)", "https://",
    "(label) => label", "(_, reason) => reason"}


def check_the_tables_of_both_languages_have_the_same_members_and_other_words(console):
    with console.page() as page:
        page.goto(SERVER + "/console/")
        for english, german in page.evaluate(TABLES):
            assert english.keys() == german.keys(), english.keys() ^ german.keys()
            for name, (kind, parameters, words) in english.items():
                assert german[name][:2] == [kind, parameters], name
                if german[name][2] == words:
                    assert words in SHARED or ".placeholders." in name or "blocked(" in words, f"{name}: {words}"


# The texts and names on the page that only the English table has, or that are no words.
NOT_GERMAN = """
async () => {
  const words = (value) => typeof value === "object" ? Object.values(value).flatMap(words) : typeof value === "string" ? [value] : [];
  const [english, german] = await Promise.all(["en", "de"].map((name) => import(`./${name}.js`)));
  const only = new Set(words(english.texts));
  for (const word of words(german.texts)) only.delete(word);
  const said = [];
  for (const element of document.body.querySelectorAll("*")) {
    said.push(element.ariaLabel, element.placeholder, element.title, element.alt);
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) said.push(node.data.trim());
  }
  return said.filter((text) => text && (only.has(text) || /undefined|null|NaN|=>/.test(text)));
}
"""


def check_the_console_is_german_where_the_browser_is_and_english_where_that_was_chosen(console):
    findings = []
    # Numbers and times are as in the region: January is Jänner in Austria.
    with console.page(locale="de-AT", reduced_motion="reduce", timezone_id="Europe/Vienna") as page:
        page.goto(SERVER + "/console/")
        page.get_by_label("Name").fill("admin")
        page.get_by_label("Passwort").fill("wrong")
        page.get_by_role("button", name="Anmelden").click()
        expect(page.get_by_role("alert")).to_have_text("Name oder Passwort ist falsch.")
        page.get_by_label("Passwort").fill("admin")
        page.get_by_role("button", name="Anmelden").click()
        expect(page.get_by_role("navigation", name="Konsole")).to_be_visible()
        assert page.evaluate("document.documentElement.lang") == "de"
        sent = page.request.get(f"{SERVER}/api/notifications?sent&sender=*", headers=basic("admin")).json()["notifications"][0]
        for name, (address, element) in (SCREENS | {"notification": (f"sent/{sent['id']}", "table")}).items():
            show(page, address)
            expect(page.locator(element).first).to_be_visible()
            findings += violations(page, f"{name}, German")
            findings += [f"{name}: {text}" for text in page.evaluate(NOT_GERMAN)]
        show(page, "compose")
        page.get_by_role("button", name="Neu beginnen").click()
        page.get_by_role("button", name="Senden", exact=True).click()
        expect(page.get_by_role("alert")).to_have_text("Nicht gesendet: Oben fehlen 2 Angaben oder sind falsch.")
        page.get_by_role("textbox", name="Nachricht").fill("Schönes Wochenende!")
        page.get_by_role("combobox", name="Empfänger", exact=True).fill("alice")
        page.get_by_label("Senden um").fill("2099-01-05T10:30")
        page.get_by_role("button", name="Planen", exact=True).click()
        for text in ["1 Person", "Montag, 5. Jänner 2099", "10:30", "Europe/Vienna, UTC+1"]:
            expect(page.get_by_role("dialog")).to_contain_text(text)
        findings += violations(page, "question, German")
        page.get_by_role("dialog").get_by_role("button", name="Abbrechen").click()
        page.get_by_role("button", name="Neu beginnen").click()
        show(page, "account")
        page.get_by_role("combobox", name="Sprache").select_option("English")
        expect(page.get_by_role("heading", level=1)).to_have_text("Your account")
        page.reload()
        expect(page.get_by_role("combobox", name="Language")).to_have_value("en")
        page.get_by_role("combobox", name="Language").select_option("The browser’s language")
        expect(page.get_by_role("heading", level=1)).to_have_text("Ihr Konto")
    with console.page(locale="ja-JP") as page:
        page.goto(SERVER + "/console/")
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert not findings, "\n".join(findings)


def violations(page, where):
    # What appears is paler until then.
    page.wait_for_function("() => document.getAnimations().every(({ playState }) => playState !== 'running')")
    found = Axe().run(page).response["violations"]
    return [f"{where}: {one['id']}: {node['html'][:150]} {node['failureSummary'][:300]}"
            for one in found for node in one["nodes"][:2]]


def check_nothing_is_cut_off_on_narrow_screens_and_at_200_percent(console):
    # 200% on a screen of 640 points is a viewport of 320.
    for width in [320, 390]:
        with console.page("admin", viewport={"width": width, "height": 700}) as page:
            sent = page.request.get(f"{SERVER}/api/notifications?sent&sender=*", headers=basic("admin")).json()["notifications"][0]
            for name, (address, element) in (SCREENS | {"notification": (f"sent/{sent['id']}", "table")}).items():
                show(page, address)
                expect(page.locator(element).first).to_be_visible()
                if name == "compose":
                    add_button(page, 1, "Track", "Opens a link", "https://shop.example")
                    open_more(page)
                rows = {round(link["y"]) for link in page.locator("nav a").evaluate_all("links => links.map(link => link.getBoundingClientRect())")}
                assert len(rows) == 1, f"the navigation takes {len(rows)} rows"
                # Each action of a table can be reached, and no text is taller than some lines.
                for box in page.locator("td button, td").evaluate_all("all => all.map(one => one.getBoundingClientRect())"):
                    assert 0 <= box["left"] and box["right"] <= width and box["height"] < 200, (name, box)
                wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, f"{name} is {wide} wider than {width}"


def main():
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        console = Console(playwright.chromium)
        result = judge(list(globals().items()), lambda check: check(console))
        console.browser.close()
    sys.exit(result)


if __name__ == "__main__":
    main()
