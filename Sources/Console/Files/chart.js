// <line-chart>: how numbers change over time, as lines and as a table of the same numbers.
import { fill, h, svgElement } from "./dom.js";
import { number } from "./format.js";
import { table } from "./screen.js";
import { texts } from "./texts.js";

const [width, height] = [600, 160];
let charts = 0;

class LineChart extends HTMLElement {
  connectedCallback() {
    if (this.drawing) return;
    this.id ||= `chart-${(charts += 1)}`;
    this.drawing = h("div", { class: "drawing" });
    this.numbers = h("div");
    this.details = h("details", { on: { toggle: () => this.showNumbers() } }, h("summary", {}, texts.chart.numbers), this.numbers);
    this.append(this.drawing, this.details);
    if (this.data) this.draw(this.data);
  }

  /**
   * Draws lines, each with a `step`, a `label` and its `values`, of which each belongs to one of the `times`.
   *
   * `times` are texts, `most` is the number at the upper edge; `hasTable` says that there is a table of the numbers beside it.
   */
  draw(data) {
    this.data = data;
    if (!this.drawing) return;
    const { title, times, lines, most, hasTable = false } = data;
    this.details.hidden = hasTable;
    const last = Math.max(1, times.length - 1);
    const point = (value, index) => `${((width * index) / last).toFixed(1)},${(height - (height * value) / Math.max(1, most)).toFixed(1)}`;
    const said = lines.map(({ label, values }) => `${label} ${number(values.at(-1) ?? 0)}`).join(", ");
    fill(this.drawing,
      h("span", { class: "scale", "aria-hidden": "true" }, h("span", {}, number(most)), h("span", {}, number(0))),
      svgElement("svg", { viewBox: `0 -2 ${width} ${height + 4}`, preserveAspectRatio: "none", role: "img", "aria-labelledby": `${this.id}-title`, "aria-describedby": `${this.id}-said` },
        withText("title", `${this.id}-title`, title), withText("desc", `${this.id}-said`, texts.chart.summary(times[0], times.at(-1), said)),
        ...[0, 0.5, 1].map((part) => svgElement("line", { class: "grid", x1: 0, x2: width, y1: height * part, y2: height * part })),
        ...lines.map(({ step, values }) => svgElement("polyline", { class: `step ${step}`, points: values.map(point).join(" ") }))),
      h("span", { class: "times", "aria-hidden": "true" }, h("span", {}, times[0]), h("span", {}, times.at(-1))));
    this.showNumbers();
  }

  /** Only while it is open, and nobody is reading it. */
  showNumbers() {
    if (!this.details.open || this.numbers.contains(document.activeElement)) return;
    const { title, times, lines } = this.data;
    const isNew = (index) => index === 0 || lines.some(({ values }) => values[index] !== values[index - 1]);
    const rows = times.map((time, index) => [time, ...lines.map(({ values }) => number(values[index]))]);
    fill(this.numbers, table(title, [texts.chart.time, ...lines.map(({ label }) => label)], rows.filter((_, index) => isNew(index) || index === times.length - 1)));
  }
}

function withText(name, id, text) {
  return svgElement(name, { id }, text);
}

customElements.define("line-chart", LineChart);

/** The sample of a line beside its name. */
export const lineKey = (step) => svgElement("svg", { viewBox: "0 0 24 6", class: "key", "aria-hidden": "true" },
  svgElement("line", { class: `step ${step}`, x1: 0, x2: 24, y1: 3, y2: 3 }));

/** A chart, to be drawn when its numbers are known. */
export const lineChart = () => document.createElement("line-chart");
