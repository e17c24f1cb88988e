// <asset-card>: an asset in the catalogue, with what it looks like, its state and the reason.
import { fill, h, icon } from "./dom.js";
import { bytes, kind, seconds, size } from "./format.js";
import { mediaView } from "./media-view.js";
import { state } from "./screen.js";

export class AssetCard extends HTMLElement {
  #asset;

  get asset() { return this.#asset; }

  set asset(asset) {
    // An event repeats what the card shows: its picture must not flicker.
    const before = this.#asset;
    this.#asset = asset;
    if (!before || before.sha256 !== asset.sha256 || before.state !== asset.state) this.#view = mediaView(asset);
    if (this.isConnected) this.#show();
  }

  #view;

  connectedCallback() {
    this.setAttribute("role", "listitem");
    this.#show();
  }

  #show() {
    const { name, state: current, reason, advice, progress, labels = [] } = this.#asset;
    const hadFocus = this.contains(document.activeElement);
    fill(this,
      h("button", { class: "open" },
        h("span", { class: "picture" }, this.#view),
        h("span", { class: "name", title: name }, name),
        h("span", { class: "facts" }, facts(this.#asset)),
        state(current, icon(current)),
        progress && h("progress", { value: progress.made, max: progress.of, "aria-label": current })),
      labels.length > 0 && h("p", { class: "labels" }, labels.map((label) => h("span", {}, label))),
      reason && h("p", { class: "reason" }, reason),
      !reason && advice && h("p", { class: "advice" }, advice));
    if (hadFocus) this.querySelector("button").focus();
  }
}

/** What there is to know in a line: "JPEG · 1200 × 800 · 82 kB". */
export function facts(asset) {
  const { contentType, duration } = asset;
  return [
    contentType && contentType !== "text/plain" && kind(contentType), size(asset),
    duration && seconds(duration), asset.host, bytes(asset.bytes),
  ].filter(Boolean).join(" · ");
}

customElements.define("asset-card", AssetCard);
