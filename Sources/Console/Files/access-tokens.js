// Access tokens, with which programs send for a publisher: one's own or, for administrators, anybody's.
import { get, post, query, remove } from "./api.js";
import { completeNames } from "./audience-names.js";
import { fill, h } from "./dom.js";
import { number, time } from "./format.js";
import { confirmed, table } from "./screen.js";
import { showOnce } from "./shown-once.js";
import { texts } from "./texts.js";

const t = texts.accessTokens;
const days = 86400000;

/** The recipients that were entered, as in a notification: tags of which one has to match, or one expression. */
export function recipientsIn(text) {
  const entered = text.trim();
  return /[!&|()]/.test(entered) ? [entered] : entered.split(/[\s,]+/).filter(Boolean);
}

/** The button that removes a token or a webhook, which is at a path, once it is confirmed; calls `done` then. */
export function removal(screen, one, question, path, done) {
  const button = h("button", { type: "button", class: "danger", "aria-label": `${texts.remove}: ${one.name}`, on: { click: async () => {
    if (!(await confirmed(question(one.name), texts.remove))) return;
    await screen.attempt(button, async () => {
      await remove(path);
      await done();
    });
  } } }, texts.remove);
  return button;
}

/** When and from where a token or a webhook was last used. */
export function lastUse(one) {
  return one.used ? h("span", { title: one.address }, time(one.used), " ", one.address) : t.unused;
}

/** A section of a screen with the tokens of a user, of oneself without one. */
export function accessTokens(screen, user) {
  const section = h("section", { class: "line-up" });
  const row = (one) => {
    const end = removal(screen, one, t.removeQuestion, `/api/tokens/${one.id}`, () => section.show());
    const may = (one.status || one.audit ? [one.status && t.status, one.audit && t.audit] : [
      one.to ? t.sendsTo(one.to.join(", ")) : t.sendsToAll, one.receipts && t.receipts, one.assets && t.assets,
      one.rate && t.rateOf(number(one.rate))]).filter(Boolean).join("; ");
    const hasExpired = one.expires && new Date(one.expires) <= new Date();
    return [h("strong", {}, one.name), may, hasExpired ? [t.expired, " ", time(one.expires)] : one.expires ? time(one.expires) : t.never,
      lastUse(one), end];
  };
  section.show = async () => {
    const { tokens } = await get(`/api/tokens${query({ user })}`);
    fill(section, table(t.title, [t.name, t.may, t.until, t.used, t.actions], tokens.map(row), t.none));
  };
  return section;
}

/**
 * Shows the dialog in which a token is made, for a user or for oneself, and then its secret; calls `done` when it is closed.
 *
 * That of an admin can read instead of sending.
 */
export function addAccessToken(screen, user, done) {
  const name = h("input", { required: true, pattern: "[A-Za-z0-9_.@\\-]{1,64}", title: t.nameHint, autocapitalize: "none", autocomplete: "off" });
  const to = h("input", { autocapitalize: "none", spellcheck: false, placeholder: t.toHint });
  const [receipts, assets] = [0, 0].map(() => h("input", { type: "checkbox" }));
  const [status, audit] = [0, 0].map(() => h("input", { type: "checkbox", on: { change: () => {
    for (const one of sending) one.control.disabled = one.hidden = status.checked || audit.checked;
  } } }));
  const expires = h("select", {}, [["30", t.days(30)], ["90", t.days(90)], ["365", t.days(365)], ["", t.never]].map(([value, text]) =>
    h("option", { value, selected: value === "90" }, text)));
  const rate = h("input", { type: "number", min: 1, max: 100000, placeholder: t.noRate });
  const problem = h("p", { class: "problem", role: "alert" });
  const add = h("button", { class: "main" }, t.add);
  const submit = async (event) => {
    event.preventDefault();
    add.disabled = true;
    problem.textContent = "";
    const recipients = recipientsIn(to.value);
    try {
      const { token } = await post("/api/tokens", {
        name: name.value, ...(user && { user: user.username }),
        ...(expires.value && { expires: new Date(Date.now() + expires.value * days).toISOString() }),
        ...(status.checked || audit.checked ? { status: status.checked, audit: audit.checked } : {
          receipts: receipts.checked, assets: assets.checked, ...(recipients.length && { to: recipients }), ...(rate.value && { rate: Number(rate.value) }) }) });
      showOnce(screen, dialog, "token-title", t.made(name.value), t.token, token);
    } catch (error) {
      problem.textContent = error.message;
      add.disabled = false;
    }
  };
  const close = () => {
    dialog.remove();
    done();
  };
  const check = (box, text) => h("label", { class: "check" }, box, text);
  const sending = [
    h("label", {}, t.to, to), check(receipts, t.mayReceipts), check(assets, t.mayAssets), h("label", {}, t.rate, rate)];
  const dialog = h("dialog", { class: "small", "aria-labelledby": "token-title", on: { close } },
    h("form", { on: { submit } }, h("h2", { id: "token-title" }, user ? t.addFor(user.username) : t.add), h("p", { class: "quiet" }, t.hint),
      h("label", {}, t.name, name), (user ?? screen.session).role === "admin" && [check(status, t.mayStatus), check(audit, t.mayAudit)],
      sending, completeNames(to, () => "tags"), h("label", {}, t.ends, expires), problem,
      h("div", { class: "actions" }, h("button", { type: "button", on: { click: () => dialog.close() } }, texts.cancel), add)));
  document.body.append(dialog);
  dialog.showModal();
  name.focus();
}
