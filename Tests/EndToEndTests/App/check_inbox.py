"""What the inbox shows, plays and offers; live, while it is open."""

from playwright.sync_api import expect

from app_server import until

LINK = "https://shop.example/4711"
ACTIONS = [
    {"id": "track", "label": "Track", "link": "https://shop.example/t/4711"}, {"id": "come", "label": "I will come"},
    {"id": "ask", "label": "Ask", "input": "Your question"}]


def check_a_picture_comes_live_and_is_sharp(bench):
    server, phone = bench.server, bench.phone()
    number = server.send(phone.user, message="At the beach", richType="img", payload="beach.jpg", alt="The beach in the evening")
    picture = phone.item("At the beach").get_by_role("img", name="The beach in the evening")
    expect(picture).to_be_visible()
    [natural, shown, ratio, whole] = picture.evaluate("one => [one.naturalWidth, one.clientWidth, devicePixelRatio, one.src]")
    assert ratio == 2 and natural >= shown * ratio and whole.startswith("blob:"), (natural, shown)
    # It is written after the response.
    until(lambda: server.receipt(number, phone.user)["state"] == "fetched")
    phone.page.get_by_role("button", name="Enlarge: The beach in the evening").click()
    viewer = phone.page.get_by_role("dialog")
    expect(viewer.get_by_role("img")).to_be_visible()
    phone.page.keyboard.press("Escape")
    expect(viewer).to_have_count(0)
    until(lambda: server.receipt(number, phone.user)["state"] == "read")


def check_what_comes_later_moves_nothing(bench):
    """A frame of the picture's size is there before the picture is."""
    server, phone = bench.server, bench.phone()
    server.send(phone.user, message="Later in the list")
    expect(phone.item("Later in the list")).to_be_visible()
    waiting, held = [], [True]
    phone.page.route("**/api/notifications/*?*", lambda route: waiting.append(route) if held else route.continue_())
    server.send(phone.user, message="At the beach", richType="img", payload="beach.jpg")
    frame = phone.item("At the beach").locator(".media")
    expect(frame.locator("canvas")).to_be_visible()
    until(lambda: phone.page.evaluate("1") and waiting)
    before = frame.bounding_box()
    held.clear()
    for route in waiting:
        route.continue_()
    expect(frame.locator("img")).to_be_visible()
    assert frame.bounding_box() == before and before["height"] > 100, (before, frame.bounding_box())


def check_a_film_shows_its_poster_and_plays_in_its_place(bench):
    server, phone = bench.server, bench.phone()
    server.add_film()
    number = server.send(phone.user, message="Calm", richType="video", payload="evening.mp4", alt="Waves")
    item = phone.item("Calm")
    expect(item.get_by_role("img", name="Waves")).to_be_visible()
    expect(item.locator("video")).to_have_count(0)
    item.get_by_role("button", name="Play: Waves").click()
    until(lambda: item.locator("video").evaluate("film => film.currentTime > 0.2 && film.videoWidth > 0"))
    until(lambda: server.receipt(number, phone.user)["state"] == "read")


def check_a_sound_is_played_a_text_of_a_plugin_is_read_and_a_link_is_a_card(bench):
    server, phone = bench.server, bench.phone()
    server.send(phone.user, message="The bell", richType="sound", payload="chime.wav")
    server.send(phone.user, message="For you", richType="coupon", payload="SUMMER25")
    server.send(phone.user, message="Read this", richType="url", payload="welcome.url")
    player = phone.item("The bell").locator("audio")
    expect(player).to_be_visible()
    assert player.evaluate("async (sound) => { sound.muted = true; await sound.play(); return sound.duration; }") > 0
    expect(phone.item("For you")).to_contain_text("Show SUMMER25 at the till.")
    card = phone.item("Read this").locator("a.card")
    expect(card).to_have_attribute("href", "https://www.swift.org/getting-started/")
    expect(card).to_have_attribute("rel", "noopener noreferrer")


def check_texts_link_and_buttons_are_shown_and_no_media_is_fetched_for_a_text(bench):
    server, phone = bench.server, bench.phone()
    fetches = []
    phone.page.on("request", lambda request: fetches.append(request.url))
    number = server.send(
        phone.user, title="<b>Parcel</b>", subtitle="Order 4711", message="It is at the door.", link=LINK, actions=ACTIONS)
    item = phone.item("Order 4711")
    expect(item.locator("h3")).to_have_text("<b>Parcel</b>")
    expect(item.locator("p.text")).to_have_text("It is at the door.")
    expect(item.locator("a.card")).to_have_attribute("href", LINK)
    expect(item.get_by_role("link", name="Track")).to_have_attribute("href", ACTIONS[0]["link"])
    assert item.locator("time").get_attribute("datetime").endswith("Z")
    assert not [url for url in fetches if f"/notifications/{number}" in url], fetches


def check_a_link_that_is_no_text_is_a_card_and_hides_no_other_notification(bench):
    server, phone = bench.server, bench.phone()
    server.send(phone.user, message="Before")
    links = ["https://shop.example/100%", "https://shop.example/caf%E9"]
    for link in links:
        server.send(phone.user, message="With a link", link=link)
    expect(phone.page.locator("a.card small")).to_have_text(["/caf%E9", "/100%"])
    expect(phone.item("Before")).to_be_visible()
    expect(phone.page.locator(".away")).to_be_hidden()


def check_buttons_and_replies_reach_the_publisher_once(bench):
    server, phone = bench.server, bench.phone()
    number = server.send(phone.user, title="Coming?", message="On Saturday", actions=ACTIONS)
    item = phone.item("Coming?")
    phone.button("I will come", item).click()
    expect(item.locator("button.done")).to_have_text("I will come")
    assert server.interactions(number) == [("action", "come", None)], server.interactions(number)
    until(lambda: server.receipt(number, phone.user)["state"] == "read")
    phone.button("Ask", item).click()
    field = item.get_by_placeholder("Your question")
    expect(field).to_be_focused()
    # The answer to the first request is lost: what is sent once more is the same reply.
    lost = []
    phone.page.route("**/interactions", lambda route: (lost.append(route.fetch().status), route.abort()) if not lost else route.continue_())
    field.fill("May I bring friends?")
    phone.button("Send", item).click()
    expect(item).to_contain_text("You replied: “May I bring friends?”")
    expect(field).to_have_value("")
    assert lost == [201]
    assert server.interactions(number) == [("action", "come", None), ("reply", "ask", "May I bring friends?")], server.interactions(number)


def check_a_reply_can_be_finished_where_the_button_of_a_push_has_led(bench):
    """There the notification is shown alone, with receipts that change meanwhile."""
    server, phone = bench.server, bench.phone()
    number = server.send(phone.user, title="Coming?", message="On Saturday", actions=ACTIONS)
    phone.follow(f"{server.app}#reply/{number}/ask")
    field = phone.item("Coming?").get_by_placeholder("Your question")
    expect(field).to_be_focused()
    until(lambda: server.receipt(number, phone.user)["state"] == "read")
    # The second answer comes after the first one was shown.
    for text in ["May I", "May I bring friends?"]:
        field.fill(text)
        with phone.page.expect_response(f"**/api/notifications/{number}/details"):
            phone.page.evaluate("void dispatchEvent(new Event('online'))")
    expect(field).to_have_value("May I bring friends?")
    phone.page.keyboard.press("Enter")
    until(lambda: server.interactions(number) == [("reply", "ask", "May I bring friends?")])


def check_unread_is_counted_on_the_icon_and_read_by_one_or_by_all(bench):
    server, phone = bench.server, bench.phone()
    numbers = [server.send(phone.user, message=f"Message {index}") for index in range(3)]
    badge = lambda: phone.page.evaluate("badges.at(-1)")
    until(lambda: badge() == 3)
    expect(phone.page).to_have_title("(3) richpush")
    phone.button("Mark as read", phone.item("Message 1")).click()
    until(lambda: badge() == 2)
    # The page shows it before the server has answered.
    until(lambda: [server.receipt(number, phone.user)["state"] == "read" for number in numbers] == [False, True, False])
    phone.go("#unread")
    expect(phone.page.locator(".item")).to_have_count(2)
    phone.go("")
    expect(phone.page.locator(".item")).to_have_count(3)
    phone.button("Mark all read").click()
    until(lambda: badge() == 0)
    expect(phone.page.locator(".item.unread")).to_have_count(0)
    assert all(server.receipt(number, phone.user)["state"] == "read" for number in numbers)
    phone.go("#unread")
    expect(phone.page.get_by_text("All read", exact=True)).to_be_visible()


def check_what_another_device_reads_or_deletes_changes_here(bench):
    server, phone = bench.server, bench.phone()
    number, other = server.send(phone.user, message="Read elsewhere"), server.send(phone.user, message="Deleted elsewhere")
    expect(phone.page.locator(".item.unread")).to_have_count(2)
    server.call(phone.user, "PUT", f"/api/notifications/{number}/read")
    server.call(phone.user, "PUT", f"/api/notifications/{other}/hidden")
    # A withdrawn notification goes, too.
    third = server.send(phone.user, message="Withdrawn")
    expect(phone.item("Withdrawn")).to_be_visible()
    server.call("shop", "DELETE", f"/api/notifications/{third}")
    phone.page.reload()
    expect(phone.page.locator(".item")).to_have_count(1)
    expect(phone.page.locator(".item.unread")).to_have_count(0)


def check_search_and_subjects_choose_and_can_be_linked_to(bench):
    server, phone = bench.server, bench.phone()
    device = server.devices(phone.user)[0]["registration"]
    server.call(phone.user, "PATCH", f"/api/register/{device}", {"tags": ["news"]})
    server.send(phone.user, title="Grüße", message="vom grünen Hügel")
    server.call("shop", "POST", "/api/notifications", {"message": "Of the news", "to": ["news"]})
    expect(phone.page.locator(".item")).to_have_count(2)
    phone.page.get_by_role("navigation").get_by_role("link", name="News").click()
    expect(phone.page.locator("h1")).to_have_text("News")
    expect(phone.page.locator(".item")).to_have_count(1)
    expect(phone.item("Of the news")).to_be_visible()
    phone.page.reload()
    expect(phone.page.locator("h1")).to_have_text("News")
    expect(phone.page.locator(".item")).to_have_count(1)
    phone.go("")
    phone.button("Search").click()
    field = phone.page.get_by_role("searchbox")
    field.fill("HÜGEL grüße")
    expect(phone.page.locator("h1")).to_have_text("“HÜGEL grüße”")
    expect(phone.page.locator(".item")).to_have_count(1)
    expect(phone.item("vom grünen Hügel")).to_be_visible()
    field.fill("nobody wrote this")
    expect(phone.page.get_by_text("Nothing found")).to_be_visible()
    phone.page.get_by_role("link", name="All notifications").click()
    expect(phone.page.locator(".item")).to_have_count(2)


def check_deleted_is_gone_on_all_devices_and_can_be_brought_back(bench):
    server, phone = bench.server, bench.phone()
    server.send(phone.user, message="Stays")
    server.send(phone.user, message="Goes")
    inbox = lambda: {one["message"] for one in server.call(phone.user, "GET", "/api/notifications")["notifications"]}
    phone.button("Delete", phone.item("Goes")).click()
    expect(phone.item("Goes")).to_have_count(0)
    until(lambda: inbox() == {"Stays"})
    phone.button("Undo").click()
    expect(phone.item("Goes")).to_be_visible()
    assert inbox() == {"Stays", "Goes"}
    phone.button("Delete", phone.item("Goes")).click()
    until(lambda: inbox() == {"Stays"})
    phone.page.reload()
    expect(phone.page.locator(".item")).to_have_count(1)


def check_what_was_asked_for_before_brings_nothing_deleted_back(bench):
    server, phone = bench.server, bench.phone()
    server.send(phone.user, message="Stays")
    server.send(phone.user, message="Goes")
    expect(phone.page.locator(".item")).to_have_count(2)
    late = []
    phone.page.route("**/api/notifications?limit=30", lambda route: late.append((route, route.fetch())) if not late else route.continue_())
    phone.page.evaluate("void dispatchEvent(new Event('online'))")
    until(lambda: phone.page.evaluate("1") and late)
    with phone.page.expect_response("**/hidden"):
        phone.button("Delete", phone.item("Goes")).click()
    # The inbox is asked for once more.
    with phone.page.expect_request("**/api/notifications?limit=30"):
        [(route, answer)] = late
        route.fulfill(response=answer)
    expect(phone.item("Goes")).to_have_count(0)
    expect(phone.item("Stays")).to_be_visible()


def check_the_notification_of_an_address_is_shown_and_read(bench):
    server, phone = bench.server, bench.phone()
    number = server.send(phone.user, message="Named")
    phone.follow(f"{server.app}#{number}")
    expect(phone.item("Named")).to_be_in_viewport()
    until(lambda: server.receipt(number, phone.user)["state"] == "read")
    other = server.send("shop", message="Somebody else's")
    phone.follow(f"{server.app}#{other}")
    expect(phone.page.get_by_role("status")).to_contain_text("This notification is not there any more.")
    expect(phone.item("Named")).to_be_visible()
