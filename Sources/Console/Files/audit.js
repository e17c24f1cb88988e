// For administrators: who signed in, sent and changed what.
import { downloadLines, get, query } from "./api.js";
import { h } from "./dom.js";
import { save } from "./export.js";
import { apiTime, number, time } from "./format.js";
import { pagedTable } from "./paged-table.js";
import { Screen } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.audit;

class Audit extends Screen {
  async load() {
    const change = () => this.table.restart();
    this.person = h("input", { type: "search", placeholder: t.personHint, autocapitalize: "none", spellcheck: false, on: { change } });
    this.kind = h("select", { on: { change } },
      h("option", { value: "" }, t.everything), Object.entries(t.kinds).map(([value, text]) => h("option", { value: `${value}.` }, text)));
    this.since = h("input", { type: "date", on: { change } });
    this.until = h("input", { type: "date", on: { change } });
    this.export = h("button", { on: { click: () => this.attempt(this.export, () => this.saveLines()) } }, t.save);
    this.table = pagedTable(t.title, [t.when, t.who, t.what, t.object, t.by, t.from], t.nothing, async (before, limit) => {
      const { entries, next } = await get(this.address({ before, limit }));
      return { rows: entries.map(row), next };
    });
    this.frame(t.title, [h("a", { class: "button", href: "#people" }, texts.screens.people), this.export],
      h("div", { class: "filters" }, h("label", {}, t.person, this.person), h("label", {}, t.kind, this.kind), h("label", {}, t.since, this.since), h("label", {}, t.until, this.until)),
      h("section", { class: "line-up" }, this.table));
    await this.table.show();
  }

  address(page) {
    // Days begin where the reader is; the last one belongs to what is shown.
    const begin = (value, days = 0) => {
      if (!value) return undefined;
      const date = new Date(`${value}T00:00`);
      date.setDate(date.getDate() + days);
      return apiTime(date);
    };
    return `/api/audit${query({
      user: this.person.value.trim(), action: this.kind.value, since: begin(this.since.value), until: begin(this.until.value, 1), ...page })}`;
  }

  async saveLines() {
    save(`richpush-audit-${new Date().toISOString().slice(0, 10)}.jsonl`, await downloadLines(this.address()), "application/x-ndjson");
  }
}

const row = ({ time: moment, action, actor, object, detail, count }) => [
  time(moment), who(actor),
  h("span", {}, t.actions[action] ?? action, detail && ` (${texts.roles[detail] ?? t.details[detail] ?? detail})`, count !== 1 && ` · ${number(count)}`),
  concerned(object), credential(actor), actor.address ?? "–"];

const person = (name, id) => name ?? t.removed(id);

function who({ kind, name, number }) {
  if (kind === "user") return person(name, number);
  return kind === "command" ? t.unixUser(number) : t.actors[kind] ?? kind;
}

function credential({ kind, credential, credentialID }) {
  const shown = kind === "command" ? kind : credential;
  return shown ? [t.credentials[shown] ?? shown, credentialID].filter(Boolean).join(" ") : "–";
}

/** What it was done to, and whose that is. */
function concerned(object) {
  if (!object) return "–";
  if (object.kind === "user") return person(object.name, object.id);
  const id = object.kind === "notification" ? h("a", { href: `#sent/${object.id}` }, object.id) : object.id;
  return object.owner === null ? id : h("span", {}, id, ` (${person(object.ownerName, object.owner)})`);
}

customElements.define("console-audit", Audit);
