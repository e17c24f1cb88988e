// Settings: pushes on this device, its name, subjects, quiet hours, sound, language, the user's devices, and signing out.
import { attempt, dialog, fill, h, icon, say } from "./dom.js";
import { addDevice, deviceList } from "./devices.js";
import { installCard } from "./install.js";
import { pushCard } from "./push-card.js";
import { chosen, app as words, languages } from "./app-texts.js";

/** The screen; it fills itself. */
export function settings(context) {
  const element = h("div", { class: "settings" },
    h("div", { class: "head" }, h("a", { class: "button plain", href: "#" }, icon("back"), words.inbox.title)),
    h("h1", { tabIndex: -1 }, words.settings.title));
  const rest = h("div", { class: "parts" }, h("div", { class: "loading" }, h("span", { class: "hidden" }, words.loading)));
  element.append(rest);
  show(context, rest);
  return element;
}

async function show(context, place) {
  let list = { devices: [], others: [] };
  let problem;
  try {
    list = await context.client.devices();
  } catch (thrown) {
    if (thrown.status === 401) return context.signedOut("ended");
    problem = thrown;
  }
  const own = list.devices.find(({ registration }) => registration === context.device.id) ?? list.devices[0];
  fill(place,
    problem && h("p", { class: "away" }, icon("offline"), h("span", {}, words.settings.away)),
    await pushCard(context, () => show(context, place)),
    own && thisDevice(context, own),
    own && context.app.subjects.length > 0 && subjects(context, own),
    own && quietHours(context, own),
    soundAndLanguage(context),
    installCard(),
    devices(context, own, list),
    part(words.settings.account, h("p", {}, words.settings.signedInAs(context.device.user)), signOutButton(context)));
}

const part = (title, ...content) => h("section", { class: "panel" }, h("h2", {}, title), content);

/** Saves a change of this device on the server; says what went wrong, and then undoes what is shown. */
async function save(context, element, changes, undo) {
  element.setAttribute("aria-busy", "true");
  try {
    const device = await context.client.update(context.device.id, changes);
    say(words.settings.saved, { seconds: 2 });
    return device;
  } catch (problem) {
    undo?.();
    context.failed(problem);
  } finally {
    element.removeAttribute("aria-busy");
  }
}

function thisDevice(context, own) {
  const field = h("input", { id: "device-name", maxLength: 100, value: own.name ?? "", dir: "auto", autocomplete: "off" });
  field.addEventListener("change", () => save(context, field, { name: field.value.trim() || null }, () => { field.value = own.name ?? ""; }));
  return part(words.settings.device, h("label", {}, words.settings.name, field), h("p", { class: "quiet" }, words.settings.nameHint));
}

function subjects(context, own) {
  const offered = context.app.subjects;
  const isOffered = (tag) => offered.some((subject) => subject.tag === tag);
  let tags = own.tags.filter((tag) => !tag.startsWith("username:"));
  const box = ({ tag, name }) => {
    const check = h("input", { type: "checkbox", role: "switch", checked: tags.includes(tag) });
    check.addEventListener("change", async () => {
      const wanted = check.checked ? [...tags, tag] : tags.filter((one) => one !== tag);
      const saved = await save(context, check, { tags: wanted }, () => { check.checked = !check.checked; });
      if (saved) tags = saved.tags?.filter((one) => !one.startsWith("username:")) ?? wanted;
    });
    return h("label", { class: "switch" }, h("span", { dir: "auto" }, name), check);
  };
  return part(words.settings.subjects, h("p", { class: "quiet" }, words.settings.subjectsHint), h("div", { class: "rows" }, offered.filter(({ tag }) => isOffered(tag)).map(box)));
}

function quietHours(context, own) {
  let hours = own.quietHours ?? null;
  const check = h("input", { type: "checkbox", role: "switch", checked: hours !== null });
  const time = (key, label) => h("label", {}, label, h("input", { type: "time", required: true, value: hours?.[key] ?? { from: "22:00", until: "07:00" }[key], data: { key } }));
  const times = h("div", { class: "times", hidden: hours === null }, time("from", words.settings.from), time("until", words.settings.until));
  const change = () => {
    const values = Object.fromEntries([...times.querySelectorAll("input")].map(({ dataset, value }) => [dataset.key, value]));
    times.hidden = !check.checked;
    if (check.checked && (!values.from || !values.until || values.from === values.until)) return;
    const wanted = check.checked ? values : null;
    save(context, check, { quietHours: wanted, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone }, () => {
      check.checked = hours !== null;
      times.hidden = hours === null;
    }).then((saved) => { if (saved) hours = wanted; });
  };
  check.addEventListener("change", change);
  times.addEventListener("change", change);
  return part(words.settings.quiet,
    h("label", { class: "switch" }, h("span", {}, words.settings.quietSwitch), check), times, h("p", { class: "quiet" }, words.settings.quietHint));
}

function soundAndLanguage(context) {
  const sound = h("input", { type: "checkbox", role: "switch", checked: context.device.sound !== false });
  sound.addEventListener("change", () => context.setDevice({ sound: sound.checked }));
  const select = h("select", { id: "language" }, h("option", { value: "" }, words.settings.automatic),
    Object.entries(languages).map(([tag, name]) => h("option", { value: tag, selected: chosen === tag, lang: tag }, name)));
  select.addEventListener("change", async () => {
    try {
      if (select.value) localStorage.setItem("language", select.value);
      else localStorage.removeItem("language");
    } catch {}
    await context.client.update(context.device.id, { language: select.value || navigator.language }).catch(() => {});
    location.reload();
  });
  return part(words.settings.here,
    h("label", { class: "switch" }, h("span", {}, words.settings.sound), sound),
    h("label", { class: "switch" }, h("span", {}, words.settings.language), select));
}

function devices(context, own, { others = [] }) {
  const isGuest = context.device.user.startsWith("guest-");
  const add = h("button", { type: "button", on: { click: () => addDevice(context) } }, icon("add"), words.devices.add);
  return part(words.devices.title, deviceList({ own, others }), isGuest ? null : add);
}

function signOutButton(context) {
  return h("button", { type: "button", class: "danger", on: { click: () => {
    const yes = h("button", { type: "button", class: "danger", on: { click: () => attempt(yes, () => context.signOut()).then(() => view.close()) } }, words.settings.signOut);
    const view = dialog(words.settings.signOut, { class: "small" },
      h("h2", {}, words.settings.signOutTitle), h("p", {}, words.settings.signOutHint),
      h("div", { class: "row end" }, h("button", { type: "button", class: "plain", autofocus: true, on: { click: () => view.close() } }, words.cancel), yes));
  } } }, words.settings.signOut);
}
