// For administrators: who may use the server, with which devices, and whose log-ins were refused.
import { accessTokens, addAccessToken } from "./access-tokens.js";
import { get, put, query, remove } from "./api.js";
import { deviceTable } from "./device-table.js";
import { fill, h } from "./dom.js";
import { number, time } from "./format.js";
import { importPeople } from "./import-dialog.js";
import { pagedTable } from "./paged-table.js";
import { pair } from "./pairing.js";
import { confirmed, Screen, table } from "./screen.js";
import { signUps } from "./sign-ups.js";
import { texts } from "./texts.js";
import { webhooks } from "./webhooks.js";

const t = texts.people;
const path = (user, below = "") => `/api/users/${encodeURIComponent(user)}${below}`;

/** Whether there is a user of this name. */
const isThere = (user) => get(path(user, "/devices?limit=1")).then(() => true, (problem) => {
  if (problem.status !== 404) throw problem;
  return false;
});

class People extends Screen {
  async load() {
    this.users = pagedTable(texts.screens.people, [t.name, t.role, t.devices, t.lastSeen, t.actions], t.nobody, async (after, limit) => {
      const { users, next } = await get(`/api/users${query({ after, limit })}`);
      return { rows: users.map((user) => this.row(user)), next };
    });
    this.waiting = signUps(this, () => this.users.show());
    this.refused = h("section", { class: "line-up" });
    this.frame(texts.screens.people, [
      h("a", { class: "button", href: "#people/audit" }, texts.audit.title),
      h("button", { on: { click: () => importPeople((done) => this.say(done)) } }, texts.importing.start),
      h("button", { class: "main", on: { click: () => this.edit() } }, t.add)],
      this.waiting, h("section", { class: "line-up" }, this.users), h("h2", {}, t.refused), this.refused);
    await Promise.all([this.users.show(), this.waiting.show(), this.showRefused()]);
  }

  row(user) {
    return [
      h("div", {}, h("strong", {}, user.username), user.identities.length > 0 && [" ", h("small", { class: "quiet" }, t.singleSignOn)]), texts.roles[user.role], number(user.devices), user.lastSeen ? time(user.lastSeen) : "–",
      h("div", { class: "actions" },
        h("button", { "aria-label": `${t.change}: ${user.username}`, on: { click: () => this.edit(user) } }, t.change),
        h("button", { "aria-label": `${t.pair}: ${user.username}`, on: { click: () => pair(this, user.username, () => this.users.refresh()) } }, t.pair),
        user.devices > 0 && h("button", { "aria-label": `${t.devices}: ${user.username}`, on: { click: () => this.showDevices(user) } }, t.devices),
        h("button", { class: "danger", "aria-label": `${texts.remove}: ${user.username}`, on: { click: (event) => this.removeUser(event.currentTarget, user) } }, texts.remove))];
  }

  async showRefused() {
    const { refused } = await get("/api/failed-logins");
    fill(this.refused, table(t.refused, [t.address, t.name, t.failures, t.until], refused.map((one) => [
      one.address ?? "–", one.username ?? "–", number(one.failures), one.until ? time(one.until) : "–"]), t.noneRefused));
  }

  /** Adds a user, or changes one's role, password and quota of devices. */
  edit(user) {
    const name = h("input", { value: user?.username ?? "", readOnly: Boolean(user), required: true, autocapitalize: "none", autocomplete: "off" });
    const role = h("select", {}, Object.keys(texts.roles).map((key) => h("option", { value: key, selected: key === (user?.role ?? "device") }, texts.roles[key])));
    const password = h("input", { type: "password", autocomplete: "new-password", required: !user });
    const endRegistrations = h("input", { type: "checkbox" });
    const most = h("input", { type: "number", min: 1, max: 1000000, placeholder: 64, value: user?.maxDevices ?? "" });
    const problem = h("p", { class: "problem", role: "alert" });
    const save = h("button", { class: "main" }, t.save);
    const submit = async (event) => {
      event.preventDefault();
      save.disabled = true;
      try {
        // A person who has the name would get this role and this password.
        if (!user && (await isThere(name.value))) throw new Error(t.isThere(name.value));
        await put(path(name.value), {
          role: role.value, ...(password.value && { password: password.value, endRegistrations: endRegistrations.checked }),
          ...(most.value && { maxDevices: Number(most.value) }) });
        dialog.close();
        await this.users.show();
        this.say(t.saved(name.value));
      } catch (error) {
        problem.textContent = error.message;
        save.disabled = false;
      }
    };
    const dialog = h("dialog", { class: "small", "aria-labelledby": "user-title", on: { close: () => dialog.remove() } },
      h("form", { on: { submit } }, h("h2", { id: "user-title" }, user ? t.change : t.add),
        user?.identities.map(({ provider, subject }) => h("p", { class: "quiet" }, t.signsIn(provider, subject))),
        h("label", {}, t.name, name), h("label", {}, t.role, role),
        h("label", {}, user ? t.newPassword : texts.signIn.password, password),
        user?.devices > 0 && h("label", { class: "check" }, endRegistrations, t.endRegistrations),
        h("label", {}, t.maxDevices, most), problem,
        h("div", { class: "actions" }, h("button", { type: "button", on: { click: () => dialog.close() } }, texts.cancel),
          user && user.role !== "device" && h("button", { type: "button", on: { click: () => {
            dialog.close();
            return this.showTokens(user);
          } } }, t.tokens),
          save)));
    document.body.append(dialog);
    dialog.showModal();
  }

  async showDevices(user) {
    const devices = deviceTable(this, t.devices, path(user.username, "/devices"));
    const endRegistrations = h("input", { type: "checkbox" });
    const dialog = h("dialog", { class: "wide", "aria-labelledby": "devices-title", on: { close: () => dialog.remove() } },
      h("form", { method: "dialog" }, h("h2", { id: "devices-title" }, t.devicesOf(user.username)), devices,
        h("label", { class: "check" }, endRegistrations, t.endRegistrations),
        h("div", { class: "actions" }, h("button", {}, texts.close),
          h("button", { type: "button", class: "danger", on: { click: (event) => this.attempt(event.currentTarget, async () => {
            await remove(path(user.username, `/tokens${endRegistrations.checked ? "?registrations" : ""}`));
            this.say(t.tokensEnded(user.username));
            await devices.show();
          }) } }, t.endTokens))));
    await devices.show();
    document.body.append(dialog);
    dialog.showModal();
  }

  async showTokens(user) {
    const { username } = user;
    const tokens = accessTokens(this, username);
    const hooks = webhooks(this, username);
    const dialog = h("dialog", { class: "wide", "aria-labelledby": "tokens-title", on: { close: () => dialog.remove() } },
      h("form", { method: "dialog" }, h("h2", { id: "tokens-title" }, t.tokensOf(username)), tokens, hooks,
        h("div", { class: "actions" }, h("button", {}, texts.close),
          h("button", { type: "button", class: "main", on: { click: () => addAccessToken(this, user, () => tokens.show()) } }, texts.accessTokens.add))));
    await Promise.all([tokens.show(), hooks.show()]);
    document.body.append(dialog);
    dialog.showModal();
  }

  async removeUser(button, user) {
    if (!(await confirmed(t.removeQuestion(user.username), texts.remove))) return;
    await this.attempt(button, async () => {
      await remove(path(user.username));
      await this.users.show();
    });
  }
}

customElements.define("console-people", People);
