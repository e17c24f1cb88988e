"""The settings: what a device changes of itself, on the server and in this browser."""

from playwright.sync_api import expect

from app_phone import LARGE
from app_server import until


def own(phone):
    return phone.server.devices(phone.user)[0]


def settings_of(bench):
    phone = bench.phone()
    phone.go("#settings")
    expect(phone.page.get_by_role("heading", name="Account")).to_be_visible()
    return phone


def check_the_name_subjects_and_quiet_hours_are_kept_by_the_server(bench):
    phone = settings_of(bench)
    phone.page.get_by_label("Name", exact=True).fill("Anna’s phone")
    phone.page.keyboard.press("Tab")
    until(lambda: own(phone)["name"] == "Anna’s phone")
    phone.page.get_by_role("switch", name="Offers").check()
    until(lambda: "offers" in own(phone)["tags"])
    phone.page.get_by_role("switch", name="News").check()
    until(lambda: {"news", "offers", f"username:{phone.user}"} == set(own(phone)["tags"]))
    phone.page.get_by_role("switch", name="Offers").uncheck()
    until(lambda: {"news", f"username:{phone.user}"} == set(own(phone)["tags"]))
    phone.page.get_by_role("switch", name="No notifications at night").check()
    until(lambda: own(phone).get("quietHours") == {"from": "22:00", "until": "07:00"})
    phone.page.get_by_label("Until").fill("08:30")
    phone.page.keyboard.press("Tab")
    until(lambda: own(phone).get("quietHours") == {"from": "22:00", "until": "08:30"})
    # It is there when one comes again.
    phone.page.reload()
    expect(phone.page.get_by_label("Name", exact=True)).to_have_value("Anna’s phone")
    expect(phone.page.get_by_role("switch", name="News")).to_be_checked()
    expect(phone.page.get_by_role("switch", name="Offers")).not_to_be_checked()
    expect(phone.page.get_by_label("Until")).to_have_value("08:30")
    phone.page.get_by_role("switch", name="No notifications at night").uncheck()
    until(lambda: own(phone).get("quietHours") is None)


def check_the_language_is_chosen_or_the_browsers(bench):
    phone = bench.phone("", locale="de-AT", timezone_id="Europe/Vienna")
    phone.page.goto(bench.server.app)
    expect(phone.page.locator("h1")).to_have_text("Willkommen bei richpush")
    user = bench.reader()
    bench.server.add(user)
    pairing = bench.server.call(user, "POST", "/api/pairings", {})
    bench.server.codes |= {pairing["code"], pairing["shortCode"]}
    phone.user = user
    phone.follow(pairing["link"])
    phone.page.locator(".panel button.main").click()
    expect(phone.page.locator(".item, .empty")).to_have_count(1)
    assert phone.page.evaluate("document.documentElement.lang") == "de"
    assert own(phone)["timeZone"] == "Europe/Vienna" and own(phone)["language"].startswith("de"), own(phone)
    phone.go("#settings")
    phone.page.locator("#language").select_option("en")
    expect(phone.page.locator("h1")).to_have_text("Settings")
    until(lambda: own(phone)["language"].startswith("en"))
    phone.page.reload()
    expect(phone.page.locator("h1")).to_have_text("Settings")


def check_settings_that_cannot_be_saved_go_back(bench):
    phone = settings_of(bench)
    phone.page.route("**/api/register/*", lambda route: route.abort())
    switch = phone.page.get_by_role("switch", name="Offers")
    switch.click()
    expect(phone.page.get_by_role("status")).to_contain_text("The server cannot be reached.")
    expect(switch).not_to_be_checked()


def check_signing_out_leaves_nothing_and_ends_the_device(bench):
    server = bench.server
    phone = bench.phone(viewport=LARGE)
    server.send(phone.user, message="Private", richType="img", payload="logo.png")
    expect(phone.item("Private").locator("img")).to_be_visible()
    phone.context.grant_permissions(["notifications"], origin=server.url)
    phone.watch_pushes()
    phone.shown_by(phone.push_of(message="Still there"))
    # Another tab of the same app.
    other = phone.new_page()
    other.goto(server.app)
    expect(other.locator(".item")).to_have_count(1)
    phone.go("#settings")

    def both_ask_once_more(route):
        # The server has ended the device, whose tabs do not know it yet.
        response = route.fetch()
        for page in [phone.page, other]:
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
            page.evaluate("fetch('api/app')")
        route.fulfill(response=response)

    phone.page.route("**/api/register/*", both_ask_once_more)
    phone.button("Sign out").click()
    phone.button("Sign out", phone.page.get_by_role("dialog")).click()
    for page in [phone.page, other]:
        expect(page.get_by_text("You are signed out. Nothing of yours is left in this browser.")).to_be_visible()
    kept = phone.kept()
    assert kept == {"records": 0, "caches": [], "shown": 0, "badge": 0, "storage": []}, kept
    assert server.devices(phone.user) == []
    phone.page.reload()
    expect(phone.page.locator("h1")).to_have_text("Welcome to richpush")
    assert phone.page.locator(".item").count() == 0
