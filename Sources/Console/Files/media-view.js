// What an asset looks like: a picture, a film's poster, a sound's waveform, a link's card, or a symbol.
import { assetMedia } from "./api.js";
import { h, icon } from "./dom.js";
import { thumbHashCanvas } from "./thumb-hash.js";

/** The view of an asset for a profile; small ones are `thumb`. */
export function mediaView(asset, profile = "thumb") {
  if (asset.state === "refused") return h("span", { class: "symbol bad" }, icon("refused"));
  if (asset.richType === "url") return linkCard(asset);
  const isSound = asset.richType === "sound";
  const isFilm = asset.richType === "video";
  const picture = h("img", {
    alt: "", loading: "lazy", decoding: "async", class: isSound ? "waveform" : "",
    // The fragment makes a browser ask again after the content was replaced.
    src: `${assetMedia(asset, isSound ? "view=waveform&width=480" : `profile=${profile}`)}#${asset.sha256}`,
  });
  // A type whose plugin answers something that is no picture.
  const symbol = isFilm ? "film" : isSound ? "sound" : "file";
  picture.addEventListener("error", () => picture.replaceWith(h("span", { class: "symbol" }, icon(symbol))));
  if (!isSound) showUntilLoaded(picture, asset.thumbHash);
  return isFilm ? h("span", { class: "film" }, picture, icon("film")) : picture;
}

/** The address of a film's picture, to be shown before it plays. */
export const poster = (asset) => assetMedia(asset, "view=poster&width=640");

/** A link as its plugin knows it: title, host and picture. */
export function linkCard({ title, host, url, description }) {
  return h("span", { class: "link-card" },
    icon("link"),
    h("strong", {}, title ?? host ?? url ?? ""),
    description && h("span", {}, description),
    h("small", {}, url ?? ""));
}

/** A player: of a film, or of a sound with its waveform. */
export function player(asset) {
  const options = { controls: true, preload: "none", src: assetMedia(asset, ""), "aria-label": asset.name };
  if (asset.richType === "video") return h("div", { class: "player" }, h("video", { ...options, playsInline: true, poster: poster(asset) }));
  return h("div", { class: "player" }, mediaView(asset), h("audio", options));
}

/** Shows behind a picture what its hash describes, until it is loaded; without a hash nothing. */
export function showUntilLoaded(picture, hash) {
  const canvas = thumbHashCanvas(hash);
  if (!canvas) return;
  picture.style.background = `center / contain no-repeat url(${canvas.toDataURL()})`;
  for (const type of ["load", "error"]) picture.addEventListener(type, () => { picture.style.background = ""; }, { once: true });
}
