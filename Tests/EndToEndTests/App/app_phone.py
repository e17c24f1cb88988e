"""The app in one Chromium: a profile of its own, signed in by a link, with what its worker shows and what went wrong."""

import json

from playwright.sync_api import expect

from app_server import PATIENCE, password, until

# Chromium has no desktop here on which there is a badge.
BADGE = "self.badges = []; Navigator.prototype.setAppBadge = async (count) => { badges.push(count); }; Navigator.prototype.clearAppBadge = async () => { badges.push(0); };"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1"
LARGE = {"width": 1440, "height": 900}


class Phone:
    """A profile with a page of the app."""

    def __init__(self, new_context, server, user=None, **options):
        self.server, self.user, self.errors = server, user, []
        self.context = new_context(
            **{"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "locale": "en-GB", "reduced_motion": "reduce"} | options)
        self.context.set_default_timeout(PATIENCE * 1000)
        self.context.add_init_script(BADGE)
        # An empty page, which sees what workers there are while no page of the app is open.
        self.keeper = self.context.new_page()
        self.cdp, self.registrations = self.context.new_cdp_session(self.keeper), {}
        self.cdp.on("ServiceWorker.workerRegistrationUpdated", lambda event: self.registrations.update(
            {one["scopeURL"]: one["registrationId"] for one in event["registrations"] if not one["isDeleted"]}))
        self.cdp.send("ServiceWorker.enable")
        self.page = self.new_page()
        if user:
            self.sign_in(user)

    def new_page(self):
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        return page

    def close(self):
        self.context.close()

    def sign_in(self, user):
        """Adds the user, unless there is one, and pairs by a code of the API."""
        self.user = user
        self.server.add(user)
        pairing = self.server.call(user, "POST", "/api/pairings", {})
        self.server.codes |= {pairing["code"], pairing["shortCode"]}
        self.follow(pairing["link"])
        self.set_up()

    def follow(self, link):
        # A link that differs in the fragment only would not load the page.
        self.page.goto("about:blank")
        self.page.goto(link)

    def set_up(self):
        """Presses the button of a link, and waits for the inbox."""
        self.page.get_by_role("button", name="Set up this").click()
        self.inbox_opens()

    def inbox_opens(self):
        expect(self.page.locator("h1")).to_have_text("Inbox")
        expect(self.page.locator(".loading")).to_have_count(0)

    def item(self, text):
        return self.page.locator(".item").filter(has_text=text)

    def button(self, name, within=None):
        return (within or self.page).get_by_role("button", name=name, exact=True)

    def device(self, page=None):
        return (page or self.page).evaluate("Device.load()")

    def kept(self):
        """What this browser has of the user: records, caches, notifications and the last count on the icon."""
        return self.page.evaluate(
            """async () => ({
                 records: (await Promise.all((await indexedDB.databases()).map(({ name }) => new Promise((done) => {
                   const opening = indexedDB.open(name);
                   opening.onsuccess = async () => {
                     const database = opening.result, stores = [...database.objectStoreNames];
                     const counts = stores.length && stores.map((store) => new Promise((counted) => {
                       database.transaction(store).objectStore(store).count().onsuccess = ({ target }) => counted(target.result); }));
                     const all = await Promise.all(counts || []);
                     database.close();
                     done(all.reduce((sum, count) => sum + count, 0));
                   };
                 })))).reduce((sum, count) => sum + count, 0),
                 caches: (await caches.keys()).filter((name) => !name.startsWith("shell-")),
                 shown: (await (await navigator.serviceWorker.ready).getNotifications()).length, badge: badges.at(-1) ?? 0, storage: Object.keys(sessionStorage),
               })""")

    def go(self, hash):
        self.page.evaluate("hash => { location.hash = hash; }", hash)

    # The worker.

    @property
    def worker(self):
        return until(lambda: self.keeper.evaluate("1") and next(
            (one for one in self.context.service_workers if one.url == self.server.app + "worker.js"), None))

    def watch_pushes(self):
        """Counts the pushes of which the worker tells the page; waits for the worker."""
        self.page.evaluate(
            """async () => { await navigator.serviceWorker.ready; self.told = 0;
                 navigator.serviceWorker.addEventListener("message", ({ data }) => { self.told += data.type === "push"; }); }""")

    def deliver(self, push):
        """Gives the worker a push, as the browser's push service would."""
        registration = until(lambda: self.keeper.evaluate("1") and self.registrations.get(self.server.app))
        self.cdp.send("ServiceWorker.deliverPushMessage", {
            "origin": self.server.url, "registrationId": registration, "data": push if isinstance(push, str) else json.dumps(push)})

    def shown_by(self, push):
        """What the worker shows of a push."""
        before, told = self.shown(), self.page.evaluate("self.told")
        self.deliver(push)
        # Chromium forgets a notification whose list is asked for before it is on the screen.
        until(lambda: self.page.evaluate("self.told") > told, lambda: f"the worker shows nothing: {self.errors}")
        new = [one for one in self.shown() if one not in before]
        assert len(new) == 1, new
        return new[0]

    def shown(self):
        return self.worker.evaluate(
            """async () => (await registration.getNotifications()).map(({ title, body, tag, icon, image, silent, actions, data, timestamp }) =>
                 ({ title, body, tag, icon, image, silent, timestamp, data, actions: actions.map(({ action, title }) => [action, title]) }))""")

    def push_of(self, **notification):
        """The push that the server would send."""
        body = {"message": "Look", "to": [f"username:{self.user}"]} | notification
        texts = self.server.call("shop", "POST", "/api/notifications?dry-run", body)["texts"]
        return next(text["payload"] for text in texts if text["platform"] == "webpush")

    def send(self, **notification):
        """Creates it; returns its ID and its push."""
        push = self.push_of(**notification)
        number = self.server.send(self.user, **notification)
        return number, push | {"richId": push["richId"].__class__(number) if "richId" in push else number}

    def press(self, button=""):
        """What opens when the last notification is clicked, or one of its buttons: this list of addresses, or "the page"."""
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

    def sign_in_by_password(self, user=None):
        """Fills in name and password."""
        user = user or self.user
        self.page.get_by_label("Name").fill(user)
        self.page.get_by_label("Password").fill(password(user))
        self.button("Sign in").click()
