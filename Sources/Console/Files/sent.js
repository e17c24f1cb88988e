// What was sent, newest first.
import { address, get, query } from "./api.js";
import { awaitingList } from "./approvals.js";
import { called, contentTypes } from "./content-types.js";
import { countsBar } from "./counts-bar.js";
import { recipients } from "./audience-names.js";
import { fill, h, icon } from "./dom.js";
import { csv, save } from "./export.js";
import { time } from "./format.js";
import { summary } from "./said.js";
import { Screen, state } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.sent;
const size = 50;
/** The most that one file gets, so that a spreadsheet can still open it. */
const mostExported = 100_000;

class Sent extends Screen {
  async load() {
    this.list = h("ul", { class: "sent-list", "aria-label": texts.screens.sent });
    this.more = h("button", { hidden: true, on: { click: () => this.attempt(this.more, () => this.page()) } }, texts.more);
    this.all = h("input", { type: "checkbox", on: { change: () => this.restart() } });
    this.search = h("input", { type: "search", placeholder: t.search, "aria-label": t.search, on: { input: () => this.searchSoon() } });
    this.summary = h("p", { class: "quiet", role: "status" });
    this.export = h("button", { on: { click: () => this.attempt(this.export, () => this.saveList()) } }, t.export);
    this.frame(texts.screens.sent,
      [h("a", { class: "button", href: "#sent/weeks" }, texts.weeks.title), this.export, h("a", { class: "button main", href: "#compose" }, icon("compose"), texts.screens.compose)],
      awaitingList(this.session),
      h("div", { class: "filters" }, h("label", { class: "search" }, icon("search"), this.search),
        this.session.role === "admin" && h("label", { class: "check" }, this.all, t.ofAll), this.summary),
      this.list, this.more);
    this.types = await contentTypes();
    await this.page();
  }

  disconnectedCallback() {
    clearTimeout(this.searching);
  }

  /** After a moment without another letter. */
  searchSoon() {
    clearTimeout(this.searching);
    this.searching = setTimeout(() => this.restart(), 250);
  }

  async restart() {
    try {
      await this.page(true);
    } catch (problem) {
      this.say(problem.message, true);
    }
  }

  /** What the list has with these filters, after the ID `before`, until there are some or no more. */
  async fetch(before, count = size) {
    const found = [];
    do {
      const page = await get(`/api/notifications${query({ sent: true, before, limit: count, sender: this.all.checked ? "*" : "",
        search: this.search.value.trim() })}`);
      found.push(...page.notifications);
      before = page.next ?? undefined;
    } while (before !== undefined && found.length < count && this.isConnected);
    return { found, next: before };
  }

  /** Adds a page or, as the first one, shows it instead of what was there. */
  async page(isFirst = false) {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const { found, next } = await this.fetch(isFirst ? undefined : this.next);
    // A later question has been asked.
    if (turn !== this.turn) return;
    const added = found.map((one) => this.entry(one));
    if (isFirst) this.list.replaceChildren();
    const goesOn = this.list.children.length > 0;
    this.list.append(...added);
    this.next = next;
    this.more.hidden = next === undefined;
    // Without the button, one goes on at the first of the new ones.
    if (this.more.hidden && goesOn) added[0]?.querySelector("a").focus();
    const search = this.search.value.trim();
    this.export.disabled = !this.list.children.length;
    this.summary.textContent = search ? t.found(this.list.children.length, !this.more.hidden) : "";
    if (!this.list.children.length) fill(this.list, h("li", { class: "empty quiet" }, search ? t.nothingFound(search) : t.empty));
  }

  entry(one) {
    return h("li", { data: { state: one.state } },
      one.richType && h("span", { class: "picture" }, thumbnail(one)),
      h("div", {},
        h("a", { href: `#sent/${one.id}` }, one.title ?? (one.message || t.noMessage)),
        one.title && one.message && h("p", {}, one.message),
        h("p", { class: "line quiet" }, state(one.approval ? "awaiting" : one.state), one.richType ? called(this.types, one.richType) : texts.textAlone, time(one.notBefore ?? one.created),
          t.to(recipients(one.audience)), this.all.checked && t.by(one.sender ?? t.removedUser))),
      countsBar(one),
      h("a", { class: "button", href: `#compose/again/${one.id}`, "aria-label": `${t.again}: ${summary(one)}` }, t.again));
  }

  /** The list with its filters as a file. */
  async saveList() {
    const rows = [t.columns];
    let before;
    do {
      const { found, next } = await this.fetch(before, 500);
      rows.push(...found.map((one) => [one.id, texts.states[one.state] ?? one.state, one.created, one.notBefore, one.expires, one.sender, recipients(one.audience), one.message,
        one.richType, one.payload, one.counts.recipients, one.counts.fetched, one.counts.read, one.counts.queued, one.counts.sent, one.counts.failed, one.title, one.subtitle,
        one.counts.displayed, one.counts.opened, one.counts.dismissed, one.counts.actions, one.counts.replies]));
      before = next;
      this.summary.textContent = t.exporting(rows.length - 1);
    } while (before !== undefined && rows.length <= mostExported && this.isConnected);
    if (!this.isConnected) return;
    save(`richpush-${new Date().toISOString().slice(0, 10)}.csv`, csv(rows));
    this.summary.textContent = t.exported(rows.length - 1, before !== undefined);
  }
}

/** What was sent, as a picture or, once it has ended, a symbol of its kind. */
function thumbnail({ id, state, richType }) {
  const symbol = () => h("span", { class: "symbol" }, icon({ sound: "sound", url: "link" }[richType] ?? "file"));
  if (richType === "url" || ["withdrawn", "expired"].includes(state)) return symbol();
  const isSound = richType === "sound";
  const picture = h("img", { alt: "", loading: "lazy", decoding: "async", class: isSound ? "waveform" : "",
    src: address(`/api/notifications/${id}/media?${isSound ? "view=waveform&width=240" : "profile=thumb"}`) });
  picture.addEventListener("error", () => picture.replaceWith(symbol()));
  return picture;
}

customElements.define("console-sent", Sent);
