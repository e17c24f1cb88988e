"""For everybody: what axe finds, the keyboard alone, right to left, large text and reduced motion."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from app_phone import LARGE
from app_server import password, until

PHONE = {"width": 390, "height": 844}


def looks(phone, place, failures):
    """Judges what is shown, on both screens in both colours."""
    for size in [PHONE, LARGE]:
        phone.page.set_viewport_size(size)
        for colours in ["light", "dark"]:
            phone.page.emulate_media(color_scheme=colours)
            found = Axe().run(phone.page).response
            assert len(found["passes"]) > 10, found
            for finding in found["violations"]:
                nodes = [node["html"][:160] for node in finding["nodes"]][:3]
                failures.append(f"{place}, {size['width']}, {colours}: {finding['id']}: {nodes}")
            over = phone.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            if over > 0:
                failures.append(f"{place}, {size['width']}: {over} px are to the right of the screen")


def look_everywhere(bench, locale):
    server, failures = bench.server, []
    user = bench.reader()
    server.add(user)
    server.send(user, message="A picture", richType="img", payload="beach.jpg", alt="The beach", title="With a title", subtitle="And more")
    server.send(user, message="The bell", richType="sound", payload="chime.wav")
    server.send(user, message="A link", richType="url", payload="welcome.url", link="https://shop.example/4711")
    server.send(user, message="Answer", actions=[
        {"id": "yes", "label": "Yes"}, {"id": "ask", "label": "Ask", "input": "Your question"}, {"id": "no", "label": "No", "destructive": True}])
    phone = bench.phone("", locale=locale)
    phone.user, page = user, phone.page
    page.goto(server.app)
    expect(page.locator("#name")).to_be_visible()
    looks(phone, "welcome", failures)
    page.fill("#name", user)
    page.fill("#password", "a wrong one")
    page.locator("form:has(#name) button").click()
    expect(page.get_by_role("alert")).to_be_visible()
    looks(phone, "welcome with a problem", failures)
    link, _ = server.pair(user)
    phone.follow(link)
    expect(page.locator(".panel button.main")).to_be_visible()
    looks(phone, "welcome by a link", failures)
    page.locator(".panel button.main").click()
    expect(page.locator(".item")).to_have_count(4)
    expect(page.locator(".media img")).to_be_visible()
    page.locator(".reply-part > button").click()
    looks(phone, "inbox", failures)
    page.locator(".enlarge").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    looks(phone, "picture", failures)
    page.keyboard.press("Escape")
    phone.go("#search/nothing")
    expect(page.locator(".empty")).to_be_visible()
    looks(phone, "search", failures)
    phone.go("#settings")
    expect(page.locator("#language")).to_be_visible()
    page.locator(".times").evaluate("one => one.closest('section').querySelector('[role=switch]').click()")
    expect(page.locator(".times")).to_be_visible()
    looks(phone, "settings", failures)
    page.locator("ul.rows + button").click()
    looks(phone, "password for another device", failures)
    page.locator("#again").fill(password(user))
    page.locator("dialog button.main").click()
    expect(page.locator("svg.qr-code")).to_be_visible()
    code = page.locator("dialog .code").inner_text()
    server.codes |= {code, code.replace(" ", "")}
    looks(phone, "code for another device", failures)
    page.locator("dialog button.main").click()
    page.locator("button.danger").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    looks(phone, "signing out", failures)
    page.locator("dialog button.danger").click()
    expect(page.locator("#name")).to_be_visible()
    looks(phone, "signed out", failures)
    assert not failures, "\n".join(failures)


def check_axe_finds_nothing_in_english(bench):
    look_everywhere(bench, "en-GB")


def check_axe_finds_nothing_in_german(bench):
    look_everywhere(bench, "de-DE")


def focused(page):
    return page.evaluate(
        """() => { const one = document.activeElement; const label = one.getAttribute("aria-label") || one.labels?.[0]?.textContent || one.textContent || one.placeholder;
             return [one.localName, (label ?? "").trim()]; }""")


def tab_to(page, name, most=60, key="Tab"):
    """Presses Tab until something of this name has the focus, which must be seen."""
    seen = []
    for _ in range(most):
        page.keyboard.press(key)
        kind, label = focused(page)
        seen.append(label)
        if label.startswith(name) and kind != "body":
            assert page.evaluate(
                "(() => { const { outlineStyle, boxShadow } = getComputedStyle(document.activeElement); return outlineStyle !== 'none' || boxShadow !== 'none'; })()"), f"{name}: its focus is not seen"
            return
    raise AssertionError(f"{name} is not reached: {seen}")


def check_the_keyboard_alone_pairs_reads_answers_deletes_and_signs_out(bench):
    server, user = bench.server, bench.reader()
    server.add(user)
    number = server.send(user, message="To answer", actions=[{"id": "ask", "label": "Ask", "input": "Your question"}])
    second = server.send(user, message="To read")
    server.send(user, message="To delete")
    _, short = server.pair(user)
    phone = bench.phone("", viewport=LARGE)
    phone.user, page = user, phone.page
    page.goto(server.app)
    expect(page.locator("h1")).to_be_focused()
    tab_to(page, "Code")
    page.keyboard.type(short)
    tab_to(page, "Use the code")
    page.keyboard.press("Enter")
    phone.inbox_opens()
    expect(page.locator(".item")).to_have_count(3)
    # From the beginning of the page, past what stands beside the inbox.
    page.evaluate("document.activeElement.blur()")
    tab_to(page, "Skip to the content")
    page.keyboard.press("Enter")
    tab_to(page, "Delete")
    page.keyboard.press("Enter")
    expect(phone.item("To delete")).to_have_count(0)
    # The focus stays in the list.
    assert focused(page)[1] == "Delete", focused(page)
    tab_to(page, "Mark as read", key="Shift+Tab")
    page.keyboard.press("Enter")
    until(lambda: server.receipt(second, user)["state"] == "read")
    assert focused(page)[0] == "li", focused(page)
    tab_to(page, "Ask")
    page.keyboard.press("Enter")
    expect(page.get_by_placeholder("Your question")).to_be_focused()
    page.keyboard.type("When?")
    page.keyboard.press("Enter")
    until(lambda: server.interactions(number) == [("reply", "ask", "When?")])
    tab_to(page, "Settings", key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Settings")
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    tab_to(page, "Sign out")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    tab_to(page, "Sign out")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    assert server.devices(user) == []


def check_a_text_from_right_to_left_stands_right_and_so_does_the_page(bench):
    server = bench.server
    phone = bench.phone()
    server.send(phone.user, title="عرض الصيف", message="خصم كبير حتى نهاية الأسبوع.", language="ar")
    server.send(phone.user, title="Summer", message="Only this week.")
    arabic, english = phone.item("عرض"), phone.item("Only this week")
    expect(arabic).to_be_visible()
    assert arabic.locator("h3").evaluate("one => [getComputedStyle(one).direction, one.lang]") == ["rtl", "ar"]
    assert english.locator("h3").evaluate("one => getComputedStyle(one).direction") == "ltr"
    # As it would be in a language that is written so: what is at the beginning of a line changes its side.
    for size in [PHONE, LARGE]:
        phone.page.set_viewport_size(size)
        for place in ["", "#settings"]:
            phone.go(place)
            expect(phone.page.locator("h1")).to_have_text("Settings" if place else "Inbox")
            heading = lambda: phone.page.locator("h1").evaluate("one => { const range = document.createRange(); range.selectNodeContents(one); const { left, right } = range.getBoundingClientRect(); return [left, innerWidth - right]; }")
            before = heading()
            phone.page.evaluate("document.documentElement.dir = 'rtl'")
            after = heading()
            assert abs(before[0] - after[1]) < 20, (size, place, before, after)
            assert phone.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (size, place)
            phone.page.evaluate("document.documentElement.dir = ''")


def check_text_of_twice_the_size_fits(bench):
    server = bench.server
    phone = bench.phone()
    server.send(
        phone.user, title="A title with Donaudampfschifffahrtsgesellschaft", message="Some text. " * 30, link="https://shop.example/" + "a" * 90, richType="img",
        payload="beach.jpg", actions=[{"id": "yes", "label": "An answer of some length"}, {"id": "ask", "label": "Ask", "input": "Your question"}])
    # As the setting of the browser does it.
    phone.page.add_init_script("addEventListener('DOMContentLoaded', () => { document.documentElement.style.fontSize = '200%'; })")
    for place, heading in [("", "Inbox"), ("#unread", "Unread"), ("#settings", "Settings")]:
        phone.follow(server.app + place)
        expect(phone.page.locator("h1")).to_have_text(heading)
        expect(phone.page.locator(".loading")).to_have_count(0)
        assert phone.page.locator("h1").evaluate("one => parseFloat(getComputedStyle(one).fontSize)") > 36
        # Nothing is beyond the edge, and no button's text is cut.
        beyond = phone.page.evaluate(
            """() => [...document.querySelectorAll("main *, header *")].filter((one) => one.checkVisibility() && !one.closest("nav, svg")
                 && (one.getBoundingClientRect().right > innerWidth + 1 || one.localName === "button" && one.scrollWidth > one.clientWidth + 1))
                 .map((one) => one.outerHTML.slice(0, 120))""")
        assert beyond == [], (heading, beyond)


def check_who_wants_less_motion_gets_none(bench):
    server = bench.server
    phone = bench.phone()
    server.send(phone.user, message="A picture", richType="img", payload="beach.jpg")
    expect(phone.item("A picture").locator("img")).to_be_visible()
    for place in ["", "#settings"]:
        phone.go(place)
        moving = phone.page.evaluate(
            """() => [...document.querySelectorAll("*")].filter((one) => { const { transitionDuration, animationName, animationDuration } = getComputedStyle(one);
                 return transitionDuration.split(",").some((time) => parseFloat(time) > 0.01) || animationName !== "none" && parseFloat(animationDuration) > 0.01; })
                 .map((one) => one.outerHTML.slice(0, 100))""")
        assert moving == [], moving


def check_targets_are_large_enough_for_a_thumb(bench):
    server = bench.server
    phone = bench.phone()
    server.send(phone.user, message="Answer", actions=[{"id": "yes", "label": "Y"}, {"id": "ask", "label": "A", "input": "Q"}])
    expect(phone.item("Answer")).to_be_visible()
    for place in ["", "#settings"]:
        phone.go(place)
        small = phone.page.evaluate(
            """() => [...document.querySelectorAll("button, a, input, select")].filter((one) => one.checkVisibility() && !one.matches(".skip"))
                 .map((one) => [one.outerHTML.slice(0, 90), (one.closest("label.switch, label.check") ?? one).getBoundingClientRect()])
                 .filter(([, { width, height }]) => width < 24 || height < 24).map(([html]) => html)""")
        assert small == [], small
