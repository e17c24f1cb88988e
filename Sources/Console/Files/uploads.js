// <upload-list>: files on their way to the server, each with its progress and what became of it.
import { assetPath, get, upload } from "./api.js";
import { askConflict } from "./conflict-dialog.js";
import { fill, h, icon } from "./dom.js";
import { bytes } from "./format.js";
import { texts } from "./texts.js";

const t = texts.uploads;
const atOnce = 3;

export class Uploads extends HTMLElement {
  #waiting = [];
  #running = 0;
  #richType;

  /** `richType` returns the rich type of files from a folder of this name, if their content does not decide it. */
  constructor(richType = () => undefined) {
    super();
    this.#richType = richType;
    this.refused = h("ul");
    this.pending = h("ul");
    this.accepted = h("ul");
    this.summary = h("summary");
    this.collapsed = h("details", { hidden: true }, this.summary, this.accepted);
    this.status = h("p", { class: "hidden", role: "status" });
    this.cancelAll = h("button", { class: "plain", on: { click: () => this.#cancelAll() } }, t.cancelAll);
    this.clear = h("button", { class: "plain", on: { click: () => this.#clear() } }, t.clear);
  }

  connectedCallback() {
    fill(this,
      h("div", { class: "head" }, h("h2", {}, t.title), h("div", { class: "actions" }, this.cancelAll, this.clear)),
      this.status, this.refused, this.pending, this.collapsed);
    this.#show();
  }

  /**
   * Uploads files; each may name its rich type and asset, and that it replaces this. Resolves to the assets that were
   * accepted.
   */
  async add(files) {
    const batch = { left: files.length };
    const done = files.map((entry) => new Promise((resolve) => {
      this.#waiting.push(this.#row(entry, batch, resolve));
    }));
    this.#show();
    this.#start();
    return (await Promise.all(done)).filter(Boolean);
  }

  #row({ file, folder, richType, name, replace }, batch, resolve) {
    const target = { richType: richType ?? this.#richType(folder), name: name ?? file.name, replace };
    const bar = h("progress", { value: 0, max: 1, "aria-label": target.name });
    const words = h("p", { class: "quiet" }, t.waiting);
    const title = h("strong", {}, target.name);
    const kind = h("span", { class: "quiet" }, bytes(file.size));
    const control = new AbortController();
    const cancel = h("button", {
      class: "plain", type: "button", "aria-label": `${texts.cancel}: ${target.name}`, on: { click: () => control.abort(cancelled()) },
    }, texts.cancel);
    const row = h("li", {}, title, kind, cancel, bar, words);
    const finish = (list, className, symbol, text, asset) => {
      batch.left -= 1;
      row.className = className;
      fill(words, icon(symbol), text);
      bar.remove();
      cancel.remove();
      // What needs attention first, and of that the latest; what was cancelled needs none.
      if (className) list.prepend(row);
      else list.append(row);
      this.#show();
      resolve(asset);
    };
    row.control = control;
    this.pending.append(row);
    control.signal.addEventListener("abort", () => {
      if (!this.#waiting.includes(start)) return;
      this.#waiting = this.#waiting.filter((other) => other !== start);
      finish(this.refused, "", "refused", t.cancelled);
    });
    const start = async () => {
      // If the stream brings an event meanwhile, the response may be older, and the stream brings the rest.
      const told = new Set();
      const note = ({ detail }) => told.add(assetPath(detail));
      addEventListener("live:asset", note);
      const progress = (part) => {
        bar.value = part;
        words.textContent = part === 1 ? t.checking : t.sending;
      };
      try {
        const asset = await this.#send(file, target, batch, progress, control.signal);
        title.textContent = asset.name;
        kind.textContent = `${texts.richTypes[asset.richType] ?? asset.richType} · ${bytes(file.size)}`;
        if (!told.has(assetPath(asset))) dispatchEvent(new CustomEvent("live:asset", { detail: asset }));
        finish(this.accepted, "good", "ready", t.done, asset);
      } catch (problem) {
        finish(this.refused, problem.name === "AbortError" ? "" : "bad", "refused", problem.message);
      }
      removeEventListener("live:asset", note);
    };
    return start;
  }

  /** Uploads a file, and asks if that would replace an asset. */
  async #send(file, target, batch, progress, signal) {
    for (;;) {
      signal.throwIfAborted();
      try {
        return await upload(file, target, progress, signal);
      } catch (problem) {
        if (problem.status !== 412 || !problem.location) throw problem;
        const [richType, name] = problem.location.split("/").slice(-2).map(decodeURIComponent);
        const choice = await askConflict(file, { richType, name }, batch);
        if (!choice) throw cancelled();
        target = choice === "replace" ? { richType, name, replace: true } : { richType, name: await freeName(richType, name) };
      }
    }
  }

  #start() {
    while (this.#running < atOnce && this.#waiting.length) {
      this.#running += 1;
      const next = this.#waiting.shift();
      next().finally(() => {
        this.#running -= 1;
        this.#start();
      });
    }
  }

  #show() {
    const [refused, pending, accepted] = [this.refused, this.pending, this.accepted].map((list) => list.children.length);
    this.hidden = !(refused + pending + accepted);
    this.collapsed.hidden = !accepted;
    this.summary.textContent = t.accepted(accepted);
    this.cancelAll.hidden = pending < 2;
    this.clear.hidden = !(refused + accepted);
    const failed = this.refused.querySelectorAll(".bad").length;
    this.status.textContent = pending ? "" : [accepted && t.accepted(accepted), failed && t.refused(failed)].filter(Boolean).join(", ");
  }

  #cancelAll() {
    for (const row of [...this.pending.children]) row.control.abort(cancelled());
  }

  #clear() {
    this.refused.replaceChildren();
    this.accepted.replaceChildren();
    this.#show();
  }
}

const cancelled = () => new DOMException(t.cancelled, "AbortError");

/** A name like this that no asset of the rich type has: "logo (2).png". */
async function freeName(richType, name) {
  const [, stem, extension] = name.match(/^(.+?)((?:\.[^.]+)?)$/su);
  for (let number = 2; ; number += 1) {
    const other = `${stem} (${number})${extension}`;
    try {
      await get(assetPath({ richType, name: other }));
    } catch (problem) {
      if (problem.status === 404) return other;
      throw problem;
    }
  }
}

customElements.define("upload-list", Uploads);
