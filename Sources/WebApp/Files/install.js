// How this browser puts the app on its screen: with a button where it has one, in words where it has none.
import { h, icon } from "./dom.js";
import { platform } from "./platform.js";
import { app as words } from "./app-texts.js";

let offered;
addEventListener("beforeinstallprompt", (event) => {
  event.preventDefault();
  offered = event;
  dispatchEvent(new Event("install-changed"));
});
addEventListener("appinstalled", () => {
  offered = undefined;
  dispatchEvent(new Event("install-changed"));
});

/** The steps for this browser, or undefined if it can't, or has no need to. */
function steps() {
  if (platform.isInstalled) return undefined;
  const all = words.install;
  if (platform.kind === "ios") {
    if (platform.version && platform.version < 16.04) return [all.oldIOS];
    const name = platform.system;
    // In Safari of iOS 26 the share button is behind the one with three dots.
    const share = platform.browser === "Safari" ? (platform.version >= 26 ? all.ios26Share : all.iosShare) : all.iosOtherShare;
    return [share, platform.version >= 26 ? all.ios26Add : all.iosAdd, all.iosOpen(name)];
  }
  if (platform.kind === "android") return platform.browser === "Firefox" ? [all.androidFirefox] : [all.androidChrome];
  if (platform.browser === "Safari") return [all.macSafari];
  return ["Chrome", "Edge", "Opera"].includes(platform.browser) ? [all.desktopChrome] : undefined;
}

/** The hint as a list of steps, or null. */
export function installSteps() {
  const all = steps();
  return all && h("ol", { class: "steps" }, all.map((step) => h("li", {}, ...withSymbols(step))));
}

/** A text in which {share} and {add} are the symbols that Apple's browsers have there. */
const withSymbols = (text) => text.split(/(\{\w+\})/).map((part) => (/^\{\w+\}$/.test(part) ? icon(part.slice(1, -1)) : part));

/** A card with the button, or with the steps; null where there is nothing to say. */
export function installCard(done) {
  if (platform.isInstalled) return null;
  if (offered) {
    const button = h("button", { type: "button", class: "main", on: { click: async () => {
      const event = offered;
      offered = undefined;
      await event.prompt();
      await event.userChoice;
      dispatchEvent(new Event("install-changed"));
    } } }, words.install.button);
    return h("section", { class: "card-note" }, icon("phone"), h("div", { class: "grow" }, h("h2", {}, words.install.title), h("p", {}, words.install.why)),
      h("div", { class: "row" }, button, done && h("button", { type: "button", class: "plain", on: { click: done } }, words.notNow)));
  }
  const list = installSteps();
  if (!list) return null;
  return h("section", { class: "card-note" }, icon("phone"),
    h("div", { class: "grow" }, h("h2", {}, words.install.title), h("p", {}, platform.kind === "ios" ? words.install.whyIOS(platform.system) : words.install.why), list),
    done && h("div", { class: "row" }, h("button", { type: "button", class: "plain", on: { click: done } }, words.notNow)));
}
