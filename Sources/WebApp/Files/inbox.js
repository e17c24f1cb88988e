// The inbox: notifications, newest first, under a heading for each day; live, searched, filtered, and kept for offline.
import "./offline.js";
import { moment } from "./dates.js";
import { DayList } from "./day-list.js";
import { attempt, fill, h, icon, say } from "./dom.js";
import { Item } from "./item.js";
import { keepMedia } from "./media.js";
import { app as words } from "./app-texts.js";

const pageSize = 30;
/** As many are kept offline (offline.js), so their media is kept, too. */
const mostKept = 50;

export class Inbox {
  #context;
  #items = new Map();
  #filter = {};
  #next = null;
  #turn = 0;
  #isLoading = false;
  #isLoaded = false;
  #failures = 0;
  /** How often the inbox was asked for, and which answer is shown: an earlier one may come later. */
  #asked = 0;
  #shown = 0;
  /** How often the user has changed something, and until all of that is done: a page from before does not have it. */
  #changes = 0;
  #changing = Promise.resolve();
  unread = 0;

  constructor(context) {
    this.#context = context;
    this.title = h("h1", { tabIndex: -1 });
    this.count = h("p", { class: "quiet count" });
    this.readAll = h("button", { type: "button", class: "plain", on: { click: () => attempt(this.readAll, () => this.markAllRead()) } }, icon("checks"), words.inbox.readAll);
    this.back = h("a", { class: "button plain", href: "#" }, icon("back"), words.inbox.all);
    this.away = h("p", { class: "away", hidden: true }, icon("offline"), h("span"));
    this.list = new DayList();
    this.note = h("div", { class: "note" });
    this.more = h("div", { class: "more", "aria-hidden": "true" });
    this.fresh = h("button", { type: "button", class: "fresh", hidden: true, on: { click: () => this.#toTop() } }, icon("up"), h("span"));
    this.banner = h("div", { class: "banners" });
    this.element = h("div", { class: "inbox" },
      h("div", { class: "head" }, this.back, h("div", { class: "grow" }, this.title, this.count), this.readAll),
      this.banner, this.away, this.fresh, this.list.element, this.note, this.more);
    this.nearby = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) target.item.near(isIntersecting);
    }, { rootMargin: "1200px 0px" });
    this.nearEnd = new IntersectionObserver((entries) => { if (entries.at(-1).isIntersecting) this.loadMore(); }, { rootMargin: "1500px 0px" });
    this.nearEnd.observe(this.more);
    addEventListener("scroll", () => { if (scrollY < 200) this.fresh.hidden = true; }, { passive: true });
  }

  /** Whether a notification is among those that are kept offline with their media. */
  isKept(id) {
    return this.#isWhole && [...this.#items.keys()].slice(0, mostKept).includes(id);
  }

  /** Ends what goes on by itself, and lets go of everything. */
  end() {
    this.#turn += 1;
    clearTimeout(this.retry);
    this.#items.forEach((item) => this.#drop(item));
  }

  get #isWhole() { return !Object.values(this.#filter).some((value) => value || value === 0); }

  /** Shows what a filter lets through: {subject, unread, search} or {id}. */
  async open(filter) {
    this.#turn += 1;
    this.#filter = filter;
    this.#next = null;
    this.#isLoading = this.#isLoaded = false;
    this.#items.forEach((item) => this.#drop(item));
    this.#items.clear();
    this.fresh.hidden = true;
    this.#describe();
    this.list.show([]);
    fill(this.note, h("div", { class: "loading" }, h("span", { class: "hidden" }, words.loading)));
    scrollTo(0, 0);
    await this.refresh();
  }

  /** Fetches the newest 50 with their pictures for when there is no network, one after the other, while nothing else is to be done. */
  async keep() {
    const { client, device } = this.#context;
    if (navigator.connection?.saveData) return;
    const page = await client.inbox({ limit: mostKept });
    await Offline.saveInbox(device, page);
    for (const notification of page.notifications) {
      if (this.#context.device !== device || document.visibilityState !== "visible") return;
      await keepMedia(this.#context, notification, device.pictureWidth);
    }
  }

  /** Fetches the newest page, and shows what is new in it; what is shown and plays stays. */
  async refresh() {
    const turn = this.#turn;
    clearTimeout(this.retry);
    await this.#changing;
    const [asked, changes] = [(this.#asked += 1), this.#changes];
    try {
      if (turn !== this.#turn) return;
      const page = this.#filter.id === undefined ? await this.#context.client.inbox({ ...this.#filter, limit: pageSize }) : await this.#single();
      if (turn !== this.#turn || asked < this.#shown) return;
      if (changes !== this.#changes) return this.refresh();
      this.#shown = asked;
      if (this.#failures) this.#context.isBack();
      this.#failures = 0;
      this.away.hidden = true;
      const isFirst = !this.#items.size;
      this.#merge(page);
      // What was shown without the server ends where the device's copy does.
      if (isFirst || !this.#isLoaded || !page.next) this.#next = page.next;
      this.#isLoaded = true;
      this.#setUnread(page.unread);
      if (this.#isWhole) await Offline.saveInbox(this.#context.device, page);
    } catch (problem) {
      if (turn === this.#turn) await this.#failed(problem);
    }
    this.#describe();
  }

  async #single() {
    const [notification, { unread }] = await Promise.all([
      this.#context.client.notification(this.#filter.id), this.#context.client.inbox({ limit: 1 })]);
    return { notifications: [notification], unread, next: null };
  }

  async loadMore() {
    if (!this.#next || this.#isLoading) return;
    const turn = this.#turn;
    this.#isLoading = true;
    try {
      const page = await this.#context.client.nextPage(this.#next);
      if (turn !== this.#turn) return;
      this.#next = page.next;
      for (const notification of page.notifications) {
        const known = this.#items.get(notification.id);
        if (known) known.show(notification);
        else this.#add(notification);
      }
      this.#arrange();
      this.#setUnread(page.unread);
    } catch (problem) {
      if (turn === this.#turn) await this.#failed(problem);
    } finally {
      if (turn === this.#turn) this.#isLoading = false;
    }
    this.#describe();
    // The end may still be near, or be near again by now: the observer tells only when that changes, and how it is at first.
    if (this.#failures) return;
    this.nearEnd.unobserve(this.more);
    this.nearEnd.observe(this.more);
  }

  #merge({ notifications, next }) {
    const shown = new Set(notifications.map(({ id }) => id));
    const last = next ? notifications.at(-1)?.id ?? Infinity : -1;
    let added = 0;
    // More have come than fit on the page: what is below them is fetched again, when it is scrolled to.
    const hasGap = next && this.#items.size && !notifications.some(({ id }) => this.#items.has(id));
    if (hasGap) this.#next = next;
    for (const [id, item] of this.#items) {
      if ((id < last && !hasGap) || shown.has(id)) continue;
      this.#drop(item);
      this.#items.delete(id);
    }
    const newest = this.#isLoaded ? Math.max(-1, ...this.#items.keys()) : Infinity;
    for (const notification of notifications) {
      const known = this.#items.get(notification.id);
      if (known) known.show(notification);
      else this.#add(notification);
      if (!known && notification.id > newest) added += 1;
    }
    this.#arrange();
    if (added && scrollY > 400) {
      this.fresh.hidden = false;
      this.fresh.lastChild.textContent = words.inbox.fresh;
    }
    if (added && document.visibilityState === "visible") say(words.inbox.arrived(added), { seconds: 3 });
  }

  #add(notification) {
    const item = new Item(this.#context, notification, this);
    this.#items.set(notification.id, item);
    this.nearby.observe(item.element);
  }

  #drop(item) {
    this.nearby.unobserve(item.element);
    item.media?.release();
  }

  /** Puts the items in their order under their days. */
  #arrange() {
    this.#items = new Map([...this.#items].sort(([a], [b]) => b - a));
    this.list.show([...this.#items.values()]);
  }

  /** The heading, and what is said where nothing is. */
  #describe() {
    const { subject, search, unread, id } = this.#filter;
    const name = this.#context.subjectName(subject);
    this.title.textContent = search ? words.inbox.found(search) : id !== undefined ? words.inbox.one : unread ? words.inbox.unread : name ?? words.inbox.title;
    this.back.hidden = id === undefined && !search;
    this.count.textContent = this.unread && id === undefined && !search && !subject ? words.inbox.count(this.unread) : "";
    this.readAll.hidden = !this.unread || id !== undefined || Boolean(search || subject);
    this.more.hidden = !this.#next;
    this.banner.hidden = !this.#isWhole || id !== undefined;
    if (this.#items.size) fill(this.note, !this.#next && this.#items.size > 5 && id === undefined && h("p", { class: "quiet end" }, words.inbox.end));
    else if (!this.#failures) {
      fill(this.note, h("div", { class: "empty" }, icon(search ? "search" : "inbox"),
        h("h2", {}, search ? words.inbox.nothingFound : unread ? words.inbox.allRead : words.inbox.empty),
        h("p", { class: "quiet" }, search ? words.inbox.tryOther : unread ? words.inbox.allReadHint : words.inbox.emptyHint)));
    }
  }

  #setUnread(unread) {
    this.unread = unread;
    this.#context.showUnread(unread);
    // They were read elsewhere.
    if (!unread) for (const item of this.#items.values()) { item.notification.read = true; item.showRead(); }
  }

  /** The server is out of reach: what is kept is shown, and it is tried again; or it has refused the device. */
  async #failed(problem) {
    if (problem.status === 401) return this.#context.signedOut("ended");
    if (problem.status === 404 && this.#filter.id !== undefined) {
      say(words.inbox.gone);
      location.hash = "";
      return;
    }
    this.#failures += 1;
    const isAway = !problem.status || problem.status >= 500 || problem.status === 429;
    const kept = await Offline.inbox(this.#context.device);
    if (kept && !this.#items.size) {
      const { id, unread, subject } = this.#filter;
      const shown = kept.notifications.filter((one) => id !== undefined ? one.id === id : (!unread || !one.read) && (!subject || one.to?.includes(subject)));
      this.#merge({ notifications: this.#filter.search ? [] : shown, next: null });
      this.unread = kept.unread;
    }
    const seconds = problem.retryAfter ?? Math.min(30, 2 ** this.#failures);
    clearTimeout(this.retry);
    this.retry = setTimeout(() => { if (this.#next && this.#items.size && navigator.onLine) this.refresh().then(() => this.loadMore()); else this.refresh(); }, seconds * 1000);
    this.away.hidden = false;
    this.away.lastChild.textContent = !isAway ? problem.message
      : this.#items.size ? words.inbox.away(kept ? moment(new Date(kept.saved)) : null, navigator.onLine) : words.inbox.awayWithNothing(navigator.onLine);
    if (!this.#items.size) fill(this.note);
  }

  // What the user does.

  /** Waits for what the user changes on the server. */
  #change(done) {
    this.#changes += 1;
    this.#changing = Promise.allSettled([this.#changing, done]);
    return done;
  }

  async markRead(item) {
    if (item.isRead) return;
    item.notification.read = true;
    item.showRead();
    this.#setUnread(Math.max(0, this.unread - 1));
    this.#describe();
    try {
      await this.#change(this.#context.client.markRead(item.id));
      Offline.change(this.#context.device, (one) => (one.id === item.id ? { ...one, read: true } : one), this.unread);
      this.#context.tellOthers({ type: "read", id: item.id });
    } catch (problem) {
      if (problem.status === 401) return this.#context.signedOut("ended");
      item.notification.read = false;
      item.showRead();
      this.#setUnread(this.unread + 1);
      this.#describe();
      say(problem.status ? problem.message : words.inbox.notSaved);
    }
  }

  async markAllRead() {
    const [newest] = this.#items.keys();
    if (newest === undefined) return;
    const { unread } = await this.#change(this.#context.client.markAllRead(newest));
    for (const item of this.#items.values()) { item.notification.read = true; item.showRead(); }
    this.#setUnread(unread);
    this.#describe();
    Offline.change(this.#context.device, (one) => ({ ...one, read: true }), unread);
    say(words.inbox.readAllDone);
    this.title.focus({ preventScroll: true });
    this.#context.tellOthers({ type: "read" });
  }

  /** Removes a notification for this user, and offers to bring it back. */
  async remove(item) {
    const { id } = item;
    const neighbours = [...this.element.querySelectorAll(".item")];
    const next = neighbours[neighbours.indexOf(item.element) + 1] ?? neighbours[neighbours.indexOf(item.element) - 1];
    this.#items.delete(id);
    this.#drop(item);
    this.#arrange();
    this.#setUnread(Math.max(0, this.unread - (item.isRead ? 0 : 1)));
    this.#describe();
    (next?.querySelector(".remove") ?? this.title).focus({ preventScroll: true });
    const restore = () => {
      this.#add(item.notification);
      this.#arrange();
      this.#setUnread(this.unread + (item.isRead ? 0 : 1));
      this.#describe();
      this.#items.get(id)?.element.querySelector(".remove").focus();
    };
    try {
      await this.#change(this.#context.client.hide(id));
      Offline.change(this.#context.device, (one) => (one.id === id ? null : one), this.unread);
      this.#context.tellOthers({ type: "changed" });
      const undo = () => this.#change(this.#context.client.unhide(id))
        .then(() => { restore(); this.#context.tellOthers({ type: "changed" }); }).catch(this.#context.failed);
      say(words.inbox.removed, { seconds: 10, action: { label: words.inbox.undo, act: undo } });
    } catch (problem) {
      restore();
      this.#context.failed(problem);
    }
  }

  /** Shows the field for the reply that a notification asked for when its button was pressed. */
  showReply(id, action) {
    this.#items.get(id)?.showReply(action);
  }

  /** Shows a notification that is in the list and marks it as read; false if it is not there. */
  reveal(id) {
    const item = this.#items.get(id);
    if (!item) return false;
    item.element.scrollIntoView({ block: "center" });
    item.element.focus({ preventScroll: true });
    this.markRead(item);
    return true;
  }

  #toTop() {
    this.fresh.hidden = true;
    scrollTo({ top: 0, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    this.title.focus({ preventScroll: true });
  }
}
