// <counts-bar>: how far a notification has come with its recipients, which moves as events arrive.
import { fill, h } from "./dom.js";
import { number } from "./format.js";
import { listen } from "./live.js";
import { texts } from "./texts.js";

/** From the furthest state to the first. */
export const steps = ["read", "fetched", "sent", "failed", "queued"];

class CountsBar extends HTMLElement {
  #counts;

  connectedCallback() {
    this.parts = new Map(steps.map((step) => [step, h("i", { class: step })]));
    this.legend = h("span", { class: "legend" });
    fill(this, h("span", { class: "track", "aria-hidden": "true" }, [...this.parts.values()]), this.legend);
    if (this.#counts) this.counts = this.#counts;
    listen(this, "counts", ({ id, counts }) => {
      if (id !== this.notification) return;
      this.counts = counts;
      this.dispatchEvent(new CustomEvent("counts", { detail: counts }));
    });
  }

  set counts(counts) {
    this.#counts = counts;
    if (!this.legend) return;
    for (const step of steps) this.parts.get(step).style.setProperty("--part", counts[step] ?? 0);
    const words = steps.filter((step) => counts[step]).map((step) => `${number(counts[step])} ${texts.states[step].toLowerCase()}`);
    this.legend.textContent = words.join(" · ") || texts.sent.nobody;
  }
}

customElements.define("counts-bar", CountsBar);

/** A bar for a notification of the list. */
export const countsBar = ({ id, counts }) => Object.assign(document.createElement("counts-bar"), { notification: id, counts });
