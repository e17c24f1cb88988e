// For administrators: the plugins, how they are isolated, and why one failed; what the store uses.
import { get } from "./api.js";
import { h } from "./dom.js";
import { bytes, number, time } from "./format.js";
import { Screen, state } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.plugins;

class Plugins extends Screen {
  async load() {
    const { plugins, sandbox } = await get("/api/plugins");
    const storage = await get("/api/storage").catch(() => null);
    this.frame(texts.screens.plugins, [],
      h("p", { class: sandbox.gaps.length ? "advice" : "quiet" }, t.sandbox(sandbox.level), " ", sandbox.gaps.join(" ")),
      storage && h("div", { class: "tiles" }, Object.keys(t.storage).map((part) =>
        h("div", { class: "panel" }, h("p", { class: "big" }, bytes(storage[part])), h("p", { class: "quiet" }, t.storage[part])))),
      h("div", { class: "columns" }, plugins.map(plugin)));
  }
}

function plugin(one) {
  const failure = one.lastFailure;
  const facts = [
    [t.version, one.version], [t.mode, one.mode], [t.confinement, one.confinement],
    [t.processes, one.processes && t.ofProcesses(one.processes.busy, one.processes.idle, one.processes.most)],
    [t.calls, t.ofCalls(number(one.calls), number(one.failures))],
    [t.times, one.medianSeconds !== null && one.medianSeconds !== undefined && t.ofTimes(milliseconds(one.medianSeconds), milliseconds(one.slowestSeconds))],
  ];
  return h("section", { class: "panel" },
    h("div", { class: "head" }, h("h2", {}, one.richType), state(one.problem ? "problem" : one.state ?? "ready")),
    one.problem && h("p", { class: "problem" }, one.problem),
    h("dl", { class: "facts-list" }, facts.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    failure && h("details", { open: true }, h("summary", {}, t.lastFailure, " ", one.lastFailureTime && time(one.lastFailureTime)),
      h("p", { class: "problem" }, failure), one.lastFailureOutput && h("pre", { tabIndex: 0, "aria-label": t.output }, one.lastFailureOutput)));
}

const milliseconds = (value) => `${number(Math.round(value * 10000) / 10)} ms`;

customElements.define("console-plugins", Plugins);
