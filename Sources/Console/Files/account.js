// The browsers in which one is signed in, one's devices, access tokens and webhooks, and the language of the words.
import { accessTokens, addAccessToken } from "./access-tokens.js";
import { get, remove } from "./api.js";
import { deviceTable } from "./device-table.js";
import { h } from "./dom.js";
import { program } from "./agent.js";
import { time } from "./format.js";
import { pair } from "./pairing.js";
import { changePassword } from "./password.js";
import { Screen, table } from "./screen.js";
import { choose, chosen, languages, texts } from "./texts.js";
import { delayChoice } from "./undo.js";
import { webhooks } from "./webhooks.js";

const t = texts.account;

class Account extends Screen {
  async load() {
    const { current, sessions, password } = await get("/api/session");
    const devices = deviceTable(this, t.devices, "/api/registrations");
    const tokens = accessTokens(this);
    const hooks = webhooks(this);
    const addToken = h("button", { on: { click: () => addAccessToken(this, undefined, () => tokens.show()) } }, texts.accessTokens.add);
    const change = password && h("button", { on: { click: () => changePassword(this.session.username, async () => {
      await this.load();
      this.say(texts.password.changed);
    }) } }, texts.password.change);
    const add = h("button", { class: "main", on: { click: () => pair(this, undefined, () => devices.show()) } }, t.addDevice);
    this.frame(texts.screens.account, [language(), delayChoice(), addToken, add, change], h("h2", {}, t.sessions), table(t.sessions, [t.browser, t.begun, t.used, t.actions], sessions.map((session) => {
      const end = h("button", { on: { click: () => this.attempt(end, async () => {
        await remove(`/api/session/${session.id}`);
        await this.load();
      }) } }, t.end);
      return [h("span", { title: session.userAgent }, program(session.userAgent)), time(session.created), session.used ? time(session.used) : "–", session.id === current ? t.thisOne : end];
    }), t.nobody), h("h2", {}, t.devices), devices,
    h("h2", {}, texts.accessTokens.title), tokens, hooks);
    await Promise.all([devices.show(), tokens.show(), hooks.show()]);
  }
}

/** The choice of a language, after which the page is loaded again. */
function language() {
  const choice = h("select", { on: { change: () => {
    choose(choice.value);
    location.reload();
  } } }, h("option", { value: "" }, t.ofBrowser), Object.entries(languages).map(([lang, name]) => h("option", { value: lang, lang }, name)));
  choice.value = chosen ?? "";
  return h("label", { class: "check" }, t.language, choice);
}

customElements.define("console-account", Account);
