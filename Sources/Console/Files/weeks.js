// What was sent week by week, and what has become of it.
import { download, get, query } from "./api.js";
import { lineChart, lineKey } from "./chart.js";
import { fill, h } from "./dom.js";
import { save } from "./export.js";
import { number } from "./format.js";
import { listen } from "./live.js";
import { Screen, table } from "./screen.js";
import { language, texts } from "./texts.js";

const t = texts.weeks;
const steps = ["recipients", "displayed", "fetched", "opened", "read"];

class Weeks extends Screen {
  async load() {
    this.count = h("select", { "aria-label": t.count, on: { change: () => this.restart() } },
      [4, 12, 26, 52, 104].map((value) => h("option", { value, selected: value === 12 }, t.last(value))));
    this.all = h("input", { type: "checkbox", on: { change: () => this.restart() } });
    this.chart = lineChart();
    this.table = h("div", { class: "line-up" });
    this.export = h("button", { on: { click: () => this.attempt(this.export, () => this.saveTable()) } }, texts.sent.export);
    this.frame(t.title, [h("a", { class: "button", href: "#sent" }, t.back), this.export],
      h("div", { class: "filters" }, this.count, this.session.role === "admin" && h("label", { class: "check" }, this.all, texts.sent.ofAll)),
      h("section", { class: "panel" }, h("ul", { class: "keys" }, steps.map((step) => h("li", {}, lineKey(step), texts.statistics.steps[step]))), this.chart),
      this.table, h("p", { class: "quiet" }, t.hint));
    listen(this, "counts", () => this.refreshSoon());
    await this.show();
  }

  disconnectedCallback() {
    clearTimeout(this.timer);
  }

  get address() {
    const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
    return `/api/statistics${query({ weeks: this.count.value, zone, sender: this.all.checked ? "*" : "" })}`;
  }

  async restart() {
    await this.show().catch((problem) => this.say(problem.message, true));
  }

  /** Counts again, at most every five seconds. */
  refreshSoon() {
    this.timer ??= setTimeout(async () => {
      this.timer = undefined;
      if (this.isConnected && !document.hidden) await this.show().catch(() => {});
    }, 5000);
  }

  async show() {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const { weeks } = await get(this.address);
    if (turn !== this.turn) return;
    const days = weeks.map(({ start }) => new Date(start).toLocaleDateString(language, { dateStyle: "medium" }));
    this.chart.draw({
      title: t.title, hasTable: true, times: days, most: Math.max(...weeks.map((week) => week.recipients), 1),
      lines: steps.map((step) => ({ step, label: texts.statistics.steps[step], values: weeks.map((week) => week[step]) })) });
    if (this.table.contains(document.activeElement)) return;
    const columns = ["notifications", "withdrawn", ...steps, "dismissed", "actions", "replies"];
    const used = columns.filter((step) => ["notifications", "recipients", "fetched", "opened"].includes(step) || weeks.some((week) => week[step]));
    fill(this.table, table(t.title, [t.week, ...used.map((step) => t.columns[step] ?? texts.statistics.steps[step])],
      weeks.map((week, index) => [days[index], ...used.map((step) => number(week[step]))]).reverse()));
  }

  async saveTable() {
    save(`richpush-weeks-${new Date().toISOString().slice(0, 10)}.csv`, await download(this.address));
  }
}

customElements.define("console-weeks", Weeks);
