// What assets had before they were replaced or removed, and can get back.
import { assetMedia, assetPath, get, post, query } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { bytes, exactTime, kind, number, time } from "./format.js";
import { attempt } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.versions;

/** Brings content back, without a version what an asset had last; resolves to the asset. */
export const restore = (asset, sha256) => post(assetPath(asset, "/restore"), sha256 ? { sha256 } : {});

/** What an asset had before, which `restored` is called for with the asset when it has it again; nothing if there is none. */
export function earlierVersions(asset, restored) {
  const details = h("details", { hidden: true, class: "versions" });
  get(assetPath(asset, "/versions")).then(({ versions }) => {
    details.hidden = !versions.length;
    fill(details, h("summary", {}, `${t.title} (${number(versions.length)})`), h("p", { class: "hint" }, t.hint), list(versions, restored));
  }, () => details.remove());
  return details;
}

/** A dialog with what was removed; `restored` is called with each asset that is there again. */
export function showRemoved(restored) {
  const content = h("div", { class: "versions" }, texts.loading);
  const more = h("button", { type: "button", hidden: true, on: { click: () => attempt(more, () => load(more.dataset.next)) } }, texts.more);
  const dialog = h("dialog", { class: "wide", "aria-labelledby": "removed-title", on: { close: () => dialog.remove() } },
    h("form", { method: "dialog" },
      h("div", { class: "head" }, h("h2", { id: "removed-title" }, t.removed),
        h("button", { class: "plain", "aria-label": texts.close }, icon("close"))),
      content, more));
  async function load(after) {
    try {
      const { assets, next } = await get(`/api/removed-assets${query({ limit: 50, after })}`);
      const rows = list(assets, restored, true);
      if (after) content.append(rows);
      else fill(content, assets.length ? rows : h("p", { class: "quiet" }, t.none));
      more.hidden = !next;
      more.dataset.next = next ?? "";
    } catch (problem) {
      fill(content, h("p", { class: "problem", role: "alert" }, problem.message));
    }
  }
  document.body.append(dialog);
  dialog.showModal();
  load();
}

function list(versions, restored, areNamed = false) {
  return h("ul", {}, versions.map((version) => {
    const said = h("span", { role: "status" });
    const name = areNamed ? version.name : kind(version.contentType);
    const button = h("button", { type: "button", "aria-label": `${t.restore}: ${areNamed ? name : exactTime(new Date(version.ended))}`, on: { click: act } }, t.restore);
    async function act() {
      button.disabled = true;
      try {
        const asset = await restore(version, version.sha256);
        button.remove();
        said.textContent = t.restored;
        restored(asset);
      } catch (problem) {
        said.textContent = problem.message;
        button.disabled = false;
        button.focus();
      }
    }
    return h("li", {}, picture(version),
      h("span", {}, h("strong", {}, name), h("small", { class: "quiet" }, [areNamed && kind(version.contentType), bytes(version.bytes)].filter(Boolean).join(" · "), " · ", time(version.ended))),
      said, button);
  }));
}

/** What it looked like; a symbol for what is no picture. */
function picture(version) {
  const symbol = { video: "film", sound: "sound", url: "link" }[version.richType] ?? "file";
  if (["sound", "url"].includes(version.richType)) return h("span", { class: "picture" }, icon(symbol));
  const image = h("img", { alt: "", loading: "lazy", src: assetMedia(version, "profile=thumb", version.sha256) });
  image.addEventListener("error", () => image.replaceWith(icon(symbol)));
  return h("span", { class: "picture" }, image);
}
