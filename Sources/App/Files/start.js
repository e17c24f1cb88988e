// What is shown: the welcome until a device is set up, and then the inbox and the settings, by the address. Each is loaded when it is.
import { show as showColour } from "./colour.js";
import { fill, h, icon, say } from "./dom.js";
import { installCard } from "./install.js";
import * as notifications from "./notifications.js";
import { hearOthers, signOut, tellOthers } from "./sign-out.js";
import { pushCard } from "./push-card.js";
import { needsHomeScreen, pictureWidth, platform } from "./platform.js";
import { app as words } from "./app-texts.js";

const server = Device.server();
const guest = new RichPush({ server });
const main = h("main", { id: "main", tabIndex: -1 });
let inbox;
let stream;

/** What all screens share: who this is, and what they cause. */
const context = {
  server, guest, app: { name: "richpush", subjects: [], signUp: null, demo: false }, device: undefined, client: undefined,
  tellOthers,
  failed: (problem) => (problem.status === 401 ? context.signedOut("ended") : say(problem.message, { seconds: 10 })),
  subjectName: (tag) => context.app.subjects.find((subject) => subject.tag === tag)?.name,
  isKept: (id) => inbox?.isKept(id) ?? false,
  showUnread,
  /** Changes what this device knows of itself. */
  async setDevice(changes) {
    Object.assign(context.device, changes);
    await Device.set(context.device.id, changes);
  },
  /** Begins as a device; another user's things go first. */
  async signedIn({ registration, user, token, waiting }) {
    if (context.device) await signOut({ client: context.client, device: context.device });
    else await Device.forget();
    const device = { id: registration, user, token, ...(waiting && { waiting }), pictureWidth: pictureWidth(Math.min(640, innerWidth)) };
    await Device.save(device);
    tellOthers({ type: "signed-in" });
    history.replaceState(null, "", "./");
    await begin(device);
  },
  /** The server does not know the device any more, or another tab has signed it out. */
  async signedOut(reason, isDone = false) {
    if (!context.device) return;
    const { client, device } = context;
    leave();
    if (!isDone) await signOut({ client, device, isEnded: true });
    showWelcome({ reason });
  },
  /** By the user's wish. */
  async signOut() {
    const { client, device } = context;
    stream?.abort();
    const isTold = await signOut({ client, device });
    leave();
    showWelcome({ reason: isTold ? "signedOut" : "untold" });
  },
};

function leave() {
  stream?.abort();
  inbox = context.device = context.client = undefined;
  document.title = context.app.name;
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
}

// The frame

function frame(...content) {
  fill(document.body, h("a", { class: "skip", href: "#main", on: { click: (event) => { event.preventDefault(); main.focus(); } } }, words.skip),
    content, main, h("div", { id: "said", class: "said", role: "status" }));
}

async function showWelcome(options) {
  const { welcome } = await import("./welcome.js");
  frame();
  document.body.className = "apart";
  fill(main, welcome(context, options));
  scrollTo(0, 0);
  main.querySelector("h1").focus({ preventScroll: true });
}

const brand = () => h("a", { class: "brand", href: "#" }, h("img", { src: "icon-192.png", alt: "", width: 32, height: 32 }), h("span", { dir: "auto" }, context.app.name));

/** The head of the page: beside the inbox where there is room. */
function header() {
  const field = h("input", { type: "search", id: "search", placeholder: words.search, "aria-label": words.search, enterKeyHint: "search", autocomplete: "off", maxLength: 200 });
  const form = h("form", { class: "search", role: "search" }, icon("search"), field);
  let timer;
  const search = () => {
    clearTimeout(timer);
    const wanted = field.value.trim();
    if (wanted === (place().search ?? "")) return;
    const hash = wanted ? `#search/${encodeURIComponent(wanted)}` : "#";
    // What is typed on is no further step to go back.
    if (place().search === undefined || !wanted) return void (location.hash = hash);
    history.replaceState(null, "", hash);
    show();
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); search(); field.blur(); });
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 350); });
  const open = h("button", { type: "button", class: "symbol opens-search", "aria-label": words.search, "aria-expanded": "false", on: { click: () => {
    const isOpen = document.body.classList.toggle("searching");
    open.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) field.focus();
    else if (place().search) location.hash = "";
  } } }, icon("search"));
  const link = (hash, name, symbol) => h("a", { href: hash || "#", data: { hash } }, icon(symbol), h("span", { dir: "auto" }, name), hash === "" && h("b", { class: "badge", hidden: true }));
  return h("header", { class: "side" }, brand(), open,
    h("a", { class: "symbol to-settings", href: "#settings", "aria-label": words.settings.title }, icon("settings")), form,
    h("nav", { class: "filters", "aria-label": words.filters },
      link("", words.inbox.title, "inbox"), link("unread", words.inbox.unread, "unread"),
      context.app.subjects.map(({ tag, name }) => link(`subject/${encodeURIComponent(tag)}`, name, "subject"))),
    h("a", { class: "account", href: "#settings", data: { hash: "settings" } }, icon("settings"), h("span", {}, words.settings.title, h("small", { dir: "auto" }, context.device.user))));
}

function showUnread(unread) {
  const badge = document.querySelector(".badge");
  if (badge) {
    badge.hidden = !unread;
    badge.textContent = unread > 99 ? "99+" : unread;
  }
  document.title = unread ? `(${unread}) ${context.app.name}` : context.app.name;
  (unread ? navigator.setAppBadge?.(unread) : navigator.clearAppBadge?.())?.catch(() => {});
}

// Places

/** What the address names: `#7`, `#reply/7/answer`, `#unread`, `#subject/news`, `#search/words`, `#settings`. */
function place() {
  const [name, first, second] = location.hash.slice(1).split("/").map((part) => { try { return decodeURIComponent(part); } catch { return part; } });
  if (/^\d+$/.test(name)) return { id: Number(name) };
  if (name === "reply" && /^\d+$/.test(first)) return { id: Number(first), action: second };
  return { unread: name === "unread", settings: name === "settings", subject: name === "subject" ? first : undefined, search: name === "search" ? first : undefined };
}

/** Shows what the address names. */
async function show() {
  if (!context.device || !inbox) return;
  const { settings: isSettings, action, ...filter } = place();
  const hash = location.hash.slice(1);
  document.body.className = isSettings ? "in-settings" : filter.search !== undefined ? "searching" : "";
  for (const link of document.querySelectorAll("[data-hash]")) {
    if (link.dataset.hash === hash || (link.dataset.hash === "" && filter.id !== undefined)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const field = document.getElementById("search");
  if (field && document.activeElement !== field) field.value = filter.search ?? "";
  if (isSettings) {
    const { settings } = await import("./settings.js");
    if (place().settings) fill(main, settings(context));
    scrollTo(0, 0);
  } else {
    // A notification of the list that is shown is shown there.
    if (filter.id !== undefined && inbox.element.isConnected && inbox.reveal(filter.id)) return action && inbox.showReply(filter.id, action);
    fill(main, inbox.element);
    await inbox.open(filter);
    if (filter.id !== undefined && inbox.reveal(filter.id) && action) inbox.showReply(filter.id, action);
  }
}

// The beginning

/** Shows the inbox of a device; pushes are seen to afterwards, because their service may be slow, or out of reach. */
async function begin(device) {
  Object.assign(context, { device, client: Device.client(device) });
  Device.saveWords(words.worker);
  frame(header());
  const { Inbox } = await import("./inbox.js");
  if (context.device?.id !== device.id) return;
  inbox = new Inbox(context);
  const shown = show();
  listen();
  await shown;
  if (inbox) await seeToPushes();
}

async function seeToPushes() {
  // Firefox would ask the user.
  if (platform.browser !== "Firefox") navigator.storage?.persist?.().catch(() => {});
  await banners();
  await notifications.keepOn(context);
  if (context.device?.waiting) await seeWhetherApproved().catch(() => {});
  if (context.device) await banners();
  if (inbox && context.device) setTimeout(() => inbox?.keep().catch(() => {}), 2000);
}

/** Who has signed up has subjects as soon as somebody has approved it. */
async function seeWhetherApproved() {
  const { devices } = await context.client.devices();
  const isApproved = devices.some(({ tags }) => context.app.subjects.some(({ tag }) => tags.includes(tag)));
  if (isApproved) await context.setDevice({ waiting: undefined });
}

/** What should be known above the inbox: one thing at a time. */
async function banners() {
  if (!inbox) return;
  const { name } = await notifications.state(context);
  const hidden = JSON.parse(localStorage.getItem("hints") ?? "[]");
  const hide = (key) => () => { localStorage.setItem("hints", JSON.stringify([...hidden, key])); banners(); };
  const isToBeSaid = ["ask", "taken", "unreachable", "refused"].includes(name) && !hidden.includes(name);
  fill(inbox.banner,
    context.device.waiting && h("section", { class: "card-note" }, icon("check"), h("div", { class: "grow" }, h("h2", {}, words.waiting.title), h("p", {}, words.waiting.text))),
    isToBeSaid ? await pushCard(context, banners, hide(name))
      : !hidden.includes("install") && (platform.isPhone || needsHomeScreen) && installCard(hide("install")));
}

/** Hears of news as long as the page is seen. */
function listen() {
  stream?.abort();
  if (!context.device || document.visibilityState !== "visible") return;
  stream = new AbortController();
  let timer;
  const refresh = () => {
    clearTimeout(timer);
    timer = setTimeout(() => { if (inbox?.element.isConnected) inbox.refresh(); }, 120);
  };
  let isFirst = true;
  context.client.stream({
    signal: stream.signal, onPush: refresh,
    onOpen: () => { if (!isFirst || inbox?.isAway) refresh(); isFirst = false; },
    onLost: refresh,
  }).catch((problem) => { if (problem.status === 401) context.signedOut("ended"); });
}

addEventListener("hashchange", () => {
  const code = codeInAddress();
  if (code) return showWelcome({ code });
  // From a link for another user, back to who is signed in.
  if (context.device && !inbox) return begin(context.device);
  if (context.device && !document.querySelector(".side")) frame(header());
  show().then(() => {
    if (place().id === undefined && document.activeElement?.id !== "search") main.querySelector("h1")?.focus({ preventScroll: true });
  });
});
addEventListener("install-changed", () => banners());
addEventListener("online", () => inbox?.element.isConnected && inbox.refresh());
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState !== "visible") return stream?.abort();
  listen();
  if (inbox?.element.isConnected) inbox.refresh();
});
navigator.serviceWorker?.addEventListener("message", ({ data }) => {
  if (data?.type === "open" && data.place) location.hash = data.place;
  else if (inbox?.element.isConnected) inbox.refresh();
});
hearOthers(({ type }) => {
  if (type === "signed-out") context.signedOut("signedOut", true);
  else if (type === "signed-in") location.reload();
  else if (inbox?.element.isConnected) inbox.refresh();
});
// A page that the browser has kept as it was asks again who is signed in.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

/** The one-time code that the address has: of a link in the fragment, of the Home Screen's app in the query. */
function codeInAddress() {
  return /^#pair=([\w-]+)/.exec(location.hash)?.[1] ?? (context.device ? undefined : new URLSearchParams(location.search).get("pair") ?? undefined);
}

/** What the server says to anybody; as it was last, until it answers. */
async function knowApp() {
  const use = (app) => { context.app = { ...context.app, ...app }; showColour(app.colour); document.title = app.name; };
  const asked = guest.app().then((app) => {
    use(app);
    try { localStorage.setItem("app", JSON.stringify(app)); } catch {}
  });
  try {
    const kept = JSON.parse(localStorage.getItem("app"));
    if (kept) {
      use(kept);
      asked.catch(() => {});
      return;
    }
  } catch {}
  await asked.catch(() => {});
}

/** A new build takes over while nobody looks: what is on the screen belongs to the earlier one. */
function takeNewBuilds() {
  const { serviceWorker } = navigator;
  if (!serviceWorker?.controller) return;
  serviceWorker.addEventListener("controllerchange", () => {
    const reload = () => { if (document.visibilityState === "hidden" && ![...document.querySelectorAll("input")].some(({ value, type, id }) => value && type === "text" && id !== "search")) location.reload(); };
    document.addEventListener("visibilitychange", reload);
    reload();
  });
}

async function start() {
  const [device] = await Promise.all([Device.load(), knowApp()]);
  if (device) Object.assign(context, { device, client: Device.client(device) });
  takeNewBuilds();
  const code = codeInAddress();
  if (location.search) history.replaceState(null, "", `./${location.hash}`);
  if (code) showWelcome({ code });
  else if (device) await begin(device);
  else showWelcome();
  // Also before anybody is signed in, so that the app can be installed and opens without a network.
  if (isSecureContext) notifications.worker().catch(() => {});
}

start();
