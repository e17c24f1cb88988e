"""A device is set up by a link, by a code that is typed, or by name and password; and what is said where that fails."""

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import termios
import urllib.request

from PIL import Image
from playwright.sync_api import expect

from app_phone import IPHONE
from app_server import password, until

USED = "This code was used, or is too old. Ask for a new one."


def read_qr_code(picture):
    """The text of a QR code, read by a program that knows nothing of us."""
    found = subprocess.run(["zbarimg", "-q", "--raw", "-"], input=picture, capture_output=True)
    return found.stdout.decode().strip()


def check_the_printed_link_pairs_by_the_button_only_and_once(bench):
    server, user = bench.server, bench.reader()
    server.add(user)
    link, _ = server.pair(user)
    # What shows a preview of a link loads it, by a program or by a browser, without the button.
    with urllib.request.urlopen(link) as answer:
        assert answer.status == 200
    asked = []
    preview = bench.phone("")
    preview.page.on("request", lambda request: asked.append(request.method) if "/api/" in request.url else None)
    preview.follow(link)
    expect(preview.button("Set up this device")).to_be_visible()
    assert set(asked) == {"GET"} and server.devices(user) == [], asked
    phone = bench.phone("")
    phone.follow(link)
    phone.set_up()
    assert phone.page.url == server.app, phone.page.url
    assert [device["name"] for device in server.devices(user)] == ["Chrome, Linux"], server.devices(user)
    # The other has it still on the screen.
    preview.button("Set up this device").click()
    expect(preview.page.get_by_role("alert")).to_have_text(USED)
    assert len(server.devices(user)) == 1


def check_a_code_that_was_revoked_or_guessed_is_refused_in_words(bench):
    server, user = bench.server, bench.reader()
    server.add(user)
    link, _ = server.pair(user)
    number = server.call(user, "GET", "/api/pairings")["pairings"][0]["id"]
    server.run("user", "pairings", user, "--end", str(number))
    phone = bench.phone("")
    phone.follow(link)
    phone.button("Set up this device").click()
    expect(phone.page.get_by_role("alert")).to_have_text(USED)
    phone.follow(server.app + "#pair=" + "A" * 22)
    phone.button("Set up this device").click()
    expect(phone.page.get_by_role("alert")).to_contain_text("There is no such code.")
    assert server.devices(user) == []


def check_eight_characters_are_typed_as_one_likes(bench):
    server, user = bench.server, bench.reader()
    server.add(user)
    _, short = server.pair(user)
    phone = bench.phone("")
    phone.page.goto(server.app)
    phone.page.get_by_label("Code").fill(short.lower().replace("-", " "))
    phone.button("Use the code").click()
    phone.inbox_opens()
    assert phone.device()["user"] == user


def check_the_terminal_draws_the_link_as_a_code_that_a_camera_reads(bench):
    server, user = bench.server, bench.reader()
    server.add(user)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    program = subprocess.Popen(
        [server.program, "user", "pair", user, "--data", server.folder / "var"], stdout=theirs, stderr=theirs, stdin=theirs,
        env=os.environ | {"TERM": "xterm-256color", "LANG": "C.UTF-8"})
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 65536):
            text += part
    except OSError:
        pass
    os.close(ours)
    assert program.wait() == 0, text
    printed = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.decode()).replace("\r", "")
    link = re.search(r"http://\S+#pair=[\w-]+", printed)[0]
    server.codes.add(link.split("#pair=")[1])
    lines = [line for line in printed.split("\n") if line and not set(line) - set("█▀▄ ")]
    width = max(map(len, lines))
    # Black on white, whatever the terminal's own colours are.
    assert b"\x1b[" in text, text
    picture = Image.new("L", (width, 2 * len(lines)), 255)
    for y, line in enumerate(lines):
        for x, mark in enumerate(line):
            picture.putpixel((x, 2 * y), 0 if mark in "█▀" else 255)
            picture.putpixel((x, 2 * y + 1), 0 if mark in "█▄" else 255)
    out = io.BytesIO()
    picture.resize((width * 8, 16 * len(lines)), Image.NEAREST).save(out, "PNG")
    assert read_qr_code(out.getvalue()) == link, printed


def check_an_iphone_takes_another_code_to_its_home_screen(bench):
    server, user = bench.server, bench.reader()
    server.add(user)
    link, _ = server.pair(user)
    safari = bench.phone("", user_agent=IPHONE, has_touch=True)
    safari.follow(link)
    safari.button("Continue").click()
    expect(safari.page.locator("h2").first).to_have_text("Now put the app on your iPhone")
    expect(safari.page.locator("ol.steps").first).to_contain_text("Add to Home Screen")
    manifest = safari.page.evaluate("fetch(document.querySelector('link[rel=manifest]').href).then((answer) => answer.json())")
    start = safari.page.evaluate("start => new URL(start, new URL('manifest.webmanifest', location)).href", manifest["start_url"])
    code = re.search(r"[?&]pair=([\w-]+)", start)[1]
    assert code not in link and server.devices(user) == []
    server.codes.add(code)
    # The app of the Home Screen shares nothing with Safari.
    app = bench.phone("", user_agent=IPHONE, has_touch=True)
    app.page.add_init_script("Object.defineProperty(navigator, 'standalone', { get: () => true })")
    app.page.goto(start)
    expect(app.button("Set up this phone")).to_be_visible()
    assert "pair" not in app.page.url and server.devices(user) == []
    app.set_up()
    # Its icon opens that address for ever.
    app.page.goto(start)
    app.inbox_opens()
    assert [device["name"] for device in server.devices(user)] == ["iPhone"]


def check_a_link_for_somebody_else_ends_what_was_before(bench):
    server = bench.server
    phone = bench.phone()
    first, second = phone.user, bench.reader()
    server.send(first, message="For the first", richType="img", payload="logo.png")
    expect(phone.item("For the first").locator("img")).to_be_visible()
    server.add(second)
    server.send(second, message="For the second")
    link, _ = server.pair(second)
    phone.follow(link)
    expect(phone.page.get_by_text(f"This browser is set up for {first}.")).to_be_visible()
    phone.page.get_by_role("link", name="Cancel").click()
    expect(phone.item("For the first")).to_be_visible()
    phone.follow(link)
    phone.set_up()
    expect(phone.item("For the second")).to_be_visible()
    expect(phone.item("For the first")).to_have_count(0)
    assert server.devices(first) == [] and len(server.devices(second)) == 1
    kept = phone.page.evaluate(
        """async () => { const device = await Device.load(); const inbox = await Offline.inbox(device) ?? { notifications: [] };
             return [device.user, ...inbox.notifications.map(({ message }) => message)]; }""")
    assert kept == [second, "For the second"], kept


def check_lost_storage_ends_in_the_same_device(bench):
    server, phone = bench.server, bench.phone()
    before = server.devices(phone.user)
    phone.page.goto("about:blank")
    phone.cdp.send("Storage.clearDataForOrigin", {"origin": server.url, "storageTypes": "all"})
    phone.page.goto(server.app)
    phone.sign_in_by_password()
    dialog = phone.page.get_by_role("dialog")
    expect(dialog.locator("h2")).to_have_text("Is this one of your devices?")
    dialog.get_by_role("button", name="Chrome, Linux").click()
    phone.inbox_opens()
    after = server.devices(phone.user)
    assert [device["registration"] for device in after] == [device["registration"] for device in before], (before, after)
    server.send(phone.user, message="Here again")
    expect(phone.item("Here again")).to_be_visible()


def check_another_device_is_added_by_the_password_and_the_code_on_the_screen(bench):
    server, phone = bench.server, bench.phone()
    phone.go("#settings")
    phone.button("Add another device").click()
    dialog = phone.page.get_by_role("dialog")
    dialog.get_by_label("Password").fill("a wrong one")
    phone.button("Continue", dialog).click()
    expect(dialog.get_by_role("alert")).to_have_text("The password is wrong.")
    dialog.get_by_label("Password").fill(password(phone.user))
    phone.button("Continue", dialog).click()
    expect(dialog.locator("svg.qr-code")).to_be_visible()
    link = until(lambda: read_qr_code(dialog.locator("svg.qr-code").screenshot()))
    short = dialog.locator(".code").inner_text()
    server.codes |= {link.split("#pair=")[1], short, short.replace(" ", "")}
    other = bench.phone("")
    other.follow(link)
    other.set_up()
    assert len(server.devices(phone.user)) == 2
    phone.button("Done", dialog).click()
    phone.page.reload()
    expect(phone.page.locator("ul.rows li")).to_have_count(2)


def check_a_wrong_password_is_said_and_nothing_is_kept(bench):
    phone = bench.phone("")
    bench.server.add("somebody")
    phone.page.goto(bench.server.app)
    phone.page.get_by_label("Name").fill("somebody")
    phone.page.get_by_label("Password").fill("a wrong one")
    phone.button("Sign in").click()
    expect(phone.page.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    expect(phone.page.get_by_label("Password")).to_have_value("")
    assert bench.server.devices("somebody") == [] and phone.device() is None
