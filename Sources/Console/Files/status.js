// For administrators: how the server is, and first what needs attention.
import { get } from "./api.js";
import { fill, h } from "./dom.js";
import { bytes, number, time } from "./format.js";
import { Screen, state, table } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.status;
const period = 5000;
/** The screens on which things are mended, by the first word of their codes. */
const places = { lane: "services", plugin: "plugins", token: "people", webhook: "people" };

class Status extends Screen {
  async load() {
    this.attention = h("section", { class: "line-up", role: "status", "aria-label": t.attention });
    this.tiles = h("section", { class: "line-up", "aria-label": t.numbers });
    this.details = h("section", { class: "line-up", "aria-label": t.server });
    this.errors = h("section", { class: "line-up" });
    this.frame(texts.screens.status, [], this.attention, this.tiles, this.details, this.errors);
    await this.show();
    if (this.isConnected) this.timer = setInterval(() => document.hidden || this.show().catch(() => {}), period);
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  async show() {
    const [{ sentence }, { attention, records, errors, ...rest }] = await Promise.all([import("./attention-texts.js"), get("/api/status")]);
    update(this.attention, attention, (all) => attentionList(all, sentence));
    update(this.tiles, records, tiles);
    update(this.details, { records, ...rest }, details);
    update(this.errors, errors, errorList);
  }
}

/** Shows a part again if it has changed, or its times have; who is in it goes on reading. */
function update(part, value, make) {
  const text = `${JSON.stringify(value)} ${Math.floor(Date.now() / 60_000)}`;
  if (part.shown === text || part.contains(document.activeElement)) return;
  part.shown = text;
  fill(part, make(value));
}

function attentionList(all, sentence) {
  if (!all.length) return h("p", {}, state("ready"), " ", t.fine);
  return [h("h2", {}, t.attention), h("ul", { class: "panel to-do" }, all.map((one) => {
    const place = places[one.code.split(".")[0]];
    return h("li", {}, state(one.level), " ", sentence(one), place && [" ", h("a", { href: `#${place}` }, texts.screens[place])]);
  }))];
}

function tiles(records) {
  if (!records) return h("p", { class: "problem" }, t.noRecords);
  const { users, devices, lanes } = records;
  const sum = (all, name) => all.reduce((whole, one) => whole + one[name], 0);
  const tile = (value, words, place) => h("div", { class: "panel" },
    h("p", { class: "big" }, number(value)), h("p", {}, place ? h("a", { href: `#${place}` }, words) : words));
  return h("div", { class: "tiles" },
    tile(users.device + users.publisher + users.admin, t.people(users.publisher, users.admin), "people"),
    tile(sum(devices, "count"), t.devices, "people"), tile(sum(lanes, "queued"), t.waiting, "services"),
    tile(records.scheduled, t.scheduled, "sent"), tile(records.awaitingApproval, t.awaiting, "sent"));
}

function details({ server, records, disks, caches, certificates }) {
  const facts = [
    [t.version, server.version], [t.machine, server.node], [t.started, time(server.started)],
    [t.database, [server.database, records && `, ${bytes(records.databaseSize)}`]],
    ...disks.map(({ path, folders, free, total }) => [t.disk, t.ofDisk(bytes(free), bytes(total), path, folders)]),
    ...caches.map(({ name, size, limit }) => [t.caches[name] ?? name, texts.of(bytes(size), bytes(limit))]),
    ...certificates.map(({ file, expires }) => [t.certificate, [file, " ", t.until, " ", time(expires)]]),
    ...(records?.accessTokens ?? []).map(({ name, user, expires, isWebhook }) => [isWebhook ? "Webhook" : t.token, [t.ofToken(name, user), " ", t.until, " ", time(expires)]]),
  ];
  return [h("h2", {}, t.server),
    h("div", { class: "panel" }, h("dl", { class: "facts-list" }, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))),
    records?.devices.length > 0 && table(t.devices, [t.platform, t.service, t.devices],
      records.devices.map(({ platform, service, count }) => [texts.platforms[platform] ?? platform, service ?? "–", number(count)])),
    records?.lanes.length > 0 && table(texts.services.lanes, [texts.services.lane, texts.services.state, texts.services.queued, texts.services.oldest],
      records.lanes.map(({ name, state: now, queued, oldestWaiting }) => [name, state(now), number(queued), oldestWaiting ? time(oldestWaiting) : "–"]))];
}

function errorList(all) {
  return [h("h2", {}, t.errors), all.length
    ? h("ul", { class: "panel to-do" }, all.map((one) => h("li", {}, state(one.level === "error" ? "problem" : one.level), " ", time(one.time), " ", h("span", { class: "quiet" }, `${one.area}: ${one.text}${one.count > 1 ? ` (${number(one.count)}×)` : ""}`))))
    : h("p", { class: "quiet" }, t.noErrors)];
}

customElements.define("console-status", Status);
