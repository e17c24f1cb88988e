// One notification: how far it has come, on which devices, why not, and what can still be done.
import { amend } from "./amend.js";
import { approvalNote, approve, refuse } from "./approvals.js";
import { address, download, get, patch, post, query, remove } from "./api.js";
import { recipients } from "./audience-names.js";
import { called, contentTypes, filledRows } from "./content-types.js";
import { countsBar } from "./counts-bar.js";
import { fill, h, icon } from "./dom.js";
import { save } from "./export.js";
import { clockTime, number, time } from "./format.js";
import { history } from "./history.js";
import { listen } from "./live.js";
import { pagedTable } from "./paged-table.js";
import { advice } from "./previews.js";
import { factsList, saidRows, unshown } from "./said.js";
import { showUntilLoaded } from "./media-view.js";
import { confirmed, Screen, state } from "./screen.js";
import { statistics } from "./statistics.js";
import { texts } from "./texts.js";
import { countdown, goesSoon, takeBack } from "./undo.js";

const t = texts.notification;

class Notification extends Screen {
  connectedCallback() {
    super.connectedCallback();
    // What happened before the stream was open sends no event.
    listen(this, "open", () => this.refreshSoon());
    listen(this, "approval", ({ notification }) => notification === this.details?.id && this.refreshSoon());
  }

  async load() {
    this.path = `/api/notifications/${this.parameters[0]}`;
    const details = await get(`${this.path}/details`);
    this.details = details;
    this.types = await contentTypes();
    const { counts } = details;
    this.bar = countsBar(details);
    this.statistics = statistics(this.path, details);
    this.tiles = h("div", { class: "tiles", "aria-label": t.progress, role: "group" });
    this.timeline = h("ol", { class: "timeline" });
    const seen = texts.states[details.richType ? "fetched" : "displayed"];
    this.recipients = pagedTable(t.people, [t.person, t.state, seen, t.devices], t.nobody, (after, limit) => this.receipts(after, limit));
    this.deliveries = pagedTable(t.deliveries, [t.service, t.person, t.state, t.attempts, t.reason], t.noDeliveries, (after, limit) => this.pushes(after, limit));
    this.history = history(this.path, this.types);
    this.interactions = details.actions && pagedTable(t.interactions, [t.person, t.button, t.answer, t.time], t.noInteractions, (after, limit) => this.answers(after, limit));
    this.person = h("input", { type: "search", "aria-label": t.person, placeholder: t.person, on: { input: () => this.search() } });
    this.export = h("button", { on: { click: () => this.attempt(this.export, () => this.saveReceipts()) } }, texts.sent.export);
    this.personState = filter(t.state, ["queued", "sent", "displayed", "fetched", "opened", "read"], this.recipients);
    this.pushState = filter(t.state, ["failed", "queued", "sent", "expired", "cancelled"], this.deliveries);
    this.bar.addEventListener("counts", (event) => {
      this.progress(event.detail);
      this.refreshSoon();
    });
    this.amendButton = h("button", { on: { click: () => amend(this.path, this.details, this.types, async () => {
      await this.load();
      this.say(t.amended);
    }) } }, t.amend);
    this.amendHint = h("p", { class: "quiet" }, t.wasFetched);
    const { approval } = details;
    const awaits = approval?.state === "awaiting";
    const isOwn = !awaits || approval.sender === this.session.username;
    const mayChange = isOwn || this.session.role === "admin";
    const approveButton = awaits && !isOwn && h("button", { class: "main", on: { click: () => this.approve(approveButton, details) } }, texts.approvals.approve);
    const refuseButton = awaits && !isOwn && h("button", { class: "danger", on: { click: () => this.refuse() } }, texts.approvals.refuse);
    const withdraw = h("button", { class: "danger", on: { click: () => this.withdraw(withdraw) } }, t.withdraw);
    const release = details.held && !awaits && this.session.role === "admin" && h("button", { class: "main", on: { click: () => this.release(release) } }, t.release);
    const isScheduled = details.state === "scheduled";
    const canGoBack = isScheduled || (awaits && isOwn);
    const back = h("button", { on: { click: () => this.attempt(back, () => this.takeBack()) } }, goesSoon(details) ? texts.undo.undo : texts.undo.takeBack);
    const again = h("a", { class: "button", href: `#compose/again/${details.id}` }, texts.sent.again);
    const rest = ["sent", "expired"].includes(details.state) && details.counts.recipients > 0
      && h("a", { class: "button", href: `#compose/again/${details.id}/rest` }, t.rest);
    this.frame(details.title ?? (details.message || texts.sent.noMessage), [release, approveButton, refuseButton, canGoBack && back, again, rest, mayChange && this.amendButton, !this.hasEnded && mayChange && withdraw],
      details.held && !awaits && h("p", { class: "problem" }, t.held),
      approvalNote(details, this.session),
      isScheduled && goesSoon(details) && countdown(details, () => this.refresh().catch(() => {})),
      this.hasEnded && h("p", { class: "ended" }, state(details.state), " ", t.ended[details.state]),
      this.isReplaced && h("p", { class: "ended" }, h("a", { href: `#sent/${details.replacedBy}` }, t.replacedBy(details.replacedBy))),
      h("div", { class: "panel" }, this.bar, this.tiles, this.amendHint),
      h("div", { class: "columns" },
        h("section", { class: "panel" }, h("h2", {}, t.about), facts(details, this.types), advice({ title: details.title, body: details.message })),
        h("section", { class: "panel" }, h("h2", {}, t.timeline), this.timeline)),
      this.statistics,
      this.history,
      this.interactions && h("section", { class: "line-up" }, h("div", { class: "head" }, h("h2", {}, t.interactions)), this.interactions),
      h("section", { class: "line-up" },
        h("div", { class: "head" }, h("h2", {}, t.people), h("div", { class: "actions" }, this.person, this.personState, this.export)), this.recipients),
      !this.hasEnded && details.richType && h("section", { class: "panel" }, h("h2", {}, t.renditions), renditions(details)),
      h("section", { class: "line-up" },
        h("div", { class: "head" }, h("h2", {}, t.deliveries), h("div", { class: "actions" }, this.pushState)), this.deliveries));
    this.progress(counts);
    this.showTimeline();
    // What happened while it was loaded may have sent its event too early.
    this.refreshSoon();
    await Promise.all([this.recipients.show(), this.deliveries.show(), this.interactions?.show(), this.statistics.show(), this.history.show(details)]);
  }

  get hasEnded() {
    return ["withdrawn", "expired"].includes(this.details.state);
  }

  get isReplaced() {
    return this.details.replacedBy !== undefined;
  }

  /** What can still be changed is offered; why not is said. */
  progress(counts) {
    const wasFetched = counts.fetched > 0 || counts.read > 0;
    this.amendButton.hidden = this.hasEnded || wasFetched || this.isReplaced;
    this.amendHint.hidden = this.hasEnded || !wasFetched;
    // How many people it has reached is told below, in one total.
    const steps = this.details.actions ? ["actions", "replies"] : [];
    this.tiles.hidden = !steps.length;
    fill(this.tiles, steps.map((step) => h("div", { data: { step } },
      h("p", { class: "big" }, number(counts[step] ?? 0)), h("p", { class: "quiet" }, t[step]))));
  }

  /** Reads again what is shown, at most every two seconds. */
  refreshSoon() {
    this.timer ??= setTimeout(async () => {
      this.timer = undefined;
      if (this.isConnected && !document.hidden) await this.refresh().catch(() => {});
    }, 2000);
  }

  async refresh() {
    const before = this.details;
    [this.details] = await Promise.all([get(`${this.path}/details`), this.recipients.refresh(), this.deliveries.refresh(),
      this.interactions?.refresh(), this.statistics.show()]);
    if (this.details.state !== before.state || this.details.replacedBy !== before.replacedBy
      || this.details.approval?.version !== before.approval?.version) return this.load();
    this.bar.counts = this.details.counts;
    this.progress(this.details.counts);
    this.showTimeline();
  }

  showTimeline() {
    const { created, notBefore, expires, approval, first = {} } = this.details;
    const moments = [
      [t.created, created], [approval?.state === "approved" && texts.approvals.approvedBy(approval.user ?? texts.sent.removedUser), approval?.time], [t.due, notBefore], [t.firstSent, first.sent], [t.firstFetched, first.fetched],
      [t.firstDisplayed, first.displayed], [t.firstOpened, first.opened], [t.firstRead, first.read],
      [this.details.state === "withdrawn" ? texts.states.withdrawn : t.expires, expires],
    ];
    fill(this.timeline, moments.filter(([name, moment]) => name && moment).map(([name, moment]) =>
      h("li", { class: new Date(moment) <= Date.now() ? "done" : "" }, h("span", {}, name), time(moment))));
  }

  async receipts(after, limit) {
    const { receipts, next } = await get(`${this.path}/receipts${query({ state: this.personState.value, user: this.person.value.trim(), after, limit })}`);
    return { next, rows: receipts.map((receipt) => [receipt.user ?? texts.sent.aRemovedUser, state(this.hasEnded && receipt.state === "queued" ? "cancelled" : receipt.state),
      this.seen(receipt), receipt.devices.map(({ registration }) => registration.slice(0, 12)).join(", ") || "–"]) };
  }

  /** Everybody who is asked for, as a file. */
  async saveReceipts() {
    save(`richpush-${this.details.id}.csv`,
      await download(`${this.path}/receipts${query({ state: this.personState.value, user: this.person.value.trim() })}`));
  }

  /** When a person got it: fetched its media, or saw what has none. */
  seen({ fetched, displayed, opened }) {
    const moment = this.details.richType ? fetched : displayed ?? opened;
    return moment ? time(moment) : "–";
  }

  async answers(after, limit) {
    const { interactions, next } = await get(`${this.path}/interactions${query({ after, limit })}`);
    const labels = new Map((this.details.actions ?? []).map(({ id, label }) => [id, label]));
    return { next, rows: interactions.map((one) => [one.user, labels.get(one.action) ?? one.action, one.text ?? "–", time(one.time)]) };
  }

  async pushes(after, limit) {
    const { deliveries, next } = await get(`${this.path}/deliveries${query({ state: this.pushState.value, after, limit })}`);
    return { next, rows: deliveries.map((delivery) => [delivery.lane, delivery.user ?? "–", state(delivery.state),
      number(delivery.attempts), [delivery.reason ?? "–", this.replayButton(delivery)]]) };
  }

  /** After a moment without another letter. */
  search() {
    clearTimeout(this.searching);
    this.searching = setTimeout(() => this.recipients.restart(), 250);
  }

  /** For administrators, of a push that was given up. */
  replayButton({ job, state }) {
    if (this.session.role !== "admin" || state !== "failed") return null;
    const button = h("button", { on: { click: () => this.attempt(button, async () => {
      await post(`/api/outbox/${job}/replay`);
      this.say(t.replayed);
    }) } }, t.replay);
    return button;
  }

  async approve(button, details) {
    if (!(await confirmed(texts.approvals.approveQuestion(details.approval.people), texts.approvals.approve))) return;
    await this.attempt(button, async () => {
      await approve(this.path, details);
      this.decided(texts.approvals.approved);
    });
  }

  async refuse() {
    if (await refuse(this.path)) this.decided(texts.approvals.wasRefused);
  }

  /** It is its sender's again. */
  decided(words) {
    this.say(words);
    location.hash = "#sent";
  }

  async release(button) {
    if (!(await confirmed(t.releaseQuestion, t.release))) return;
    await this.attempt(button, async () => {
      await patch(this.path, { notBefore: null, localTime: null });
      await this.load();
    });
  }

  async takeBack() {
    const words = await takeBack(this.session.username, this.path, this.details);
    if (!words) return;
    this.say(words);
    location.hash = "#compose";
  }

  async withdraw(button) {
    const { counts } = this.details;
    if (!(await confirmed(t.withdrawQuestion(reached(counts), counts.queued), t.withdraw))) return;
    await this.attempt(button, async () => {
      await remove(this.path);
      const ended = await get(`${this.path}/details`);
      this.say(t.withdrawn(reached(ended.counts)));
      location.hash = "#sent";
    });
  }
}

/** How many have it already: pushes that were sent, or people who have seen it without one. */
const reached = ({ sent, displayed, fetched }) => Math.max(sent, displayed, fetched);

/** A choice of states, after which a table is read again. */
function filter(label, states, list) {
  return h("select", { "aria-label": label, on: { change: () => list.restart() } },
    h("option", { value: "" }, t.everyState), states.map((name) => h("option", { value: name }, texts.states[name])));
}

function facts(details, types) {
  const filled = filledRows(types, details);
  const platforms = (details.platforms ?? []).map((platform) => [texts.platforms[platform.platform] ?? platform.platform, [...unshown(platform), isMeasured(details, platform) ? "" : t.notMeasurable].filter(Boolean).join(" ")]);
  return factsList([
    // Without a title, the text is the heading.
    ...saidRows({ ...details, message: details.title && details.message }),
    [t.content, details.richType && (filled ? called(types, details.richType) : `${called(types, details.richType)}: ${details.payload}`)], ...(filled ?? []), [t.to, recipients(details.to)],
    [texts.sendDialog.time, details.localTime && `${clockTime(details.localTime.at)} ${texts.sendDialog.local}`], [texts.compose.perMinute, details.perMinute && number(details.perMinute)],
    [t.form, texts.compose.forms[details.form] ?? details.form], [t.number, details.id],
    ...platforms,
  ]);
}

/** Whether it can be known that a device got it: its media is fetched, or what it shows is reported. */
const isMeasured = ({ richType }, { reports = [] }) => Boolean(richType) || reports.includes("displayed") || reports.includes("opened");

/** What devices get, which counts as no fetch. */
function renditions({ id, richType, details }) {
  return h("ul", { class: "profiles" }, Object.keys(texts.profiles).map((profile) => {
    // Its name stands below it.
    const picture = h("img", { alt: "", loading: "lazy", src: address(`/api/notifications/${id}/media${query({ profile })}`) });
    showUntilLoaded(picture, details.thumbHash);
    // What is no picture is played, or shown by its symbol.
    picture.addEventListener("error", () => picture.replaceWith(
      richType === "video" ? h("video", { controls: true, preload: "metadata", muted: true, playsInline: true, src: picture.src, "aria-label": texts.profiles[profile] })
      : h("span", { class: "symbol" }, icon({ sound: "sound", url: "link" }[richType] ?? "file"))));
    return h("li", {}, h("span", { class: "picture" }, picture), h("small", { class: "quiet" }, texts.profiles[profile]));
  }));
}

customElements.define("console-notification", Notification);
