// A dialog in which a notification is changed that no device has fetched.
import { patch } from "./api.js";
import { chooseAsset } from "./asset-picker.js";
import { contentText } from "./content-types.js";
import { h } from "./dom.js";
import { faultsOf, field, focusOn, showFaults } from "./fields.js";
import { apiTime, fieldTime } from "./format.js";
import { mergePatch, setsNull } from "./merge-patch.js";
import { enteredMessage, messageFields } from "./message-fields.js";
import { texts } from "./texts.js";

const t = texts.notification;
const { faults: words } = texts.compose;

/** Shows the dialog; `types` are the kinds of content. Calls `done` once the notification was changed. */
export function amend(path, details, types, done) {
  const isScheduled = details.state === "scheduled" || Boolean(details.approval?.version && details.notBefore);
  const message = h("textarea", { rows: 4, value: details.message });
  const said = messageFields(() => {}, ["replaces"]);
  said.kept = enteredMessage(details);
  const content = h("output");
  const media = ({ richType, payload }) => ({ richType, payload });
  let chosen = media(details);
  const use = (asset) => {
    chosen = asset;
    content.textContent = contentText(types, asset) ?? t.noContent;
    removeContent.hidden = !asset.payload;
  };
  const choose = h("button", { type: "button", on: { click: async () => {
    const asset = await chooseAsset();
    if (asset?.name) use({ richType: asset.richType, payload: asset.name });
  } } }, texts.compose.choose);
  const removeContent = h("button", { type: "button", on: { click: () => {
    use({});
    choose.focus();
  } } }, texts.compose.removeContent);
  use(chosen);
  const dueName = details.localTime ? "localTime" : "notBefore";
  const due = h("input", { type: "datetime-local", value: details.localTime?.at ?? fieldTime(details.notBefore), required: true });
  const expires = h("input", { type: "datetime-local", value: fieldTime(details.expires) });
  const own = { payload: field(choose), message: field(message), [dueName]: field(due), expires: field(expires) };
  const fields = () => {
    const [above, below] = said.fields;
    const { payload, message, ...more } = own;
    return { payload, ...above, message, ...below, ...more };
  };
  /** What the notification is, as the API takes it. */
  const entered = () => ({ ...said.value, message: message.value, ...chosen,
    ...(isScheduled && { [dueName]: details.localTime ? { ...details.localTime, at: due.value } : moment(due.value) }), expires: moment(expires.value) });
  const before = entered();
  const problem = h("p", { class: "problem", role: "alert" });
  const show = (faults) => {
    const wrong = showFaults(fields(), faults);
    if (wrong.length) focusOn(fields()[wrong[0]]);
    return wrong.length;
  };
  const submit = async (event) => {
    event.preventDefault();
    const now = entered();
    const changes = mergePatch(before, now) ?? {};
    // An override is replaced as a whole: null in it has a meaning.
    for (const name of ["apns", "fcm", "webpush"]) if (changes[name]) changes[name] = now[name];
    const faults = said.faults(true);
    const [time, sent, end] = [Date.now(), isScheduled && !details.localTime ? new Date(due.value) : null, expires.value ? new Date(expires.value) : null];
    const isShown = now.message.trim() || now.title;
    if (!isShown && (!now.payload || ["alert", "hybrid"].includes(details.form))) faults.message = now.payload ? words.message : words.nothing;
    if (setsNull(before.data, now.data)) faults.data = t.noNull;
    for (const [name, control] of Object.entries({ [dueName]: due, expires })) if (control.validity.badInput) faults[name] = words.incomplete;
    if (isScheduled && !due.value) faults[dueName] = words.incomplete;
    else if (changes.notBefore && sent <= time) faults.notBefore = t.pastTime;
    if (changes.expires && end <= time) faults.expires = words.expires;
    else if (end && sent && end <= sent) faults.expires = words.order;
    problem.textContent = "";
    if (show(faults)) return;
    save.disabled = true;
    try {
      if (Object.keys(changes).length) await patch(path, changes);
      dialog.close();
      await done();
    } catch (error) {
      save.disabled = false;
      const refused = error.errors?.length ? faultsOf(error, fields(), "") : {};
      show(refused);
      problem.textContent = error.code === "already-fetched" ? t.fetchedMeanwhile : error.errors?.length ? refused[""] ?? "" : error.message;
    }
  };
  const save = h("button", { class: "main" }, texts.people.save);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const labelled = (label, control, { words }) => h("div", { class: "field" }, h("label", {}, label, control), words);
  const dialog = h("dialog", { class: "small", "aria-labelledby": "amend-title", on: { close: () => dialog.remove() } },
    h("form", { noValidate: true, on: { submit } },
      h("h2", { id: "amend-title" }, t.amend), h("p", { class: "quiet" }, t.amendHint),
      said.above, labelled(texts.compose.message, message, own.message), said.below,
      h("div", { class: "field", role: "group", "aria-label": texts.compose.content }, h("strong", {}, texts.compose.content), h("p", { class: "line" }, content, choose, removeContent), own.payload.words),
      isScheduled && labelled(`${texts.compose.notBefore} (${details.localTime ? texts.sendDialog.local : zone})`, due, own[dueName]),
      labelled(`${texts.compose.expires} (${zone})`, expires, own.expires), problem,
      h("div", { class: "actions" }, h("button", { type: "button", on: { click: () => dialog.close() } }, texts.cancel), save)));
  document.body.append(dialog);
  dialog.showModal();
}

/** A field's time as the API takes it; undefined if it is empty. */
const moment = (value) => (value ? apiTime(new Date(value)) : undefined);
