// <counts-bar>: how far a notification has come with its recipients, which moves as events arrive.
import { fill, h } from "./dom.js";
import { number } from "./format.js";
import { listen } from "./live.js";
import { texts } from "./texts.js";

/** From the furthest state to the first. */
const steps = ["read", "fetched", "sent", "failed", "queued"];

/**
 * The people in each state, of whom each is in one.
 *
 * Pushes are counted by device, so of those of whom nothing has come back yet each state has the share of its pushes.
 */
export function shares({ recipients, queued, sent, failed, fetched, displayed = 0, opened = 0, read }) {
  const seen = Math.min(recipients, Math.max(fetched, displayed, opened, read));
  const rest = recipients - seen;
  // Those of whom something has come back were sent a push each, at least.
  const open = { sent: Math.max(0, sent - seen), failed, queued };
  const pushes = open.sent + failed + queued;
  const part = (count) => (pushes ? (rest * count) / pushes : 0);
  return { read, fetched: seen - Math.min(read, seen), sent: part(open.sent), failed: part(failed), queued: pushes ? part(queued) : rest };
}

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
      this.dispatchEvent(new CustomEvent("counts", { detail: this.#counts }));
    });
  }

  set counts(counts) {
    // Nothing waits of one that has ended; an event of its pushes does not know that.
    this.#counts = this.hasEnded ? { ...counts, queued: 0 } : counts;
    if (!this.legend) return;
    const parts = shares(this.#counts);
    for (const step of steps) {
      const part = this.hasEnded && step === "queued" ? 0 : parts[step];
      this.parts.get(step).style.setProperty("--part", part);
      this.parts.get(step).hidden = !part;
    }
    this.legend.textContent = legend(this.#counts, this.hasMedia);
  }
}

/** “3 of 4 fetched · 1 read · 1 failed”: what people did, then what is open. What has no media is not fetched but displayed. */
function legend({ recipients, queued, failed, fetched, displayed = 0, opened = 0, read, actions, replies }, hasMedia) {
  const t = texts.counts;
  if (!recipients) return texts.sent.nobody;
  return [hasMedia ? t.fetched(number(fetched), number(recipients)) : t.displayed(number(Math.max(displayed, opened)), number(recipients)),
    opened && t.opened(number(opened)), actions && t.actions(actions), replies && t.replies(replies), read && t.read(number(read)), queued && t.queued(number(queued)),
    failed && t.failed(number(failed))].filter(Boolean).join(" · ");
}

customElements.define("counts-bar", CountsBar);

/** A bar for a notification with its counts and its state. */
export const countsBar = ({ id, counts, state, richType }) => Object.assign(document.createElement("counts-bar"),
  { notification: id, hasMedia: Boolean(richType), hasEnded: ["withdrawn", "expired"].includes(state) }, { counts });
