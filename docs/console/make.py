#!/usr/bin/env python3
"""Makes the pictures of README.md and docs/CONSOLE.md: a shop's server, used by its API and its command line.

    make pictures

usage: make.py [PROGRAMS]

PROGRAMS is the folder of the built programs (default .build/release). The server is a demonstration with a data folder and
a port of its own; the push services are the stand-ins of the tests. All content is drawn here, or a sample of assets/."""
import base64
import contextlib
import datetime
import io
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import numpy as np
import pyvips
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from playwright.sync_api import expect, sync_playwright

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
PROGRAMS = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".build/release").resolve()
SCREEN = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 800}
PATIENCE = 60
NOW = datetime.datetime.now(datetime.UTC)


def ago(**time):
    return f"{NOW - datetime.timedelta(**time):%Y-%m-%dT%H:%M:%SZ}"


# What the shop has in its catalogue.

def mountains():
    """Ridges, the nearer the darker, before a sky at dawn."""
    width, height = 1600, 1200
    x, y = np.arange(width), np.arange(height)[:, None]
    def blend(part, first, last):
        return (1 - part) * np.array(first) + part * np.array(last)
    sky = np.clip(y / height / 0.5, 0, 1)[:, :, None]
    picture = np.where(sky < 0.5, blend(sky * 2, (58, 84, 148), (214, 150, 164)), blend(sky * 2 - 1, (214, 150, 164), (255, 214, 150)))
    distance = np.hypot(x - 1080, y - 400)[:, :, None]
    picture = blend(np.exp(-np.maximum(distance - 70, 0) / 110), picture, (255, 244, 214))
    random = np.random.default_rng(7)
    for layer in range(6):
        waves = sum(random.normal() / n ** 1.2 * np.sin(2 * math.pi * n * x / width * random.uniform(0.6, 1) + random.uniform(0, 6))
                    for n in range(1, 40))
        picture[y > height * (0.42 + 0.11 * layer) + 50 * waves] = blend(layer / 5, (176, 132, 150), (24, 36, 58))
    return Image.fromarray(picture.astype(np.uint8)).filter(ImageFilter.GaussianBlur(1))


def poster(size, paper, ink, head, text, shapes):
    """Writing over round shapes, each (x, y, radius, colour) in parts of the width."""
    width, height = size
    picture = Image.new("RGB", (width * 2, height * 2), paper)
    pen = ImageDraw.Draw(picture)
    for x, y, radius, colour in shapes:
        pen.ellipse([2 * width * edge for edge in (x - radius, y - radius, x + radius, y + radius)], fill=colour)
    pen.text((width, height * 0.86), head, fill=ink, font=ImageFont.load_default(width // 4 if len(head) < 8 else width // 6), anchor="mm")
    pen.text((width, height * 1.25), text, fill=ink, font=ImageFont.load_default(width // 11), anchor="mm")
    return picture.resize(size, Image.Resampling.LANCZOS)


def doorbell():
    """Two tones that fade, as PCM."""
    seconds = np.arange(int(44_100 * 1.8)) / 44_100
    tones = sum((seconds >= start) * np.exp(-3 * (seconds - start)) * np.sin(2 * math.pi * pitch * (seconds - start))
                for start, pitch in ((0, 659.26), (0.55, 523.25)))
    return (tones / np.abs(tones).max() * 28_000).astype("<i2").tobytes()


def draw_content(folder):
    """The shop's files; the last one is what a phone cannot show."""
    mountains().save(folder / "mountains.jpg", quality=90)
    leaves = [(0.06, 0.08, 0.2, "#e9b44c"), (0.95, 0.6, 0.24, "#9b2915"), (0.88, 0.02, 0.13, "#e4d6a7"), (0.1, 0.72, 0.11, "#f3c178")]
    poster((1200, 900), "#c8553d", "white", "30% off", "all of autumn", leaves).save(folder / "autumn-sale.png")
    lights = [(0.2, 0.15, 0.05, "#ffd166"), (0.5, 0.1, 0.05, "#ef476f"), (0.8, 0.15, 0.05, "#06d6a0"),
              (0.9, 0.72, 0.16, "#1d3c6e"), (0.06, 0.7, 0.2, "#1d3c6e")]
    poster((1200, 900), "#14284b", "#f7f3e3", "Summer fair", "Saturday, from 6 pm", lights).save(folder / "summer-fair.png")
    subprocess.run(["ffmpeg", "-v", "error", "-f", "s16le", "-ar", "44100", "-ac", "1", "-i", "-", folder / "doorbell.wav"],
                   input=doorbell(), check=True)
    subprocess.run(
        ["ffmpeg", "-v", "error", "-i", ROOT / "assets/img/beach.jpg", "-vf",
         "scale=2400:-1,zoompan=z='1+on/200':x='iw/2-iw/zoom/2':y='ih/3-ih/zoom/3':d=100:s=1280x720:fps=25,format=yuv420p",
         "-c:v", "libx264", "-threads", "1", folder / "evening.mp4"], check=True)
    (folder / "price-list.pdf").write_bytes(b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n" + bytes(4000))


class StandIn:
    """A push service in Python; see Tests/StandIns/Services."""

    def __init__(self, name, folder):
        self.folder = folder / name
        self.folder.mkdir()
        self.process = subprocess.Popen(
            ["/usr/bin/python3", ROOT / f"Tests/StandIns/Services/{name}.py", self.folder], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"})
        self.port = json.loads(self.process.stdout.readline())["port"]

    def tell(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Server:
    """A demonstration with three push services, and its API."""

    def __init__(self, work):
        self.work = work
        self.services = {name: StandIn(name, work) for name in ("apns", "fcm", "webpush")}
        apns, fcm, webpush = self.services.values()
        (work / "ca.pem").write_text("".join((service.folder / "ca.pem").read_text() for service in self.services.values()))
        shutil.copytree(ROOT / "plugins", work / "plugins", ignore=shutil.ignore_patterns("examples", "*.swift"))
        shutil.copytree(ROOT / "plugins/examples/poll", work / "plugins/poll")
        self.process = subprocess.Popen(
            [PROGRAMS / "richpush", "serve", "--demo", "--listen", "127.0.0.1:0", "--push", "embedded,apns,fcm,webpush",
             "--push-contact", "mailto:shop@example.com", "--push-allow", f"localhost:{webpush.port}", "--log-level", "error"],
            cwd=work, stdout=subprocess.PIPE, text=True, env=os.environ | {
                "RICHPUSH_APNS_KEY_FILE": str(apns.folder / "key.p8"), "RICHPUSH_APNS_KEY_ID": "ABC123DEFG",
                "RICHPUSH_APNS_TEAM_ID": "DEF123GHIJ", "RICHPUSH_APNS_TOPIC": "com.example.richpush",
                "RICHPUSH_APNS_ENDPOINT": f"https://localhost:{apns.port}", "RICHPUSH_PUSH_CA": str(work / "ca.pem"),
                "RICHPUSH_FCM_CREDENTIALS_FILE": str(fcm.folder / "service-account.json"),
                "RICHPUSH_FCM_ENDPOINT": f"https://localhost:{fcm.port}"})
        started = self.process.stdout.readline()
        if not started:
            sys.exit("The server did not start.")
        self.url = started.split()[-1]

    def end(self):
        self.process.terminate()
        self.process.wait()
        for service in self.services.values():
            service.end()

    def call(self, user, method, path, body=None, device=None):
        """The response of a request: an object if it is JSON, else bytes."""
        headers = {"Authorization": "Basic " + base64.b64encode(f"{user}:{user}".encode()).decode(), "Content-Type": "application/json"}
        request = urllib.request.Request(
            self.url + "/api/" + urllib.parse.quote(path, safe="/?=&*"), method=method, data=body and json.dumps(body).encode(),
            headers=headers | ({"Richpush-Device": device} if device else {}))
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                data = response.read()
                return json.loads(data) if data and "json" in response.headers["Content-Type"] else data
        except urllib.error.HTTPError as error:
            sys.exit(f"{method} {path}: {error.read().decode()}")

    def run(self, *arguments, user):
        """Runs a command of the program as a user."""
        subprocess.run([PROGRAMS / "richpush", *arguments, "--server", self.url, "--user", user], cwd=self.work, check=True,
                       stdout=subprocess.DEVNULL)

    def wait(self, what, holds):
        end = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > end:
                sys.exit(f"{what} within {PATIENCE} seconds")
            time.sleep(0.1)


# Who uses the app: a name, and the devices as (ID, platform, name).
PEOPLE = {
    "alice": [("alice-iphone", "apns", "Alice’s iPhone")],
    "ben": [("ben-pixel", "fcm", "Ben’s Pixel")],
    "chloe": [("chloe-iphone", "apns", "Chloé’s iPhone"), ("chloe-watch", "apns", "Chloé’s watch")],
    "david": [("david-phone", "fcm", "David’s phone")],
    "emma": [("emma-old", "apns", "Emma’s old iPhone")],
    "farid": [("farid-phone", "fcm", "Farid’s phone")],
}


def fill(server, drawn):
    """People with their devices, content, and what was sent, fetched and read."""
    server.call("admin", "PUT", "users/shop", {"role": "publisher", "password": "not the name"})
    for name, devices in PEOPLE.items():
        server.call("admin", "PUT", f"users/{name}", {"role": "device", "password": "not the name"})
        for number, (device, platform, title) in enumerate(devices):
            handle = (device.encode().hex() + "0" * 64)[:64].upper() if platform == "apns" else f"{device}:APA91b{number}"
            server.call(name, "PUT", f"register/{device}", {"Platform": platform, "Handle": handle, "Tags": ["news"], "Name": title})
            if device == "emma-old":
                server.services["apns"].tell(do="rules", rules={handle: [{"status": 400, "reason": "DeviceTokenNotForTopic"}]})
    for file in sorted(drawn.iterdir()):
        if file.suffix == ".pdf":
            shutil.copy(file, server.work / "assets/img")
        else:
            server.run("asset", "add", str(file), user="shop")
    def judged():
        counts = server.call("shop", "GET", "assets")["counts"]
        return counts["preparing"] == 0 and counts["refused"] == 1
    server.wait("The files were not judged", judged)

    phone = subprocess.Popen(
        [PROGRAMS / "richpush", "device", "--user", "guest", "--server", server.url, "--webpush"], cwd=server.work,
        stdout=subprocess.DEVNULL)
    try:
        server.wait("The device did not register", lambda: server.call("guest", "GET", "registrations"))
        send(server)
    finally:
        phone.terminate()
        phone.wait()


def send(server):
    """What the shop has sent, and how far it has come. A time in the past is sent at once, and shown as that time."""
    def notify(message, kind, payload, to, fetched=(), read=(), **more):
        body = {"message": message, "richType": kind, "payload": payload, "to": to} | more
        number = server.call("shop", "POST", "notifications", body)["id"]
        for name in [*fetched, *read]:
            for device, _, _ in PEOPLE.get(name, []):
                server.call(name, "GET", f"notifications/{number}?profile=ios", device=device)
        for name in read:
            server.call(name, "PUT", f"notifications/{number}/read")
        return number

    def names(*all):
        return [f"username:{name}" for name in all]

    everybody = "news"
    notify("Thank you for your order: it is on its way.", "url", "https://www.example.com/orders/4711", names("chloe"),
           read=["chloe"], notBefore=ago(days=2))
    poll = {"question": "Where should we open next?", "answers": ["Harbour", "Old town", "Station"]}
    notify("Where should we open next?", "poll", poll, everybody,
           fetched=["ben", "david"], read=["alice", "chloe"], notBefore=ago(hours=27))
    notify("This is how your new doorbell sounds.", "sound", "doorbell.wav", names("alice", "ben"), fetched=["ben"], notBefore=ago(hours=9))
    notify("An evening at the beach, in four seconds.", "video", "evening.mp4", names("alice", "chloe", "david", "guest"),
           fetched=["chloe"], read=["alice", "david"], form="hybrid", notBefore=ago(hours=4))
    notify("The summer fair begins on Saturday at six. Bring your friends!", "img", "summer-fair.png", everybody,
           fetched=["alice", "farid"], read=["ben", "chloe"], form="alert", notBefore=ago(hours=2))
    notify("New in the mountains: our hiking collection.", "img", "mountains.jpg", names("alice", "ben", "chloe", "david", "farid"),
           fetched=["ben", "chloe", "farid"], read=["alice"], notBefore=ago(minutes=25))
    saturday = (NOW + datetime.timedelta(days=(5 - NOW.weekday()) % 7 or 7)).replace(hour=8, minute=0)
    scheduled = notify("The sale has begun: 30% off all of autumn.", "img", "autumn-sale.png", everybody,
                       form="alert", notBefore=f"{saturday:%Y-%m-%dT%H:%M:00Z}")
    server.wait("The pushes were not sent", lambda: all(
        job["notification"] == scheduled for job in server.call("admin", "GET", "outbox?state=queued")["jobs"]))


class Camera:
    """A browser that takes pictures of a server's pages."""

    def __init__(self, browser, server):
        self.browser, self.server = browser, server

    @contextlib.contextmanager
    def page(self, user=None, viewport=SCREEN, scheme="light", **options):
        context = self.browser.new_context(
            viewport=viewport, color_scheme=scheme, locale="en-US", timezone_id="UTC", reduced_motion="reduce", **options)
        context.set_default_timeout(PATIENCE * 1000)
        page = context.new_page()
        try:
            if user:
                page.goto(self.server.url + "/console/")
                page.get_by_label("Name").fill(user)
                page.get_by_label("Password").fill(user)
                page.get_by_role("button", name="Sign in").click()
                expect(page.get_by_role("navigation")).to_be_visible()
            yield page
        finally:
            context.close()

    def show(self, page, screen, element):
        page.goto(f"{self.server.url}/console/#{screen}")
        expect(page.locator(element).first).to_be_visible()

    def take(self, page, name, framed=False):
        """Writes what the page shows as NAME.png, in 256 colours."""
        page.wait_for_function("""() => [...document.images].every(image => image.complete || image.loading === "lazy"
          && image.getBoundingClientRect().top > innerHeight)""")
        page.mouse.move(0, 0)
        # What was loaded is decoded and laid out.
        page.evaluate("Promise.all([...document.images].map(image => image.complete && image.decode().catch(() => {})))")
        picture = Image.open(io.BytesIO(page.screenshot(animations="disabled", caret="hide")))
        picture = phone_around(picture) if framed else picture.convert("RGB")
        pixels = pyvips.Image.new_from_array(np.asarray(picture)).copy(interpretation="srgb")
        data = pixels.pngsave_buffer(palette=True, dither=0.5, effort=10, compression=9)
        (FOLDER / f"{name}.png").write_bytes(data)
        print(f"{name}.png", picture.size, len(data), "bytes", flush=True)


def phone_around(screen):
    """A picture of a phone that shows a screen."""
    edge, scale = 12, 4
    width, height = screen.width + 2 * edge, screen.height + 2 * edge
    def rounded(inset, radius):
        mask = Image.new("L", (width * scale, height * scale))
        ImageDraw.Draw(mask).rounded_rectangle(
            [inset * scale, inset * scale, (width - inset) * scale - 1, (height - inset) * scale - 1], radius * scale, fill=255)
        return mask.resize((width, height), Image.Resampling.LANCZOS)
    body = Image.new("RGB", (width, height), "#15171c")
    shown = Image.new("RGB", (width, height))
    shown.paste(screen, (edge, edge))
    body.paste(shown, mask=rounded(edge, 40))
    body.putalpha(rounded(0, 52))
    return body


def photograph(camera):
    """The console: light, dark and on a phone."""
    def compose(page):
        camera.show(page, "compose/img/beach.jpg", ".devices figure")
        page.get_by_role("textbox", name="Title", exact=True).fill("Open again")
        page.get_by_role("textbox", name="Message").fill("Our beach house is open again. Come in and see it first.")
        page.get_by_role("button", name="Add a button").click()
        button = page.get_by_role("group", name="Button 1")
        button.get_by_role("textbox", name="Label").fill("See it")
        button.get_by_role("textbox", name="Link").fill("https://beach.example")
        page.get_by_role("combobox", name="Recipients", exact=True).fill("alice, ben, chloe")
        expect(page.get_by_text("3 people")).to_be_visible()
        page.locator("h1").click()
        expect(page.locator(".devices figure[data-device=watch] img[data-profile=watch]")).to_be_visible()
        expect(page.locator(".devices figure[data-device=browser] img.shot")).to_be_visible()

    for suffix, options in (("", {}), ("-dark", {"scheme": "dark"}), ("-narrow", {"viewport": PHONE})):
        with camera.page("shop", **options) as page:
            camera.show(page, "catalogue", "asset-card")
            expect(page.locator("asset-card")).to_have_count(10)
            camera.take(page, "catalogue" + suffix)
            if suffix == "-dark":
                continue
            compose(page)
            camera.take(page, "compose" + suffix)
            camera.show(page, "sent", ".sent-list li")
            camera.take(page, "sent" + suffix)
            if not suffix:
                camera.show(page, "catalogue", "asset-card")
                page.locator("asset-card").filter(has=page.get_by_text("beach.jpg", exact=True)).get_by_role("button").click()
                expect(page.locator("dialog .profiles li img")).to_have_count(5)
                camera.take(page, "asset")
    with camera.page("admin") as page:
        page.route("**/api/status", lambda route: route.fulfill(json=of_the_shop(camera.server.call("admin", "GET", "status"))))
        for name, element in (("status", ".facts-list"), ("services", "td"), ("plugins", "section"), ("people", "td")):
            camera.show(page, name, element)
            camera.take(page, name)


def of_the_shop(report):
    """How the server is, with a machine and a disk of the shop's, and something to do."""
    report["server"] |= {"node": "push.shop.example", "started": ago(days=12)}
    report["disks"] = [{"folders": ["data", "assets", "blobs", "renditions"], "path": "/var/lib/richpush", "free": 163 * 10**9, "total": 240 * 10**9}]
    report["certificates"] = [{"file": "/etc/richpush/tls.pem", "expires": ago(days=-9)}]
    report["attention"] += [{"code": "certificate.expires", "level": "warning", "text": "", "user": None, "count": None, "since": None,
                             "reason": None, "name": "/etc/richpush/tls.pem", "until": ago(days=-9)}]
    return report


def photograph_phone(camera):
    """The app on a phone."""
    with camera.page(viewport=PHONE, has_touch=True) as page:
        page.goto(camera.server.url + "/app/")
        page.get_by_label("Name", exact=True).fill("alice")
        page.get_by_label("Password", exact=True).fill("alice")
        page.get_by_role("button", name="Sign in", exact=True).click()
        # What is said first on a new device.
        page.get_by_role("button", name="Not now").click()
        expect(page.locator(".card-note")).to_have_count(0)
        expect(page.locator(".item")).to_have_count(5)
        expect(page.locator(".item").first.locator(".media.loaded img")).to_be_visible()
        camera.take(page, "phone", framed=True)


def main():
    expect.set_options(timeout=PATIENCE * 1000)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        # The plugins run as users of their own.
        work.chmod(0o755)
        drawn = work / "drawn"
        drawn.mkdir()
        draw_content(drawn)
        server = Server(work)
        try:
            fill(server, drawn)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"])
                camera = Camera(browser, server)
                photograph(camera)
                photograph_phone(camera)
                browser.close()
        finally:
            server.end()


if __name__ == "__main__":
    main()
