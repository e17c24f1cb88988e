// A dialog in which a notification is changed that no device has fetched.
import { patch } from "./api.js";
import { h } from "./dom.js";
import { chooseAsset } from "./asset-picker.js";
import { texts } from "./texts.js";

const t = texts.notification;
const { faults } = texts.compose;

/** Shows the dialog; calls `done` once the notification was changed. */
export function amend(path, details, done) {
  const isScheduled = details.state === "scheduled";
  const message = h("textarea", { rows: 4, value: details.message });
  const content = h("output", {}, details.payload);
  let chosen = { richType: details.richType, payload: details.payload };
  const choose = h("button", { type: "button", on: { click: async () => {
    const asset = await chooseAsset();
    if (!asset?.name) return;
    chosen = { richType: asset.richType, payload: asset.name };
    content.textContent = asset.name;
  } } }, texts.compose.choose);
  const due = h("input", { type: "datetime-local", value: local(details.notBefore), required: true });
  const expires = h("input", { type: "datetime-local", value: local(details.expires) });
  const problem = h("p", { class: "problem", role: "alert" });
  const submit = async (event) => {
    event.preventDefault();
    const changes = {};
    if (message.value !== details.message) changes.message = message.value;
    if (chosen.payload !== details.payload || chosen.richType !== details.richType) Object.assign(changes, chosen);
    if (isScheduled && due.value !== local(details.notBefore)) changes.notBefore = moment(due.value);
    if (expires.value !== local(details.expires)) changes.expires = moment(expires.value);
    const [now, sent, end] = [Date.now(), isScheduled ? new Date(due.value) : null, expires.value ? new Date(expires.value) : null];
    const fault = details.form !== "silent" && !message.value.trim() ? faults.message
      : changes.notBefore && sent <= now ? t.pastTime
      : changes.expires && end <= now ? faults.expires
      : end && sent && end <= sent ? faults.order
      : "";
    problem.textContent = fault;
    if (fault) return;
    save.disabled = true;
    try {
      if (Object.keys(changes).length) await patch(path, changes);
      dialog.close();
      await done();
    } catch (error) {
      problem.textContent = error.code === "already-fetched" ? t.fetchedMeanwhile : error.message;
      save.disabled = false;
    }
  };
  const save = h("button", { class: "main" }, texts.people.save);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const dialog = h("dialog", { class: "small", "aria-labelledby": "amend-title", on: { close: () => dialog.remove() } },
    h("form", { on: { submit } },
      h("h2", { id: "amend-title" }, t.amend), h("p", { class: "quiet" }, t.amendHint),
      h("label", {}, texts.compose.message, message),
      h("div", { role: "group", "aria-label": texts.compose.content }, h("strong", {}, texts.compose.content), h("p", { class: "line" }, content, choose)),
      isScheduled && h("label", {}, `${texts.compose.notBefore} (${zone})`, due),
      h("label", {}, `${texts.compose.expires} (${zone})`, expires), problem,
      h("div", { class: "actions" }, h("button", { type: "button", on: { click: () => dialog.close() } }, texts.cancel), save)));
  document.body.append(dialog);
  dialog.showModal();
}

/** A time as the field has it, in the browser's zone. */
function local(text) {
  if (!text) return "";
  const date = new Date(text);
  return new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** A field's time as the API takes it; null if it is empty. */
const moment = (value) => (value ? new Date(value).toISOString().replace(/\.\d+Z/, "Z") : null);
