// Decides what is shown: the welcome until a device is set up, and then everything of that device. Each is loaded when it is shown.
import { show as showColour } from "./colour.js";
import { fill, h, say } from "./dom.js";
import { pictureWidth } from "./platform.js";
import { app as words } from "./app-texts.js";

const server = Device.server();
const guest = new RichPush({ server });
const main = h("main", { id: "main", tabIndex: -1 });
const tabs = "BroadcastChannel" in self ? new BroadcastChannel("richpush") : undefined;
/** What is shown of the device (inside.js), while one is set up. */
let inside;
/** Whether this tab or another one signs out: that the server refuses what was asked until then is no news. */
let isLeaving = false;

/** What all screens share: who this is, and what they cause. */
const context = {
  server, guest, main, frame, app: { name: "richpush", subjects: [], signUp: null, demo: false }, device: undefined, client: undefined,
  /** Tells the other tabs of this app. */
  tellOthers: (message) => tabs?.postMessage(message),
  /** Says what went wrong; a device that the server does not know any more is signed out. */
  failed: (problem) => (problem.status === 401 ? context.signedOut("ended") : say(problem.message, { seconds: 10 })),
  subjectName: (tag) => context.app.subjects.find((subject) => subject.tag === tag)?.name,
  /** Changes what this device knows of itself. */
  async setDevice(changes) {
    Object.assign(context.device, changes);
    await Device.set(context.device.id, changes);
  },
  /** Begins as a device; another user's things go first. */
  async signedIn({ registration, user, token, waiting, singleSignOn }) {
    if (context.device) await end(context);
    else await Device.forget();
    const device = { id: registration, user, token, ...(waiting && { waiting }), ...(singleSignOn && { singleSignOn }), pictureWidth: pictureWidth(Math.min(640, innerWidth)) };
    // A browser that keeps nothing is signed in until the page is closed.
    await Device.save(device).catch(() => {});
    context.tellOthers({ type: "signed-in" });
    history.replaceState(null, "", "./");
    await begin(device);
  },
  /** The server does not know the device any more; with `isDone` another tab has removed everything. */
  async signedOut(reason, isDone = false) {
    if (!context.device || (isLeaving && !isDone)) return;
    const before = { ...context, isEnded: true };
    leave();
    if (!isDone) await end(before);
    await showWelcome({ reason });
  },
  /** By the user's wish. */
  async signOut() {
    stop();
    context.tellOthers({ type: "signing-out" });
    const isTold = await end(context);
    const isElsewhere = isTold && context.device?.singleSignOn && context.app.singleSignOn;
    leave();
    // The provider would sign in the next person as this one.
    if (isElsewhere) return location.replace(new URL("auth/sign-out?to=app", server));
    await showWelcome({ reason: isTold ? "signedOut" : "untold" });
  },
};

const end = async (ended) => (await import("./sign-out.js")).signOut(ended);

/** Ends what goes on by itself, before everything is removed. */
function stop() {
  isLeaving = true;
  inside?.end();
}

function leave() {
  stop();
  inside = context.device = context.client = undefined;
  document.title = context.app.name;
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
}

/** Shows the device; what its screens need comes when its frame is there. */
async function begin(device) {
  isLeaving = false;
  Object.assign(context, { device, client: Device.client(device) });
  const { Inside } = await import("./inside.js");
  if (context.device?.id !== device.id) return;
  inside = new Inside(context);
  await inside.open();
}

async function showWelcome(options) {
  const { welcome } = await import("./welcome.js");
  frame();
  document.body.className = "apart";
  fill(main, welcome(context, options));
  scrollTo(0, 0);
  main.querySelector("h1").focus({ preventScroll: true });
}

/** The page: what is given, what is mainly shown, and the place in which things are said. */
function frame(...content) {
  fill(document.body, h("a", { class: "skip", href: "#main", on: { click: (event) => { event.preventDefault(); main.focus(); } } }, words.skip),
    content, main, h("div", { id: "said", class: "said", role: "status" }));
}

/** The one-time code that the address has: of a link in the fragment, of the Home Screen's app in the query. */
function codeInAddress() {
  return /^#pair=([\w-]+)/.exec(location.hash)?.[1] ?? (context.device ? undefined : new URLSearchParams(location.search).get("pair") ?? undefined);
}

/** What the server says to anybody; as it was last, until it answers. */
async function knowApp() {
  const use = (app) => {
    context.app = { ...context.app, ...app };
    showColour(app.colour);
    document.title = app.name;
  };
  const asked = guest.app().then((app) => {
    use(app);
    try { localStorage.setItem("app", JSON.stringify(app)); } catch {}
  });
  asked.catch(() => {});
  try {
    const kept = JSON.parse(localStorage.getItem("app"));
    if (kept) return use(kept);
  } catch {}
  await asked.catch(() => {});
}

/** A new build takes over while nobody looks: what is on the screen belongs to the earlier one. */
function takeNewBuilds() {
  const { serviceWorker } = navigator;
  if (!serviceWorker?.controller) return;
  serviceWorker.addEventListener("controllerchange", () => {
    const isWriting = () => [...document.querySelectorAll("input")].some(({ value, type, id }) => value && type === "text" && id !== "device-name");
    const reload = () => { if (document.visibilityState === "hidden" && !isWriting()) location.reload(); };
    document.addEventListener("visibilitychange", reload);
    reload();
  });
}

addEventListener("hashchange", () => {
  const code = codeInAddress();
  if (code) {
    inside?.end();
    inside = undefined;
    showWelcome({ code });
  } else if (inside) inside.move();
  // From a link for another user, back to who is signed in.
  else if (context.device) begin(context.device);
});
tabs?.addEventListener("message", ({ data: { type } }) => {
  if (type === "signing-out") stop();
  else if (type === "signed-out") context.signedOut("signedOut", true);
  else if (type === "signed-in") location.reload();
  else inside?.refresh();
});
navigator.serviceWorker?.addEventListener("message", ({ data }) => {
  if (data?.type === "open" && data.place) location.hash = data.place;
  else inside?.refresh();
});
// A page that the browser has kept as it was asks again who is signed in.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

const [device] = await Promise.all([Device.load(), knowApp()]);
if (device) Object.assign(context, { device, client: Device.client(device) });
takeNewBuilds();
const code = codeInAddress();
if (location.search) history.replaceState(null, "", `./${location.hash}`);
if (code) await showWelcome({ code });
else if (device) await begin(device);
else await showWelcome();
// Also before anybody is signed in, so that the app can be installed and opens without a network.
if (isSecureContext) import("./notifications.js").then(({ worker }) => worker()).catch(() => {});
