// What a notification shows besides its texts: a picture, a film, a sound, a link, or a plugin's own kind.
//
// It is loaded near the screen and let go far from it, in a frame that keeps its size, so that nothing jumps and a thousand
// notifications do not hold a thousand pictures.
import { dialog, h, icon } from "./dom.js";
import { pictureWidth, reducedMotion } from "./platform.js";
import { app as words } from "./app-texts.js";
import { thumbHashCanvas } from "./thumb-hash.js";

/** Fetches what a notification would show first, for when there is no network; a picture or a poster. */
export async function keepMedia({ client, device }, { id, details = {} }, width) {
  const kind = details.contentType?.split("/")[0];
  if (kind !== "image" && kind !== "video") return;
  const [variant, options] = kind === "video" ? ["poster", { view: "poster", width }] : ["", { profile: "web", width }];
  const least = kind === "video" ? Math.min(width, 640) : details.animated ? 0 : width;
  if (await Offline.media(device, id, variant, details, least)) return;
  const blob = await (await client.media(id, details.animated ? { profile: "web" } : options)).blob();
  await Offline.saveMedia(device, id, variant, details, least, blob);
}

/** What media shows, in words; empty if the texts beside it have to do. */
const described = ({ alt }) => alt ?? "";

export class MediaView {
  #context;
  #notification;
  #loading;
  #blobs = [];

  /** The media of a notification, or null if it has none. `used` is called when somebody plays or opens it. */
  static of(context, notification, used) {
    return notification.richType === undefined ? null : new MediaView(context, notification, used);
  }

  constructor(context, notification, used) {
    this.#context = context;
    this.#notification = notification;
    this.used = used;
    const { width, height, contentType = "", transparent } = notification.details ?? {};
    this.kind = contentType.split(/[/;]/)[0];
    this.element = h("div", { class: transparent ? "media transparent" : "media", data: { kind: this.kind || "other" } });
    if (!["image", "video"].includes(this.kind)) return;
    // A very tall picture is shown whole in a frame that fits on the screen, and none is enlarged.
    const [across, down] = [Number(width) || 16, Number(height) || 9];
    this.element.style.aspectRatio = `${Math.min(4, Math.max(0.8, across / down))}`;
    if (height && this.kind === "image") this.element.style.maxHeight = `min(${Math.max(down, 96)}px, 80vh)`;
  }

  /** Comes near the screen, or leaves it, after which what failed is tried again. What plays is not interrupted. */
  near(isNear) {
    if (isNear && !this.#loading) {
      // A canvas for each of a thousand notifications would make every frame slow.
      const canvas = thumbHashCanvas(this.#notification.details?.thumbHash);
      if (canvas) this.element.append(canvas);
      const end = new AbortController();
      this.#loading = end;
      // What is only passed by is not fetched.
      setTimeout(() => { if (!end.signal.aborted) this.#load(end.signal).catch((problem) => this.#failed(problem, end)); }, 100);
    } else if (!isNear && this.#loading) {
      const player = this.element.querySelector("audio, video");
      if (player && !player.paused) return;
      this.release();
    }
  }

  release() {
    this.#loading?.abort();
    this.#loading = undefined;
    // What has no frame keeps the size that it had.
    if (!this.element.style.aspectRatio && this.element.offsetHeight) this.element.style.minHeight = `${this.element.offsetHeight}px`;
    this.element.replaceChildren();
    for (const blob of this.#blobs.splice(0)) URL.revokeObjectURL(blob);
    this.element.classList.remove("loaded", "missing");
  }

  #failed(problem, end) {
    if (end.signal.aborted) return;
    if (problem.status === 401) return this.#context.signedOut("ended");
    this.element.classList.add("missing");
    this.element.append(h("p", { class: "quiet" }, problem.status ? words.media.missing : words.media.offline));
  }

  async #load(signal) {
    const shown = await (this.kind === "video" ? this.#film(signal) : this.#other(signal));
    if (signal.aborted || !shown) return;
    this.element.append(...[shown].flat());
    this.element.classList.add("loaded");
  }

  /** A rendition, from the device if it is kept there, as a blob. */
  async #blob(variant, options, width, signal) {
    const { client, device } = this.#context;
    const { id, details } = this.#notification;
    const kept = await Offline.media(device, id, variant, details, width);
    if (kept) return kept;
    const blob = await (await client.media(id, options, { signal })).blob();
    if (this.#context.isKept(id)) Offline.saveMedia(device, id, variant, details, width, blob);
    return blob;
  }

  /** The address of a blob, until the media is let go; never afterwards. */
  #address(blob, signal) {
    if (signal.aborted) throw new Error("It is let go already.");
    const address = URL.createObjectURL(blob);
    this.#blobs.push(address);
    return address;
  }

  async #picture(blob, signal) {
    const picture = h("img", { alt: described(this.#notification), src: this.#address(blob, signal), decoding: "async" });
    await picture.decode().catch(() => {});
    return picture;
  }

  #wide() {
    return pictureWidth(this.element.clientWidth || 640);
  }

  /** A film's poster with a button, which plays the film in its place. */
  async #film(signal) {
    const width = this.#wide();
    const play = h("button", { type: "button", class: "play", "aria-label": words.media.play(described(this.#notification)), on: { click: () => this.#play(play) } }, icon("play"));
    const poster = await this.#blob("poster", { view: "poster", width }, Math.min(width, 640), signal).then((blob) => this.#picture(blob, signal)).catch((problem) => {
      if (problem.status === 401 || signal.aborted) throw problem;
      return null;
    });
    return [poster, play].filter(Boolean);
  }

  async #play(button) {
    this.used();
    button.disabled = true;
    const { client, server } = this.#context;
    try {
      // By a signed link the browser gets the film in parts, as it plays.
      const { links } = await client.notification(this.#notification.id);
      const link = links.web ?? links.original;
      const film = h("video", { controls: true, playsInline: true, autoplay: true, "aria-label": described(this.#notification) || words.media.film,
        src: new URL(link.slice(link.indexOf("/media/") + 1), server).href });
      for (const child of [...this.element.children]) if (child.localName !== "canvas") child.remove();
      this.element.append(film);
      film.focus();
      film.play()?.catch(() => {});
    } catch (problem) {
      button.disabled = false;
      this.#context.failed(problem);
    }
  }

  async #other(signal) {
    const { details = {}, richType } = this.#notification;
    const width = this.kind === "image" ? this.#wide() : 0;
    // With a width an animation is its first picture.
    const moves = details.animated && !reducedMotion.matches;
    const options = width && !moves ? { profile: "web", width } : { profile: "web" };
    const blob = await this.#blob("", options, moves ? 0 : width, signal);
    const [family, kind] = blob.type.split(/[/;]/);
    if (family === "image" && kind !== "svg+xml") return this.#enlargeable(await this.#picture(blob, signal));
    if (family === "audio" || family === "video") {
      return h(family, { controls: true, preload: "metadata", playsInline: true, src: this.#address(blob, signal),
        "aria-label": described(this.#notification) || words.media.sound, on: { play: this.used } });
    }
    if (kind === "json") return linkCard(JSON.parse(await blob.text()), this.used) ?? this.#file(blob, richType, signal);
    if (family === "text" && kind === "plain") {
      const text = (await blob.text()).slice(0, 4000);
      return /^https?:\/\/\S+$/.test(text.trim()) ? linkCard({ url: text.trim() }, this.used) : h("p", { class: "text", dir: "auto" }, text);
    }
    return this.#file(blob, richType, signal);
  }

  /** What only another program can show. */
  #file(blob, richType, signal) {
    return h("a", { class: "card", href: this.#address(blob, signal), download: richType, on: { click: this.used } },
      h("span", { class: "grow" }, words.media.file(richType)), icon("out"));
  }

  #enlargeable(picture) {
    return h("button", { type: "button", class: "enlarge", "aria-label": words.media.enlarge(described(this.#notification)), on: { click: () => this.#enlarge(picture) } }, picture);
  }

  /** The picture alone, as large as the screen. */
  async #enlarge(picture) {
    this.used();
    const large = h("img", { alt: described(this.#notification), src: picture.src });
    const view = dialog(words.media.picture, { class: "viewer" }, large,
      h("button", { type: "button", class: "symbol", "aria-label": words.close, on: { click: () => view.close() } }, icon("close")));
    large.addEventListener("click", () => view.close());
    const blob = await this.#blob("", { profile: "web" }, 1920).catch(() => null);
    if (!blob || !view.open) return;
    const address = URL.createObjectURL(blob);
    view.addEventListener("close", () => URL.revokeObjectURL(address));
    large.src = address;
  }
}

/** A link to the web as a card; null for any other. */
export function linkCard({ url, title, description }, used) {
  let address;
  try { address = new URL(url); } catch { return null; }
  if (!["http:", "https:"].includes(address.protocol)) return null;
  const host = address.hostname.replace(/^www\./, "");
  return h("a", { class: "card", href: address.href, target: "_blank", rel: "noopener noreferrer", on: { click: used, auxclick: used } },
    h("span", { class: "grow" },
      h("strong", { dir: "auto" }, title || host),
      description && h("span", { dir: "auto" }, description),
      h("small", { dir: "ltr" }, title ? host : address.pathname.length > 1 ? readable(address.pathname).slice(0, 60) : address.protocol === "https:" ? "" : address.href)),
    icon("out"));
}

/** A path as one reads it; as it is if it is no UTF-8, such as “/caf%E9”. */
function readable(path) {
  try { return decodeURI(path); } catch { return path; }
}
