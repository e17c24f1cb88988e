// What each platform will show: the real renditions and the text as the server cuts it, in drawn lock screens.
import { address, assetMedia } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { bytes, kind, number, size } from "./format.js";
import { linkCard, poster } from "./media-view.js";
import { unshown } from "./said.js";
import { language, texts } from "./texts.js";

const t = texts.previews;

/** After about how many characters screens cut the title or the text. */
const cuts = { title: 40, collapsed: 49, centre: 100, lockScreen: 160 };

/**
 * Each drawn device: the profile of its rendition, the platforms whose text it shows, and how it is drawn.
 *
 * `buttons` is how many it shows, `screens` which of its screens cut the text.
 */
const devices = [
  { name: "iosCollapsed", profile: "ios", platforms: ["apns"], screens: ["title", "centre", "lockScreen"], draw: (view) => phone("iphone", bubble(view, true)) },
  { name: "iosExpanded", profile: "ios", platforms: ["apns"], buttons: 4, draw: (view) => phone("iphone", bubble(view, false)) },
  { name: "androidCollapsed", profile: "android", platforms: ["fcm", "gcm"], screens: ["collapsed"], draw: (view) => phone("android", bubble(view, true)) },
  { name: "androidBig", profile: "android", platforms: ["fcm", "gcm"], buttons: 3, draw: (view) => phone("android", bubble(view, false)) },
  { name: "watch", profile: "watch", platforms: ["apns"], buttons: 4, draw: (view) => h("div", { class: "watch" }, app(view), picture(view), words(view), presses(view)) },
  { name: "browser", profile: "web", platforms: ["webpush"], buttons: 2, draw: (view) => h("div", { class: "desktop" }, isPicture(view) ? bubble(view, false) : h("div", { class: "bubble" }, app(view), words(view), presses(view))) },
];

/**
 * Shows the previews of a draft by its dry run, in a language; without one, what has to be done first. `content` is null for text alone.
 */
export function showPreviews(element, result, content, draft, language) {
  if (!result) return fill(element, h("p", { class: "quiet empty" }, t.empty));
  fill(element, h("div", { class: "devices" }, devices.map(({ name, profile, platforms, buttons = 0, screens = [], draw }) => {
    const inLanguage = result.texts.filter((text) => text.language === language);
    const all = inLanguage.length ? inLanguage : result.texts;
    const text = all.find(({ platform }) => platforms.includes(platform)) ?? all[0];
    const isLocked = ["private", "secret"].includes(draft.lockScreen);
    const view = {
      text, content, isLocked, said: isLocked ? { body: t.locked } : said(text),
      rendition: result.renditions.find((rendition) => rendition.profile === profile),
      buttons: isLocked ? [] : (draft.actions ?? []).slice(0, buttons),
    };
    return h("figure", { data: { device: name } }, draw(view), h("figcaption", {},
      h("strong", {}, name === "androidBig" && !content ? t.devices.androidText : t.devices[name]), limits(view), advice(view.said, screens), outcome(text), note(name, view) && h("small", {}, note(name, view))));
  })));
}

/** The texts of a push as they are shown, by the system or by the app. */
function said({ platform, payload, body }) {
  const alert = { apns: payload.aps?.alert, fcm: payload.notification }[platform];
  if (alert) return typeof alert === "string" ? { body: alert } : alert;
  const { richTitle, richSubtitle, richMessage = body } = (platform === "fcm" ? payload.data : payload) ?? {};
  return { title: richTitle, subtitle: richSubtitle, body: richMessage };
}

/** Where screens cut title and text. */
export function advice({ title = "", body = "" }, screens = Object.keys(cuts)) {
  const length = (screen) => [...(screen === "title" ? title : body)].length;
  return screens.filter((screen) => length(screen) > cuts[screen])
    .map((screen) => h("span", { class: "advice" }, t.long[screen](cuts[screen], length(screen))));
}

/** What the platform does not show of what was entered. */
const outcome = (text) => unshown(text).map((words) => h("span", {}, words));

/** What is to be known of a device with such media. */
function note(name, { content, rendition, isLocked }) {
  if (isLocked) return name === "browser" ? t.alwaysLocked : t.unlocked;
  if (!content) return undefined;
  return name === "browser" && !isPicture({ rendition }) ? t.notes.browserText : t.notes[name];
}

const isPicture = ({ rendition }) => rendition?.contentType?.startsWith("image/");

function phone(platform, notification) {
  return h("div", { class: `phone ${platform}` },
    h("div", { class: "clock", "aria-hidden": "true" },
      h("span", {}, new Date().toLocaleDateString(language, { weekday: "long", day: "numeric", month: "long" })),
      h("b", {}, "9:41")),
    notification);
}

/** A notification, with a small picture beside the text or a large one below. */
function bubble(view, isCollapsed) {
  return h("div", { class: `bubble ${isCollapsed ? "collapsed" : "expanded"}` }, app(view), words(view), picture(view, isCollapsed), presses(view));
}

const app = () => h("span", { class: "app" }, h("img", { src: "icon.svg", alt: "" }), h("span", {}, t.app), h("span", {}, t.now));

const words = ({ said: { title, subtitle, body } }) =>
  h("p", {}, title && h("b", {}, title), subtitle && h("span", {}, subtitle), body ?? "");

/** The buttons, which are only drawn. */
const presses = ({ buttons }) => buttons.length > 0 && h("span", { class: "presses" }, buttons.map(({ label }) => h("span", {}, label)));

/** The rendition itself; a sound as its waveform, a link as its card, a film as its poster where it is small. */
function picture({ rendition, content, isLocked }, isCollapsed = false) {
  if (!content || isLocked) return null;
  if (!rendition || rendition.status === "refused") return h("span", { class: "shot symbol bad" }, icon("refused"));
  if (content?.richType === "url") return h("span", { class: "shot" }, linkCard(content));
  if (rendition.contentType?.startsWith("video/") && content) {
    if (isCollapsed) return h("img", { class: "shot", alt: "", data: { profile: rendition.profile }, src: poster(content) });
    return h("video", {
      class: "shot", controls: true, muted: true, playsInline: true, preload: "none", poster: poster(content),
      src: address(rendition.url), data: { profile: rendition.profile }, "aria-label": content.name,
    });
  }
  const isPicture = rendition.contentType?.startsWith("image/");
  const source = isPicture && rendition.url ? address(rendition.url)
    : isPicture && rendition.data ? `data:${rendition.contentType};base64,${rendition.data}`
    : content?.richType === "sound" ? assetMedia(content, "view=waveform&width=480") : null;
  if (!source) return h("span", { class: "shot symbol" }, icon("file"));
  return h("img", { class: isPicture ? "shot" : "shot waveform", alt: "", data: { profile: rendition.profile }, src: source });
}

/** What there is of the limits: "812 kB of 1 MB". */
function limits({ rendition, text }) {
  return [
    rendition && (rendition.status === "refused"
      ? h("span", { class: "problem" }, rendition.reason)
      : [h("span", {}, [kind(rendition.contentType), size(rendition), texts.of(bytes(rendition.bytes), bytes(rendition.limit))].filter(Boolean).join(" · ")),
        h("meter", { max: rendition.limit, value: rendition.bytes, "aria-label": t.mediaLimit })]),
    text && [h("span", {}, t.text(number(text.bytes), number(text.limit)), text.cut && h("b", { class: "advice" }, ` ${t.cut}`)),
      h("meter", { max: text.limit, value: text.bytes, "aria-label": t.textLimit })],
  ];
}
