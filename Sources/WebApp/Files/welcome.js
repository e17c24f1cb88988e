// Before anybody is signed in: setting up this device by a link, by a code, by name and password, or for everybody's subjects.
import { attempt, dialog, fill, h } from "./dom.js";
import { ago } from "./dates.js";
import { installSteps } from "./install.js";
import { deviceName, needsHomeScreen, platform } from "./platform.js";
import { app as words, language } from "./app-texts.js";

const facts = () => ({ name: deviceName, language, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone });

/** The screen; `code` is the one that the address had, `reason` why somebody was signed out. */
export function welcome(context, { code, reason } = {}) {
  const { app } = context;
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const failed = (text) => { problem.textContent = text; problem.hidden = !text; };
  const ways = code ? [byLink(context, code, failed)] : [];
  // On an iPhone what Safari keeps is not the app's: there, everything but the link is for the app.
  if (!code || !needsHomeScreen) {
    const password = byPassword(context, failed);
    const known = [byCode(context, failed), app.passwords === false ? h("details", { class: "others" }, h("summary", {}, words.welcome.usePassword), password) : password];
    // In a demonstration everybody has a password.
    if (app.demo) known.reverse();
    const others = [app.singleSignOn && byProvider(context), app.signUp && bySubjects(context, failed), ...known].filter(Boolean);
    if (!code) others[0].querySelector("button").classList.add("main");
    ways.push(code ? h("details", { class: "others" }, h("summary", {}, words.welcome.others), others) : others);
  }
  return h("div", { class: "welcome" },
    h("img", { class: "logo", src: "icon-192.png", alt: "", width: 72, height: 72 }),
    h("h1", { tabIndex: -1 }, reason === "ended" ? words.welcome.again : words.welcome.title(app.name)),
    h("p", { class: "lead" }, reason ? words.welcome.reasons[reason] ?? reason : words.welcome.lead),
    app.demo && !code && h("p", { class: "hint" }, words.welcome.demo),
    problem, ways,
    needsHomeScreen && !code && h("section", { class: "panel" }, h("h2", {}, words.install.title), h("p", {}, words.install.whyIOS(platform.system)), installSteps()));
}

/** Says why it did not work, in the words of this page for what happens often. */
const reasonOf = (problem) => words.welcome.problems[problem.code] ?? words.welcome.problems[problem.status] ?? problem.message;

async function signIn(context, failed, button, act) {
  failed("");
  await attempt(button, async () => {
    try {
      await context.signedIn(await act());
    } catch (problem) {
      failed(reasonOf(problem));
    }
  });
}

/** By signing in at the provider, which sends the browser back with a code. */
function byProvider({ app, server }) {
  wentToProvider();
  return h("section", { class: "panel" }, h("button", { type: "button", class: "wide", on: { click: () => {
    try { sessionStorage.setItem("single-sign-on", "1"); } catch {}
    location.assign(new URL("auth/sign-in?to=app", server));
  } } }, words.welcome.with(app.singleSignOn)));
}

/** Whether this tab was sent to the provider; says so once. */
function wentToProvider() {
  try {
    const went = sessionStorage.getItem("single-sign-on") !== null;
    sessionStorage.removeItem("single-sign-on");
    return went;
  } catch {
    return false;
  }
}

/** By the code in the address. It is used by a button only: programs that show previews of links open them, too. */
function byLink(context, code, failed) {
  const panel = h("section", { class: "panel" });
  const button = h("button", { type: "button", class: "main wide" }, needsHomeScreen ? words.welcome.forward : words.welcome.setUp(platform.isPhone));
  button.addEventListener("click", () => needsHomeScreen ? attempt(button, forward) : signIn(context, failed, button, async () => ({ ...await context.guest.pair({ code, ...facts() }), singleSignOn })));
  // At the provider somebody has just decided to sign in.
  const singleSignOn = wentToProvider();
  if (singleSignOn && !needsHomeScreen && !context.device) queueMicrotask(() => button.click());
  /** Another code, for the app on the Home Screen, travels in the manifest. */
  async function forward() {
    try {
      const next = await context.guest.forward(code);
      document.querySelector("link[rel=manifest]").href = `manifest.webmanifest?pair=${encodeURIComponent(next.code)}`;
      history.replaceState(null, "", "./");
      fill(panel, h("h2", { tabIndex: -1 }, words.welcome.forwardTitle(platform.system)), h("p", {}, words.welcome.forwardWhy), installSteps());
      panel.firstChild.focus();
    } catch (problem) {
      failed(reasonOf(problem));
    }
  }
  return fill(panel,
    context.device && h("p", { class: "hint" }, words.welcome.replaces(context.device.user)),
    h("p", {}, needsHomeScreen ? words.welcome.linkIOS(platform.system) : words.welcome.link), button,
    context.device && h("a", { class: "button plain wide", href: "#" }, words.cancel));
}

/** By the eight characters that a link has beside it. */
function byCode(context, failed) {
  const field = h("input", { id: "code", required: true, autocomplete: "one-time-code", autocapitalize: "characters", spellcheck: false, dir: "ltr",
    maxLength: 40, class: "code", placeholder: "ABCD EFGH", "aria-describedby": "code-hint" });
  const button = h("button", { class: "wide" }, words.welcome.useCode);
  return h("form", { class: "panel", on: { submit: (event) => {
    event.preventDefault();
    // If the whole link is pasted, its code is meant.
    const code = /[#?&]pair=([\w-]+)/.exec(field.value)?.[1] ?? field.value.trim();
    signIn(context, failed, button, () => context.guest.pair({ code, ...facts() }));
  } } },
  h("h2", {}, words.welcome.codeTitle), h("p", { class: "quiet", id: "code-hint" }, words.welcome.codeHint),
  h("label", {}, words.welcome.code, field), button);
}

/** By name and password, which are used here and kept nowhere. */
function byPassword(context, failed) {
  const name = h("input", { id: "name", required: true, autocomplete: "username", autocapitalize: "none", spellcheck: false, dir: "auto" });
  const password = h("input", { id: "password", required: true, type: "password", autocomplete: "current-password", dir: "auto" });
  const button = h("button", { class: "wide" }, words.welcome.signIn);
  return h("form", { class: "panel", on: { submit: (event) => {
    event.preventDefault();
    const client = new RichPush({ server: context.server, user: name.value, password: password.value });
    password.value = "";
    signIn(context, failed, button, () => withPassword(client, name.value));
  } } },
  h("h2", {}, words.welcome.passwordTitle),
  h("label", {}, words.welcome.name, name), h("label", {}, words.welcome.password, password), button);
}

/** A registration by name and password: one of the user's that this browser may have been, or a new one. */
async function withPassword(client, user) {
  const earlier = await chooseEarlier((await client.devices()).devices);
  if (earlier) return { registration: earlier, user, token: (await client.newToken(earlier)).token };
  const { code } = await client.pairing();
  return client.pair({ code, ...facts() });
}

/**
 * Asks whether this is one of the user's browsers, of which the browser has lost what it kept; the ID, or undefined.
 *
 * Otherwise the list of devices would fill with such that nobody has any more.
 */
function chooseEarlier(devices) {
  const today = new Date().toISOString().slice(0, 10);
  const isSilent = ({ ended, lastContact, userAgent }) => ended || (lastContact ?? "") < today || userAgent === navigator.userAgent;
  const silent = devices.filter((device) => (device.platform === "webpush" || device.platform === null) && isSilent(device))
    .sort((a, b) => (a.updated < b.updated ? 1 : -1));
  if (!silent.length) return undefined;
  return new Promise((done) => {
    const choose = (id) => { view.returnValue = id ?? ""; view.close(id ?? ""); };
    const view = dialog(words.welcome.earlierTitle, { class: "small" },
      h("h2", {}, words.welcome.earlierTitle), h("p", { class: "quiet" }, words.welcome.earlierHint),
      h("ul", { class: "choices" }, silent.slice(0, 8).map(({ registration, name, lastContact }) =>
        h("li", {}, h("button", { type: "button", on: { click: () => choose(registration) } },
          h("strong", { dir: "auto" }, name || words.devices.unnamed), lastContact && h("small", {}, words.devices.contact(ago(new Date(lastContact)))))))),
      h("button", { type: "button", class: "main wide", on: { click: () => choose() } }, words.welcome.newDevice));
    view.addEventListener("close", () => done(view.returnValue || undefined));
  });
}

/** For everybody, where the operator allows it: a choice of subjects. */
function bySubjects(context, failed) {
  const { subjects, signUp } = context.app;
  const boxes = subjects.map(({ tag, name }) => h("label", { class: "check" }, h("input", { type: "checkbox", value: tag, checked: true }), h("span", { dir: "auto" }, name)));
  const button = h("button", { class: "main wide" }, words.welcome.signUp);
  return h("form", { class: "panel", on: { submit: (event) => {
    event.preventDefault();
    const chosen = boxes.map((box) => box.firstChild).filter(({ checked }) => checked).map(({ value }) => value);
    if (!chosen.length) return failed(words.welcome.noSubject);
    signIn(context, failed, button, () => context.guest.signUp({ subjects: chosen, ...facts() }));
  } } },
  h("fieldset", {}, h("legend", {}, h("h2", {}, words.welcome.subjects)), boxes),
  signUp === "approval" && h("p", { class: "quiet" }, words.welcome.approval), button);
}
