// The user's devices, and a code for another one, as a picture that its camera reads.
import { ago } from "./dates.js";
import { attempt, dialog, fill, h, say } from "./dom.js";
import { platform } from "./platform.js";
import { qrCode as drawing } from "./qr-code.js";
import { app as words } from "./app-texts.js";

/** The list: this device, and the others with when they were last heard of. */
export function deviceList({ own, others }) {
  const row = ({ name, lastContact, ended }, isThis) => h("li", {},
    h("strong", { dir: "auto" }, name || words.devices.unnamed),
    h("small", { class: ended ? "problem-text" : "quiet" }, isThis ? words.devices.thisOne : ended ? words.devices.ended(ago(new Date(ended)))
      : lastContact ? words.devices.contact(ago(new Date(lastContact))) : words.devices.noContact));
  return h("ul", { class: "rows" }, own && row(own, true), others.map((device) => row(typeof device === "string" ? { name: device } : device, false)));
}

/** Asks for the password, and shows the code for another device. A token does not suffice, so that nobody who finds a phone can add another. */
export function addDevice(context) {
  const { user } = context.device;
  const { singleSignOn, passwords } = context.app;
  if (singleSignOn && passwords === false) {
    const view = dialog(words.devices.add, { class: "small" }, h("h2", {}, words.devices.add), h("p", {}, words.devices.elsewhere(singleSignOn)),
      h("div", { class: "row end" }, h("button", { type: "button", class: "main", on: { click: () => view.close() } }, words.done)));
    return;
  }
  const password = h("input", { id: "again", type: "password", required: true, autocomplete: "current-password", dir: "auto" });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const button = h("button", { class: "main" }, words.next);
  const form = h("form", { on: { submit: (event) => {
    event.preventDefault();
    const client = new RichPush({ server: context.server, user, password: password.value });
    attempt(button, async () => {
      problem.hidden = true;
      try {
        showCode(view, client, await client.pairing());
      } catch (thrown) {
        problem.textContent = thrown.status === 401 ? words.devices.wrongPassword : thrown.message;
        problem.hidden = false;
        password.select();
      }
    });
  } } },
  h("h2", {}, words.devices.add), h("p", { class: "quiet" }, words.devices.addHint(user)),
  h("input", { hidden: true, autocomplete: "username", value: user, readOnly: true }),
  h("label", {}, words.welcome.password, password), problem,
  h("div", { class: "row end" }, h("button", { type: "button", class: "plain", on: { click: () => view.close() } }, words.cancel), button));
  const view = dialog(words.devices.add, { class: "small" }, form);
  password.focus();
}

function showCode(view, client, { id, link, shortCode, qrCode, expires }) {
  const until = new Date(expires);
  const left = h("p", { class: "quiet" });
  const count = () => {
    const seconds = Math.max(0, Math.round((until - Date.now()) / 1000));
    left.textContent = seconds ? words.devices.left(Math.ceil(seconds / 60)) : words.devices.over;
    if (!seconds) clearInterval(timer);
  };
  const timer = setInterval(count, 1000);
  count();
  const share = navigator.share && platform.isPhone
    ? h("button", { type: "button", on: { click: () => navigator.share({ url: link }).catch(() => {}) } }, words.devices.share)
    : h("button", { type: "button", on: { click: () => navigator.clipboard?.writeText(link).then(() => say(words.devices.copied), () => {}) } }, words.devices.copy);
  fill(view, h("div", { class: "pairing" },
    h("h2", { tabIndex: -1 }, words.devices.scan), left, drawing(qrCode, words.devices.qr),
    h("p", {}, words.devices.orCode), h("p", { class: "code", dir: "ltr" }, shortCode.replace(/(.{4})/, "$1 ")),
    h("div", { class: "row" }, share, h("button", { type: "button", class: "main", on: { click: () => view.close() } }, words.done))));
  view.querySelector("h2").focus();
  // A code that is no longer shown has no further use, whether it was used or not.
  view.addEventListener("close", () => {
    clearInterval(timer);
    if (!share.wasUsed) client.endPairing(id).catch(() => {});
  });
  // One that was sent on stays.
  share.addEventListener("click", () => { share.wasUsed = true; });
}
