// <notification-statistics>: what became of a notification with how many of its recipients: when, by platform and language, and why not.
import { get, query } from "./api.js";
import { lineChart, lineKey } from "./chart.js";
import { fill, h } from "./dom.js";
import { languageName, number, percent } from "./format.js";
import { factsList } from "./said.js";
import { table } from "./screen.js";
import { language, texts } from "./texts.js";

const t = texts.statistics;

class NotificationStatistics extends HTMLElement {
  constructor() {
    super();
    this.funnel = h("ul", { class: "funnel", "aria-label": t.funnel });
    this.chart = lineChart();
    this.chart.hidden = true;
    this.meanings = h("div");
    this.removed = h("p", { class: "quiet", hidden: true }, t.removed);
    this.groups = h("div", { class: "line-up" });
    this.segment = h("select", { on: { change: () => this.show() } }, h("option", { value: "" }, t.all));
    this.choice = h("label", { class: "among", hidden: true }, t.among, this.segment);
  }

  connectedCallback() {
    fill(this, h("h2", {}, t.title), this.choice, h("div", { class: "columns" }, this.funnel, this.chart), h("details", {}, h("summary", {}, t.meaning), this.meanings), this.removed, this.groups);
  }

  /** Offers the segments, whose people can be looked at alone. */
  async offerSegments() {
    const { segments } = await get("/api/segments");
    this.segment.append(...segments.map(({ name }) => h("option", { value: name }, name)));
    this.choice.hidden = !segments.length;
  }

  /** Asks for the numbers, and shows what has changed. */
  async show() {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const { counted, ...found } = await get(`${this.path}/statistics${query({ segment: this.segment.value || undefined })}`);
    // A later question has been answered, or will be.
    if (turn !== this.turn) return;
    const text = JSON.stringify(found);
    if (text === this.shown) return;
    this.offered ??= this.offerSegments().catch(() => {});
    this.shown = text;
    const steps = this.steps(found.users);
    this.showFunnel(found.users, steps);
    this.showCourse(found, steps);
    this.removed.hidden = found.hasReceipts;
    // Who reads a table there goes on reading.
    if (this.groups.contains(document.activeElement)) return (this.shown = undefined);
    fill(this.groups, this.table(t.platforms, texts.people.platform, found.platforms, platforms, steps),
      this.table(t.languages, texts.account.language, found.languages, languages, steps), reasons(found));
  }

  /** What can be known of it, and what is known. */
  steps(users) {
    const seen = this.hasMedia ? "fetched" : "displayed";
    return ["sent", "displayed", "fetched", "opened", "read", "dismissed"].filter((step) => ["sent", seen, "opened"].includes(step) || users[step]);
  }

  showFunnel(users, steps) {
    const rows = ["recipients", ...steps, ...["waiting", "unreachable"].filter((step) => users[step])];
    fill(this.funnel, rows.map((step) => h("li", { class: `step ${step}`, data: { part: step } },
      steps.includes(step) ? lineKey(step) : h("span"), h("span", {}, t.steps[step]),
      bar(users[step], users.recipients), h("strong", {}, number(users[step])), h("span", { class: "quiet" }, share(users[step], users.recipients)))));
    fill(this.meanings, [factsList(rows.map((step) => [t.steps[step], t.meanings[step]]))]);
  }

  showCourse({ users, course }, steps) {
    this.chart.hidden = !course.sent.length;
    if (this.chart.hidden) return;
    const start = Date.parse(course.start);
    const times = Array.from({ length: course.sent.length + 1 }, (_, index) => moment(start + index * course.length * 1000, course.length));
    this.chart.draw({ title: t.course, times, most: users.recipients, lines: steps.map((step) => ({ step, label: t.steps[step], values: sums(course[step]) })) });
  }

  /** Groups of people beside each other, if there is more than one. */
  table(caption, of, groups, name, steps) {
    if (groups.length < 2) return null;
    const columns = ["recipients", ...steps.filter((step) => step !== "dismissed"), "unreachable"];
    return h("section", { class: "line-up" }, h("h3", {}, caption), table(caption, [of, ...columns.map((step) => t.steps[step])], groups.map(({ names, users }) =>
      [name(names), ...columns.map((step) => (step === "recipients" ? number(users.recipients) : `${number(users[step])} (${share(users[step], users.recipients)})`))])));
  }
}

/** The numbers that a list has come to after each period, from none at first. */
const sums = (numbers) => numbers.reduce((all, one) => [...all, all.at(-1) + one], [0]);

const share = (part, whole) => percent(whole ? part / whole : 0);

/** A share as a bar. */
export function bar(part, whole) {
  const inner = h("i");
  inner.style.setProperty("--part", whole ? part / whole : 0);
  return h("span", { class: "track", "aria-hidden": "true" }, inner);
}

const platformNames = (names) => names.map((name) => texts.platforms[name] ?? name).join(" + ");
const platforms = (names) => (names[0] === "*" ? t.others : platformNames(names) || t.noDevice);
const languages = ([name]) => (name === "*" ? t.others : name ? languageName(name) : t.noLanguage);

/** Why it does not reach some people. */
function reasons({ unreachable }) {
  if (!unreachable.length) return null;
  const rows = unreachable.map(({ cause, reason, users }) =>
    [t.causes[cause] ?? cause, (cause === "noService" && reason ? platformNames(reason.split(", ")) : reason) ?? "–", number(users)]);
  return h("section", { class: "line-up" }, h("h3", {}, t.unreachable), table(t.unreachable, [t.cause, t.detail, t.steps.unreachable], rows));
}

/** A time as exact as the periods of a chart. */
function moment(time, length) {
  return new Date(time).toLocaleString(language, { dateStyle: "short", ...(length < 86400 && { timeStyle: length < 60 ? "medium" : "short" }) });
}

customElements.define("notification-statistics", NotificationStatistics);

/** The statistics of a notification, which are there once `show` has resolved. */
export const statistics = (path, { richType }) =>
  Object.assign(document.createElement("notification-statistics"), { path, hasMedia: Boolean(richType), className: "panel" });
