// Webhooks, to which programs post events: one's own or, for administrators, anybody's.
import { lastUse, recipientsIn, removal } from "./access-tokens.js";
import { address, get, post, query } from "./api.js";
import { completeNames } from "./audience-names.js";
import { fill, h } from "./dom.js";
import { number, time } from "./format.js";
import { table } from "./screen.js";
import { showOnce } from "./shown-once.js";
import { texts } from "./texts.js";

const t = texts.webhooks;
const templates = { alertmanager: "Alertmanager", grafana: "Grafana", github: "GitHub" };
const example = '{"notification": {"title": "{{title}}", "message": "{{message}}"}}';

/** A section of a screen with the webhooks of a user, of oneself without one; empty if the server receives nothing by them. */
export function webhooks(screen, user) {
  const section = h("section", { class: "line-up" });
  const row = (one) => {
    const end = removal(screen, one, t.removeQuestion, `/api/webhooks/${one.id}`, () => section.show());
    const failed = one.failed > 0 && h("button", { type: "button", "aria-label": `${t.failed(number(one.failed))}: ${one.name}`, on: { click: () =>
      screen.attempt(failed, () => showFailed(screen, one, () => section.show())) } }, t.failed(number(one.failed)));
    const hasExpired = one.expires && new Date(one.expires) <= new Date();
    return [h("strong", {}, one.name), templates[one.template] ?? t.own, one.to.join(", "),
      hasExpired ? [t.expired, " ", time(one.expires)] : lastUse(one),
      h("div", { class: "actions" }, failed, end)];
  };
  section.show = async () => {
    const { webhooks, isServed } = await get(`/api/webhooks${query({ user })}`);
    if (!isServed && !webhooks.length) return fill(section);
    const add = h("button", { type: "button", on: { click: () => addWebhook(screen, user, () => section.show()) } }, t.add);
    fill(section, h("div", { class: "head" }, h("h2", {}, t.title), isServed && add),
      table(t.title, [t.name, t.template, t.to, t.used, t.actions], webhooks.map(row), t.none));
  };
  return section;
}

/** Shows the dialog in which a webhook is made, for a user or for oneself, and then its address; calls `done` when it is closed. */
function addWebhook(screen, user, done) {
  const name = h("input", { required: true, pattern: "[A-Za-z0-9_.@\\-]{1,64}", title: t.nameHint, autocapitalize: "none", autocomplete: "off" });
  const to = h("input", { required: true, autocapitalize: "none", spellcheck: false, placeholder: t.toHint });
  const own = h("textarea", { rows: 8, spellcheck: false, value: example });
  const ownLabel = h("label", { hidden: true }, t.ownTemplate, own);
  const template = h("select", { on: { change: () => { ownLabel.hidden = template.value !== ""; } } },
    Object.entries(templates).map(([value, text]) => h("option", { value }, text)), h("option", { value: "" }, t.own));
  const secret = h("input", { maxLength: 256, autocomplete: "off", spellcheck: false });
  const rate = h("input", { type: "number", min: 1, max: 100000, placeholder: t.noRate });
  const problem = h("p", { class: "problem", role: "alert" });
  const add = h("button", { class: "main" }, t.add);
  const submit = async (event) => {
    event.preventDefault();
    add.disabled = true;
    problem.textContent = "";
    try {
      const { path } = await post("/api/webhooks", {
        name: name.value, template: template.value || parsed(own.value), to: recipientsIn(to.value), ...(user && { user }),
        ...(secret.value && { signingSecret: secret.value }), ...(rate.value && { rate: Number(rate.value) }) });
      showOnce(screen, dialog, "webhook-title", t.made(name.value), t.address, address(path));
    } catch (error) {
      problem.textContent = error.message;
      add.disabled = false;
    }
  };
  const close = () => {
    dialog.remove();
    done();
  };
  const dialog = h("dialog", { class: "small", "aria-labelledby": "webhook-title", on: { close } },
    h("form", { on: { submit } }, h("h2", { id: "webhook-title" }, user ? t.addFor(user) : t.add), h("p", { class: "quiet" }, t.hint),
      h("label", {}, t.name, name), h("label", {}, t.template, template), ownLabel,
      h("label", {}, t.to, to), completeNames(to, () => "tags"), h("label", {}, t.secret, secret), h("label", {}, t.rate, rate), problem,
      h("div", { class: "actions" }, h("button", { type: "button", on: { click: () => dialog.close() } }, texts.cancel), add)));
  document.body.append(dialog);
  dialog.showModal();
  name.focus();
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(t.noJSON);
  }
}

/** Shows the deliveries to a webhook that have failed, to replay them; calls `done` when it is closed. */
async function showFailed(screen, webhook, done) {
  const list = h("section", {});
  const row = (one) => {
    const replay = h("button", { type: "button", "aria-label": `${t.replay}: ${one.id}`, on: { click: () => screen.attempt(replay, async () => {
      const { done: what } = await post(`/api/webhooks/${webhook.id}/deliveries/${one.id}/replay`);
      await show();
      screen.say(t.done[what]);
    }) } }, t.replay);
    return [time(one.failed), one.reason, replay];
  };
  const show = async () => {
    const { deliveries } = await get(`/api/webhooks/${webhook.id}/deliveries`);
    fill(list, table(t.failedOf(webhook.name), [t.when, t.reason, t.actions], deliveries.map(row), t.noneFailed));
  };
  await show();
  const close = () => {
    dialog.remove();
    done();
  };
  const dialog = h("dialog", { class: "wide", "aria-labelledby": "failed-title", on: { close } },
    h("form", { method: "dialog" }, h("h2", { id: "failed-title" }, t.failedOf(webhook.name)), h("p", { class: "quiet" }, t.failedHint), list,
      h("div", { class: "actions" }, h("button", {}, texts.close))));
  document.body.append(dialog);
  dialog.showModal();
}
