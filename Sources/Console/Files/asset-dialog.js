// An asset in full: what it will be on each profile, side by side.
import { assetMedia } from "./api.js";
import { facts } from "./asset-card.js";
import { assetDescription } from "./asset-description.js";
import { assetUses } from "./asset-uses.js";
import { earlierVersions } from "./asset-versions.js";
import { h, icon } from "./dom.js";
import { bytes, kind, size } from "./format.js";
import { linkCard, player, poster } from "./media-view.js";
import { state } from "./screen.js";
import { texts } from "./texts.js";

/** What a device gets at most of a picture, in bytes, as docs/IMAGES.md has it. */
const limits = { ios: 10_000_000, android: 1_000_000, watch: 60_000, web: 2_000_000, thumb: 24_000 };
const largestFilm = 50_000_000;

/** Shows the dialog; resolves to what shall be done: nothing, "rename", "replace" or "remove". */
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
        asset.state !== "refused" && [content(asset), assetDescription(asset)],
        assetUses(asset, () => dialog.close()),
        earlierVersions(asset, (restored) => {
          dispatchEvent(new CustomEvent("live:asset", { detail: restored }));
          dialog.close();
        }),
        h("div", { class: "actions" },
          asset.state !== "refused" &&
            h("a", { class: "button main", href: `#compose/${encodeURIComponent(asset.richType)}/${encodeURIComponent(asset.name)}`,
              on: { click: () => dialog.close() } }, icon("compose"), t.compose),
          asset.state !== "refused" && h("a", { class: "button", href: assetMedia(asset, ""), download: asset.name }, t.original),
          h("button", { value: "rename" }, t.rename),
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
  return [
    asset.richType === "video" && player(asset),
    h("ul", { class: "profiles", "aria-label": texts.asset.profiles }, Object.keys(limits).map((profile) => rendition(asset, profile))),
  ];
}

/** One rendition: a film as it is sent, a picture from the bytes that were counted. */
function rendition(asset, profile) {
  return asset.richType === "video" && ["ios", "web"].includes(profile) ? film(asset, profile) : picture(asset, profile);
}

/** A film, of which only the head is asked for until it is played: its plugin answers with a film or with a picture. */
function film(asset, profile) {
  const words = h("small", { class: "quiet" }, texts.loading);
  const source = assetMedia(asset, `profile=${profile}`);
  fetch(source, { method: "HEAD" })
    .then((response) => {
      if (!response.ok) throw new Error(texts.asset.noRendition);
      const type = response.headers.get("Content-Type");
      words.textContent = [
        kind(type), size(asset), texts.of(bytes(Number(response.headers.get("Content-Length"))), bytes(largestFilm)),
      ].filter(Boolean).join(" · ");
    })
    .catch((problem) => (words.textContent = problem.message));
  return h("li", {},
    h("span", { class: "picture" }, h("video", {
      src: source, controls: true, preload: "none", playsInline: true, poster: poster(asset),
      "aria-label": texts.asset.rendition(asset.name, texts.profiles[profile]),
    })),
    h("strong", {}, texts.profiles[profile]), words);
}

function picture(asset, profile) {
  const image = h("img", { alt: texts.asset.rendition(asset.name, texts.profiles[profile]) });
  const words = h("small", { class: "quiet" }, texts.loading);
  fetch(assetMedia(asset, `profile=${profile}`))
    .then(async (response) => {
      if (!response.ok) throw new Error((await response.json()).detail);
      const blob = await response.blob();
      image.src = URL.createObjectURL(blob);
      // What no browser shows, the plugin's words say.
      await image.decode().catch(() => { throw new Error(`${kind(blob.type)} · ${bytes(blob.size)}`); });
      URL.revokeObjectURL(image.src);
      words.textContent = [
        kind(blob.type), `${image.naturalWidth} × ${image.naturalHeight}`, texts.of(bytes(blob.size), bytes(limits[profile])),
      ].join(" · ");
    })
    .catch((problem) => (words.textContent = problem.message));
  return h("li", {}, h("span", { class: "picture" }, image), h("strong", {}, texts.profiles[profile]), words);
}
