// An asset in full: what it will be on each profile, side by side.
import { assetMedia } from "./api.js";
import { facts } from "./asset-card.js";
import { h, icon } from "./dom.js";
import { bytes, kind } from "./format.js";
import { linkCard, player } from "./media-view.js";
import { state } from "./screen.js";
import { texts } from "./texts.js";

/** What a device gets at most, in bytes, as docs/IMAGES.md has it. */
export const limits = { ios: 10_000_000, android: 1_000_000, watch: 60_000, web: 2_000_000, thumb: 24_000 };

/** Shows the dialog; resolves to what shall be done: nothing, "replace" or "remove". */
export function showAsset(asset) {
  const t = texts.asset;
  return new Promise((resolve) => {
    const title = h("h2", { id: "asset-title" }, asset.name);
    const dialog = h("dialog", { class: "wide", "aria-labelledby": "asset-title", on: { close } },
      h("form", { method: "dialog" },
        h("div", { class: "head" }, title,
          h("button", { class: "plain", "aria-label": texts.close }, icon("close"))),
        h("p", { class: "line" }, state(asset.state, icon(asset.state)), h("span", { class: "quiet" }, facts(asset))),
        asset.reason && h("p", { class: "reason" }, asset.reason),
        asset.advice && h("p", { class: "advice" }, asset.advice),
        asset.state !== "refused" && content(asset),
        h("div", { class: "actions" },
          asset.state !== "refused" &&
            h("a", { class: "button main", href: `#compose/${encodeURIComponent(asset.richType)}/${encodeURIComponent(asset.name)}`,
              on: { click: () => dialog.close() } }, icon("compose"), t.compose),
          asset.state !== "refused" && h("a", { class: "button", href: assetMedia(asset, ""), download: asset.name }, t.original),
          h("button", { value: "replace" }, t.replace),
          h("button", { class: "danger", value: "remove" }, texts.remove))));
    function close() {
      dialog.remove();
      resolve(dialog.returnValue);
    }
    document.body.append(dialog);
    dialog.showModal();
  });
}

function content(asset) {
  if (asset.richType === "sound") return player(asset);
  if (asset.richType === "url") return linkCard(asset);
  return h("ul", { class: "profiles", "aria-label": texts.asset.profiles }, Object.keys(limits).map((profile) => rendition(asset, profile)));
}

/** One rendition: the picture from the bytes that were counted. */
function rendition(asset, profile) {
  const picture = h("img", { alt: texts.asset.rendition(asset.name, texts.profiles[profile]) });
  const words = h("small", { class: "quiet" }, texts.loading);
  fetch(assetMedia(asset, `profile=${profile}`))
    .then(async (response) => {
      if (!response.ok) throw new Error((await response.json()).detail);
      const blob = await response.blob();
      picture.src = URL.createObjectURL(blob);
      await picture.decode();
      URL.revokeObjectURL(picture.src);
      words.textContent = [
        kind(blob.type), `${picture.naturalWidth} × ${picture.naturalHeight}`, texts.of(bytes(blob.size), bytes(limits[profile])),
      ].join(" · ");
    })
    .catch((problem) => (words.textContent = problem.message));
  return h("li", {}, h("span", { class: "picture" }, picture), h("strong", {}, texts.profiles[profile]), words);
}
