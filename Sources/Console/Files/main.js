// Starts the console: who is signed in decides what is shown.
import { address, get, remove } from "./api.js";
import { markAwaiting } from "./approvals.js";
import { watchServer } from "./away.js";
import { fill, h, icon } from "./dom.js";
import { forgetDrafts } from "./kept-draft.js";
import { close, connect, reconnect } from "./live.js";
import { say } from "./screen.js";
import { signIn } from "./sign-in.js";
import { texts } from "./texts.js";
import "./status.js";
import "./catalogue.js";
import "./compose.js";
import "./sent.js";
import "./notification.js";
import "./weeks.js";
import "./services.js";
import "./plugins.js";
import "./people.js";
import "./audit.js";
import "./account.js";

/** The screens by the first part of the address, and who sees them; the first that somebody sees is where that user begins. */
const screens = [
  ["status", "console-status", "admin"],
  ["catalogue", "console-catalogue", "publisher"],
  ["compose", "console-compose", "publisher"],
  ["sent", "console-sent", "publisher"],
  ["services", "console-services", "admin"],
  ["plugins", "console-plugins", "admin"],
  ["people", "console-people", "admin"],
  ["account", "console-account", "publisher"],
];
/** The screens below others. */
const below = { "sent/weeks": "console-weeks", "people/audit": "console-audit" };
let session;

/** Shows what the user may see, or the form to sign in; `hasEnded` says that the session was there before. */
async function start(hasEnded = false) {
  let ways;
  session = undefined;
  close();
  const ask = (options) => {
    for (const dialog of document.querySelectorAll("dialog")) dialog.close();
    return signIn(document.body, () => start(), { ...ways, problem: hasEnded ? new Error(texts.signIn.ended) : undefined, ...options });
  };
  try {
    const state = await get("/api/sign-in");
    ways = { isDemo: state.demo, singleSignOn: state.singleSignOn, passwords: state.passwords };
    if (!state.signedIn) return ask();
    session = await get("/api/session");
  } catch (problem) {
    return ask(problem.status === 401 ? {} : { problem });
  }
  if (session.role === "device") return ask({ problem: new Error(texts.signIn.device), signOut });
  forgetDrafts(session.username);
  // Where somebody was who went to the provider to sign in.
  const place = sessionStorage.getItem("place");
  sessionStorage.removeItem("place");
  if (place && !location.hash) history.replaceState(null, "", place);
  connect();
  fill(document.body,
    h("a", { class: "skip", href: "#main", on: { click: skip } }, texts.skip),
    h("header", { class: "side" },
      h("a", { class: "brand", href: `#${visible()[0][0]}` }, h("img", { src: "icon.svg", alt: "" }), "richpush"),
      h("nav", { "aria-label": texts.navigation }, visible().filter(([name]) => name !== "account").map(([name]) =>
        h("a", { href: `#${name}`, data: { name } }, icon(name), h("span", {}, texts.screens[name])))),
      h("div", { class: "account" },
        h("a", { class: "who", href: "#account" }, h("strong", {}, session.username), h("small", {}, texts.roles[session.role])),
        h("button", { class: "plain", on: { click: signOut } }, texts.signOut))),
    h("main", { id: "main", tabIndex: -1 }));
  show();
}

const visible = () => screens.filter(([, , role]) => role !== "admin" || session.role === "admin");

/** Shows what the address names: `#sent/7` is the notification 7. */
function show() {
  if (!session) return;
  const [name, ...rest] = location.hash.slice(1).split("/");
  const [found, tag] = visible().find(([known]) => known === name) ?? visible()[0];
  // What was asked about belongs to the screen that is left.
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  const screen = document.createElement(below[`${found}/${rest[0]}`] ?? (found === "sent" && rest[0] ? "console-notification" : tag));
  screen.session = session;
  screen.parameters = rest.map((part) => { try { return decodeURIComponent(part); } catch { return part; } });
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.name === found) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${texts.screens[found]} · richpush`;
  fill(document.querySelector("main"), screen);
  scrollTo(0, 0);
  markAwaiting(session);
}

function skip(event) {
  event.preventDefault();
  document.querySelector("main").focus();
}

async function signOut() {
  let ended;
  try {
    ended = await remove("/api/session");
  } catch (problem) {
    // The next person at this computer would still have the session, unless it has ended already.
    if (![401, 404].includes(problem.status)) return say(`${texts.signIn.still} ${problem.message}`, true);
  }
  forgetDrafts();
  close();
  // A page of its own, so that neither memory nor the browser's history keeps what was shown.
  location.replace(ended?.location ?? address("/console/"));
}

addEventListener("hashchange", () => {
  show();
  document.querySelector("main")?.focus({ preventScroll: true });
});
addEventListener("signed-out", () => {
  if (!session) return;
  // The other requests of the screen are told the same.
  session = undefined;
  start(true);
});
addEventListener("live:approval", () => session && markAwaiting(session));
// What was typed stays, unless the session has ended meanwhile.
watchServer((isSignedIn) => session && (isSignedIn ? reconnect() : start(true)));
// The browser may show a page as it was when one goes back; it asks again who is signed in.
addEventListener("pageshow", (event) => event.persisted && location.reload());
start();
