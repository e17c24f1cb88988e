"""No network, no server, no token any more, and very many notifications."""

import concurrent.futures
import contextlib
import time

from playwright.sync_api import expect

from app_phone import Phone
from app_server import serving, until

# So many bytes may load before the first notification is on the screen.
FIRST_PAINT = 100_000
MANY = 1000


def kept_pictures(phone):
    return phone.page.evaluate(
        "async () => { if (!self.Offline) return 0; const device = await Device.load(); const inbox = await Offline.inbox(device);"
        " return (await Promise.all((inbox?.notifications ?? []).map((one) => one.details && Offline.media(device, one.id, '', one.details, 0)))).filter(Boolean).length; }")


def check_offline_the_last_fifty_are_there_with_their_pictures(bench):
    server, phone = bench.server, bench.phone()
    # The last message is out of what is kept.
    for index in range(52):
        server.send(phone.user, message=f"Message {index:02}", **({"richType": "img", "payload": "beach.jpg"} if index % 10 == 3 else {}))
    expect(phone.item("Message 51")).to_be_visible()
    phone.page.reload()
    # Also those are kept that nobody scrolls to.
    until(lambda: kept_pictures(phone) == 5)
    for away in [server_is_killed, network_is_off]:
        with away(server, phone):
            phone.page.reload()
            expect(phone.page.locator(".away")).to_be_visible()
            expect(phone.page.locator(".item")).to_have_count(50)
            phone.item("Message 03").scroll_into_view_if_needed()
            expect(phone.item("Message 03").locator("img")).to_be_visible()
            assert phone.item("Message 03").locator("img").evaluate("one => one.naturalWidth") >= 700
            expect(phone.item("Message 01")).to_have_count(0)
            if away is network_is_off:
                server.send(phone.user, message="Meanwhile")
        if away is server_is_killed:
            server.send(phone.user, message="After the crash")
        # It comes back by itself.
        expect(phone.page.locator(".away")).to_be_hidden(timeout=40_000)
        phone.page.evaluate("scrollTo(0, 0)")
        expect(phone.item("After the crash" if away is server_is_killed else "Meanwhile")).to_be_visible()


def check_what_is_older_than_the_copy_is_there_again_with_the_server(bench):
    server, phone = bench.server, bench.phone()
    for index in range(60):
        server.send(phone.user, message=f"Message {index:02}")
    phone.page.reload()
    until(lambda: phone.page.evaluate("async () => self.Offline && (await Offline.inbox(await Device.load()))?.notifications.length === 50"))
    with server_is_killed(server):
        phone.page.reload()
        expect(phone.page.locator(".item")).to_have_count(50)
    expect(phone.page.locator(".away")).to_be_hidden(timeout=40_000)
    until(lambda: phone.page.evaluate("void scrollTo(0, document.body.scrollHeight)") or phone.item("Message 00").count())


def check_what_comes_before_the_stream_is_open_is_shown(bench):
    server, phone = bench.server, bench.phone(service_workers="block")
    server.send(phone.user, message="Early")
    held = []
    phone.page.route("**/api/push/stream", lambda route: held.append(route))
    with phone.page.expect_request("**/api/push/stream"):
        phone.page.reload()
    expect(phone.item("Early")).to_be_visible()
    server.send(phone.user, message="Between")
    for route in held:
        route.continue_()
    expect(phone.item("Between")).to_be_visible()


@contextlib.contextmanager
def server_is_killed(server, phone=None):
    server.kill()
    try:
        yield
    finally:
        server.start()


@contextlib.contextmanager
def network_is_off(server, phone):
    phone.context.set_offline(True)
    yield
    phone.context.set_offline(False)


def check_what_is_done_without_the_server_is_undone_in_words(bench):
    server, phone = bench.server, bench.phone()
    server.send(phone.user, message="Unread")
    expect(phone.item("Unread")).to_be_visible()
    phone.context.set_offline(True)
    phone.button("Mark as read", phone.item("Unread")).click()
    expect(phone.page.get_by_role("status")).to_contain_text("The server cannot be reached. Nothing was changed.")
    expect(phone.page.locator(".item.unread")).to_have_count(1)
    phone.button("Delete", phone.item("Unread")).click()
    expect(phone.item("Unread")).to_be_visible()
    phone.context.set_offline(False)


def check_an_answer_that_stands_still_or_breaks_off_ends_in_words(bench):
    phone = bench.phone()
    said = phone.page.evaluate(
        """() => Promise.all(["stands still", "breaks off"].map((kind) => {
             const [end, answer] = [new AbortController(), new Response('{"unread": 1, "noti')];
             if (kind === "stands still") answer.json = () => new Promise((_, failed) => end.signal.addEventListener("abort", () => failed(end.signal.reason)));
             const fetch = async (_, { signal }) => { signal.addEventListener("abort", () => end.abort()); return answer; };
             const user = new AbortController();
             setTimeout(() => user.abort(), 100);
             const asked = new RichPush({ fetch }).inbox({ signal: user.signal }).catch(({ message }) => message);
             return Promise.race([asked, new Promise((done) => setTimeout(done, 3000, "it hangs"))]);
           }))""")
    assert said == ["The server cannot be reached."] * 2, said


def check_an_ended_token_leaves_nothing(bench):
    server, phone = bench.server, bench.phone()
    phone.context.grant_permissions(["notifications"], origin=server.url)
    phone.watch_pushes()
    number, push = phone.send(message="Private", richType="img", payload="logo.png")
    expect(phone.item("Private").locator("img")).to_be_visible()
    phone.shown_by(push)
    phone.page.evaluate("async () => { await (await caches.open('other')).put('/app/other', new Response('Private')); sessionStorage.other = 'Private'; }")
    assert phone.kept()["records"] > 2 and phone.kept()["shown"] == 1 and phone.kept()["badge"] == 1, phone.kept()
    server.call("admin", "DELETE", f"/api/users/{phone.user}/tokens")
    expect(phone.page.locator("h1")).to_have_text("Sign in again")
    kept = phone.kept()
    assert kept == {"records": 0, "caches": [], "shown": 0, "badge": 0, "storage": []}, kept
    assert "Private" not in phone.page.evaluate("document.documentElement.outerHTML")
    phone.page.go_back()
    assert phone.item("Private").count() == 0


def check_what_arrives_after_signing_out_is_not_kept(bench):
    phone = bench.phone()
    phone.page.evaluate(
        """async () => {
             const device = await Device.load();
             await Device.forget();
             await Offline.saveInbox(device, { notifications: [{ id: 1, message: "Private" }], unread: 1, next: null });
             await Offline.saveMedia(device, 1, "", {}, 320, new Blob(["Private"], { type: "image/png" }));
           }""")
    assert phone.kept()["records"] == 0, phone.kept()


def check_an_ended_token_leaves_nothing_when_the_app_opens_later(bench):
    server, phone = bench.server, bench.phone()
    server.send(phone.user, message="Private")
    expect(phone.item("Private")).to_be_visible()
    phone.page.goto("about:blank")
    server.call("admin", "DELETE", f"/api/users/{phone.user}/tokens?registrations")
    phone.page.goto(server.app)
    expect(phone.page.locator("h1")).to_have_text("Sign in again")
    kept = phone.kept()
    assert kept["records"] == 0 and kept["caches"] == [], kept


def check_a_new_build_replaces_the_files_of_the_earlier_one(bench):
    with serving(bench.server.program.parent) as server:
        phone = Phone(bench.chromium.new_context, server)
        phone.page.goto(server.app)
        phone.watch_pushes()
        [before] = phone.page.evaluate("caches.keys()")
        phone.page.reload()
        # Another name is another page.
        server.kill()
        server.flags = ["--app-name", "Another"]
        server.start()
        phone.page.evaluate("navigator.serviceWorker.ready.then((one) => one.update())")
        until(lambda: len(found := phone.page.evaluate("caches.keys()")) == 1 and found != [before])
        # The page begins with what the server said the last time, and hears of the new name meanwhile.
        phone.page.reload()
        until(lambda: "Another" in phone.page.evaluate("localStorage.app"))
        with server_is_killed(server):
            phone.page.reload()
            expect(phone.page.locator("h1")).to_have_text("Welcome to Another")
        phone.close()


LOADED = """
(mark) => {
  const [{ startTime: end } = {}] = performance.getEntriesByName(mark);
  return end && [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .filter(({ responseEnd }) => responseEnd && responseEnd <= end).map(({ name, encodedBodySize }) => [name, encodedBodySize]);
}"""


def check_little_is_loaded_before_something_is_on_the_screen(bench):
    server, user = bench.server, bench.reader()
    server.add(user)
    for index in range(40):
        server.send(user, message=f"Message {index}", title="One of many", richType="img", payload="beach.jpg")
    phone = bench.phone("", service_workers="block")
    phone.user = user
    phone.page.add_init_script(
        """new MutationObserver((_, observer) => {
             if (document.querySelector(".item")) { observer.disconnect(); requestAnimationFrame(() => performance.mark("first-item")); }
           }).observe(document, { childList: true, subtree: true });""")

    def loaded(mark):
        all = dict(until(lambda: phone.page.evaluate(LOADED, mark)))
        return sum(all.values()), all

    phone.page.goto(server.app)
    expect(phone.page.locator("h1")).to_be_visible()
    welcome = loaded("first-contentful-paint")
    phone.follow(server.pair(user)[0])
    phone.set_up()
    # As after weeks.
    phone.context.new_cdp_session(phone.page).send("Network.clearBrowserCache")
    phone.page.reload()
    phone.inbox_opens()
    painted, item = loaded("first-contentful-paint"), loaded("first-item")
    assert "start.js" in str(welcome) and welcome[0] < FIRST_PAINT and painted[0] < FIRST_PAINT, (welcome, painted)
    assert "inbox.js" in str(item) and item[0] < FIRST_PAINT, item
    print(f"        {welcome[0] // 1000}, {painted[0] // 1000} and {item[0] // 1000} kB", flush=True)


def check_a_thousand_scroll_without_holding_all(bench):
    server, phone = bench.server, bench.phone()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda index: server.send(
            phone.user, message=f"Message {index}", richType="img", payload=["logo.png", "beach.jpg"][index % 2]), range(MANY)))
    phone.page.add_init_script(
        """self.live = new Map(); self.most = [0, 0];
           const { createObjectURL, revokeObjectURL } = URL;
           const count = () => { most = [Math.max(most[0], live.size), Math.max(most[1], [...live.values()].reduce((sum, size) => sum + size, 0))]; };
           URL.createObjectURL = (blob) => { const url = createObjectURL.call(URL, blob); live.set(url, blob.size); count(); return url; };
           URL.revokeObjectURL = (url) => { live.delete(url); revokeObjectURL.call(URL, url); };""")
    phone.page.reload()
    expect(phone.item("Message").first).to_be_visible()
    start = time.monotonic()
    phone.page.evaluate(
        """many => new Promise((done, failed) => {
             const begin = performance.now();
             (function step() {
               if (document.querySelectorAll(".item").length === many) return done();
               if (performance.now() - begin > 60000) return failed(new Error(`${document.querySelectorAll(".item").length} items`));
               scrollTo(0, document.body.scrollHeight);
               requestAnimationFrame(step);
             })();
           })""", MANY)
    # Back up, as a thumb does it, with what is on the way shown. Only what is on the screen is measured: of the rest, Chromium
    # has no layout, and would make it for each question.
    missing = lambda: phone.page.evaluate(
        """() => [...document.querySelectorAll(".item")].filter((one) => { const { top, bottom } = one.getBoundingClientRect(); return bottom > 0 && top < innerHeight; })
             .flatMap((one) => [...one.querySelectorAll(".media:not(.loaded)")]).filter((one) => { const { top, bottom } = one.getBoundingClientRect();
             return bottom > 0 && top < innerHeight; }).map((one) => one.outerHTML)""")
    for _ in range(12):
        phone.page.mouse.wheel(0, -3000)
        until(lambda: not missing(), lambda: f"no picture: {missing()}")
    pictures, canvases = (phone.page.locator(f".media {kind}").count() for kind in ["img", "canvas"])
    blobs, size = phone.page.evaluate("most")
    assert 0 < pictures < 60 and 0 < canvases < 60 and blobs < 120 and size < 50_000_000, (pictures, canvases, blobs, size)
    print(f"        {time.monotonic() - start:.1f} s; {pictures} pictures, at most {blobs} blobs of {size / 1e6:.1f} MB", flush=True)
