// What an asset looks like: a picture, a sound's waveform, a link's card, or a symbol.
import { assetMedia } from "./api.js";
import { h, icon } from "./dom.js";

/** The view of an asset for a profile; small ones are `thumb`. */
export function mediaView(asset, profile = "thumb") {
  if (asset.state === "refused") return h("span", { class: "symbol bad" }, icon("refused"));
  if (asset.richType === "url") return linkCard(asset);
  const isSound = /^(audio|video)\//.test(asset.contentType ?? "");
  const picture = h("img", {
    alt: "", loading: "lazy", decoding: "async", class: isSound ? "waveform" : "",
    // The fragment makes a browser ask again after the content was replaced.
    src: `${assetMedia(asset, isSound ? "view=waveform&width=480" : `profile=${profile}`)}#${asset.sha256}`,
  });
  // A type whose plugin answers something that is no picture.
  picture.addEventListener("error", () => picture.replaceWith(h("span", { class: "symbol" }, icon(isSound ? "sound" : "file"))));
  return picture;
}

/** A link as its plugin knows it: title, host and picture. */
export function linkCard({ title, host, url, description }) {
  return h("span", { class: "link-card" },
    icon("link"),
    h("strong", {}, title ?? host ?? url ?? ""),
    description && h("span", {}, description),
    h("small", {}, url ?? ""));
}

/** A player with the sound's waveform. */
export function player(asset) {
  return h("div", { class: "player" },
    mediaView(asset),
    h("audio", { controls: true, preload: "none", src: assetMedia(asset, ""), "aria-label": asset.name }));
}
