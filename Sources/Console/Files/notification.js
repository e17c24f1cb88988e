// One notification: how far it has come, on which devices, why not, and what can still be done.
import { address, get, patch, post, query, remove } from "./api.js";
import { countsBar, steps } from "./counts-bar.js";
import { fill, h } from "./dom.js";
import { number, time } from "./format.js";
import { recipients } from "./sent.js";
import { confirmed, Screen, state, table } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.notification;

class Notification extends Screen {
  async load() {
    this.path = `/api/notifications/${this.parameters[0]}`;
    const details = await get(`${this.path}/details`);
    this.details = details;
    const { counts } = details;
    const bar = countsBar({ id: details.id, counts });
    this.tiles = h("div", { class: "tiles", "aria-label": t.progress, role: "group" });
    this.timeline = h("ol", { class: "timeline" });
    this.tables = h("div", { class: "columns" });
    bar.addEventListener("counts", (event) => this.progress(event.detail));
    const amend = h("button", { on: { click: () => this.amend() } }, t.amend);
    const withdraw = h("button", { class: "danger", on: { click: () => this.withdraw(withdraw) } }, t.withdraw);
    this.frame(details.message || texts.sent.noMessage, [amend, withdraw],
      h("div", { class: "panel" }, bar, this.tiles),
      h("div", { class: "columns" },
        h("section", { class: "panel" }, h("h2", {}, t.about), facts(details)),
        h("section", { class: "panel" }, h("h2", {}, t.timeline), this.timeline),
        h("section", { class: "panel" }, h("h2", {}, t.renditions), renditions(details))),
      this.tables);
    this.progress(counts);
    this.showTables(details);
  }

  /** The numbers changed: a moment later, the lists have as well. */
  progress(counts) {
    fill(this.tiles, ["recipients", ...[...steps].reverse()].map((step) => h("div", { data: { step } },
      h("p", { class: "big" }, number(counts[step] ?? 0)), h("p", { class: "quiet" }, texts.states[step] ?? t.recipients))));
    if (!this.timer && this.shown) {
      this.timer = setTimeout(async () => {
        this.timer = undefined;
        if (this.isConnected) this.showTables(await get(`${this.path}/details`));
      }, 1000);
    }
    this.shown = true;
  }

  showTables(details) {
    const first = (member) => (details.receipts ?? []).map((receipt) => receipt[member]).filter(Boolean).sort()[0];
    const moments = [
      [t.created, details.created], [t.due, details.notBefore], [t.firstSent, first("sent")],
      [t.firstFetched, first("fetched")], [t.firstRead, first("read")], [t.expires, details.expires],
    ];
    fill(this.timeline, moments.filter(([, moment]) => moment).map(([name, moment]) =>
      h("li", { class: new Date(moment) <= Date.now() ? "done" : "" }, h("span", {}, name), time(moment))));
    fill(this.tables,
      h("section", { class: "line-up" }, h("h2", {}, t.people),
        table(t.people, [t.person, t.state, t.fetched, t.devices],
          (details.receipts ?? []).slice(0, 100).map((receipt) => [receipt.user ?? texts.sent.removedUser, state(receipt.state),
            receipt.fetched ? time(receipt.fetched) : "–", receipt.devices.map(({ registration }) => registration.slice(0, 12)).join(", ") || "–"]), t.nobody)),
      h("section", { class: "line-up" }, h("h2", {}, t.deliveries),
        table(t.deliveries, [t.service, t.person, t.state, t.attempts, t.reason],
          (details.deliveries ?? []).slice(0, 100).map((delivery) => [delivery.lane, delivery.user ?? "–", state(delivery.state),
            number(delivery.attempts), [delivery.reason ?? "–", this.replayButton(delivery)]]), t.noDeliveries)));
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

  amend() {
    const message = h("textarea", { rows: 4, value: this.details.message });
    const problem = h("p", { class: "problem", role: "alert" });
    const dialog = h("dialog", { class: "small", "aria-labelledby": "amend-title", on: { close: () => dialog.remove() } },
      h("form", { on: { submit: async (event) => {
        event.preventDefault();
        try {
          await patch(this.path, { message: message.value });
          dialog.close();
          await this.load();
          this.say(t.amended);
        } catch (error) {
          problem.textContent = error.message;
        }
      } } },
      h("h2", { id: "amend-title" }, t.amend), h("p", { class: "quiet" }, t.amendHint), h("label", {}, texts.compose.message, message), problem,
      h("div", { class: "actions" }, h("button", { class: "main" }, t.amend),
        h("button", { type: "button", on: { click: () => dialog.close() } }, texts.cancel))));
    document.body.append(dialog);
    dialog.showModal();
  }

  async withdraw(button) {
    if (!(await confirmed(t.withdrawQuestion, t.withdraw))) return;
    await this.attempt(button, async () => {
      await remove(this.path);
      this.say(t.withdrawn);
      location.hash = "#sent";
    });
  }
}

function facts(details) {
  const rows = [
    [t.content, `${texts.richTypes[details.richType] ?? details.richType}: ${details.payload}`], [t.to, recipients(details.to)],
    [t.form, texts.compose.forms[details.form] ?? details.form], [t.number, details.id],
  ];
  return h("dl", { class: "facts-list" }, rows.filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => [h("dt", {}, name), h("dd", {}, `${value}`)]));
}

/** The signed links, which show what devices get without counting as a fetch of the sender. */
function renditions({ links = {}, richType, payload }) {
  return h("ul", { class: "profiles" }, Object.keys(texts.profiles).filter((profile) => links[profile]).map((profile) => {
    const source = `/api/assets/${encodeURIComponent(richType)}/${encodeURIComponent(payload)}/media${query({ profile })}`;
    const picture = h("img", { alt: texts.profiles[profile], loading: "lazy", src: address(source) });
    picture.addEventListener("error", () => picture.replaceWith(h("span", { class: "quiet" }, texts.profiles[profile])));
    return h("li", {}, h("span", { class: "picture" }, picture), h("small", { class: "quiet" }, texts.profiles[profile]));
  }));
}

customElements.define("console-notification", Notification);
