// <upload-list>: files on their way to the server, each with its progress and what became of it.
import { upload } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { bytes } from "./format.js";
import { texts } from "./texts.js";

const atOnce = 3;

export class Uploads extends HTMLElement {
  #waiting = [];
  #running = 0;
  #chosenType;

  /** `chosenType` returns the rich type for files whose kind does not tell it; it may be empty. */
  constructor(chosenType) {
    super();
    this.#chosenType = chosenType;
    this.list = h("ul", { "aria-live": "polite" });
    this.clear = h("button", { class: "plain", on: { click: () => this.#clear() } }, texts.uploads.clear);
  }

  connectedCallback() {
    this.hidden = !this.list.children.length;
    fill(this, h("div", { class: "head" }, h("h2", {}, texts.uploads.title), this.clear), this.list);
  }

  /** Uploads files; each may name its rich type and asset. Resolves to the assets that were accepted. */
  async add(files) {
    const done = files.map((entry) => new Promise((resolve) => {
      const richType = entry.richType ?? this.#typeOf(entry);
      this.#waiting.push(this.#row(entry.file, richType, entry.name ?? entry.file.name, resolve));
    }));
    this.hidden = false;
    this.#start();
    return (await Promise.all(done)).filter(Boolean);
  }

  #typeOf({ file, folder }) {
    if (folder in texts.richTypes) return folder;
    if (/\.(url|webloc|desktop)$/i.test(file.name)) return "url";
    if (file.type.startsWith("image/")) return "img";
    if (/^(audio|video)\//.test(file.type)) return "sound";
    return this.#chosenType?.() || "img";
  }

  #row(file, richType, name, resolve) {
    const bar = h("progress", { value: 0, max: 1, "aria-label": name });
    const words = h("p", { class: "quiet" }, texts.uploads.waiting);
    const row = h("li", {}, h("strong", {}, name), h("span", { class: "quiet" }, `${richType} · ${bytes(file.size)}`), bar, words);
    this.list.append(row);
    return async () => {
      words.textContent = texts.uploads.sending;
      let asset;
      // If the stream brings an event meanwhile, the response may be older, and the stream brings the rest.
      let hasEvent = false;
      const note = ({ detail }) => (hasEvent ||= detail.richType === richType && detail.name === name);
      addEventListener("live:asset", note);
      try {
        asset = await upload(file, richType, name, (part) => {
          bar.value = part;
          if (part === 1) words.textContent = texts.uploads.checking;
        });
        row.className = "good";
        fill(words, icon("ready"), texts.uploads.done);
        if (!hasEvent) dispatchEvent(new CustomEvent("live:asset", { detail: asset }));
      } catch (problem) {
        row.className = "bad";
        fill(words, icon("refused"), problem.message);
      }
      removeEventListener("live:asset", note);
      bar.remove();
      resolve(asset);
    };
  }

  async #start() {
    while (this.#running < atOnce && this.#waiting.length) {
      this.#running += 1;
      const next = this.#waiting.shift();
      next().finally(() => {
        this.#running -= 1;
        this.#start();
      });
    }
  }

  #clear() {
    for (const row of this.list.querySelectorAll(".good, .bad")) row.remove();
    this.hidden = !this.list.children.length;
  }
}

customElements.define("upload-list", Uploads);
