// What a notification says beside its text: title, subtitle, link, buttons, sound, importance, and what is behind “More”.
import { actionFields, enteredAction } from "./action-fields.js";
import { h } from "./dom.js";
import { field } from "./fields.js";
import { memberLabel, texts } from "./texts.js";

const t = texts.message;
/** The members that are a line of text, or one of several words. */
const lines = ["title", "subtitle", "link", "importance", "alt", "lockScreen", "thread", "replaces", "icon", "colour", "channel", "category", "relevance", "label"];
/** The members that are an object, entered as JSON. */
const objects = ["data", "variables", "apns", "fcm", "webpush"];

/** The fields, without `fixed`, which cannot be changed; `changed` is called when something was entered. */
export function messageFields(changed, fixed = []) {
  const input = (name, properties = {}) => h("input", { type: "text", placeholder: t.placeholders[name] ?? "", ...properties, on: { input: changed } });
  const select = (choices, on = changed) => h("select", { on: { change: on } }, Object.keys(choices).map((value) => h("option", { value }, choices[value])));
  const controls = {
    title: input("title"), subtitle: input("subtitle"), link: input("link", { inputMode: "url", spellcheck: false }),
    sound: select(t.sounds, () => { showSound(); changed(); }), importance: select(t.importances),
    alt: h("textarea", { rows: 2, on: { input: changed } }), lockScreen: select(t.lockScreens), thread: input("thread"), replaces: input("replaces"),
    icon: input("icon", { inputMode: "url", spellcheck: false }), colour: input("colour"), channel: input("channel"), category: input("category"),
    relevance: h("input", { type: "number", min: 0, max: 1, step: "any", on: { input: changed } }), label: input("label"),
    ...Object.fromEntries(objects.map((name) => [name, h("textarea", { rows: 3, spellcheck: false, placeholder: t.placeholders[name] ?? "", on: { input: changed } })])),
  };
  const soundName = h("input", { type: "text", placeholder: t.placeholders.sound, "aria-label": t.soundName, on: { input: changed } });
  const actions = actionFields(changed);
  const own = Object.fromEntries(Object.entries(controls).map(([name, control]) => [name, field(control)]));
  const element = (name, ...more) => {
    const { control, words } = own[name];
    const hint = t.hints[name] && h("span", { class: "hint", id: `${words.id}-hint` }, t.hints[name]);
    if (hint) control.setAttribute("aria-describedby", `${words.id} ${hint.id}`);
    return h("div", { class: "field" }, h("label", {}, memberLabel(name), control), more, words, hint);
  };

  const moreNames = ["alt", "lockScreen", "thread", "replaces", "icon", "colour", "channel", "category", "relevance", "label", ...objects]
    .filter((name) => !fixed.includes(name));
  const more = h("details", {}, h("summary", {}, t.more), h("div", { class: "more" }, moreNames.map((name) => element(name))));

  // A critical sound is not offered, as only an admin may send it; a notification may have it all the same.
  const critical = h("option", { value: "critical", hidden: true }, t.criticalSound);
  controls.sound.append(critical);

  function showSound() {
    soundName.hidden = controls.sound.value !== "named";
    critical.hidden = controls.sound.value !== "critical";
  }
  showSound();

  return {
    /** What stands above the text. */
    above: [element("title"), element("subtitle")],
    /** What stands below it. */
    below: [element("link"), actions.element, h("div", { class: "pair" }, element("sound", soundName), element("importance")), more],
    /** The fields by the names of the API's members, before and after the text. */
    get fields() {
      const { title, subtitle, link, sound, importance, ...others } = own;
      return [{ title, subtitle }, { link, ...actions.fields, sound, importance, ...others }];
    },
    /** What is wrong before the server is asked, by field; what is missing only if `isTried`. */
    faults(isTried) {
      const faults = isTried ? actions.missing : {};
      if (isTried && controls.sound.value === "named" && !soundName.value.trim()) faults.sound = t.missingSound;
      if (controls.relevance.validity.badInput) faults.relevance = t.noNumber;
      for (const name of objects) if (parsed(controls[name].value) === null) faults[name] = t.noObject;
      return faults;
    },
    /** What was entered, to be kept. */
    get kept() {
      return { ...Object.fromEntries([...lines, ...objects].map((name) => [name, controls[name].value])),
        sound: controls.sound.value, soundName: soundName.value, actions: actions.kept };
    },
    set kept(kept) {
      for (const [name, control] of Object.entries(controls)) control.value = kept?.[name] ?? "";
      soundName.value = kept?.soundName ?? "";
      actions.kept = kept?.actions ?? [];
      more.open = moreNames.some((name) => controls[name].value);
      showSound();
    },
    /** The members as the API takes them, without those that say nothing. */
    get value() {
      const value = {};
      for (const name of lines) {
        const text = controls[name].value.trim();
        if (text) value[name] = name === "relevance" ? Number(text) : text;
      }
      const sound = controls.sound.value;
      value.sound = sound === "named" ? soundName.value.trim() || undefined : sound === "critical" ? { critical: Number(soundName.value) } : sound || undefined;
      value.actions = actions.value;
      for (const name of objects) value[name] = parsed(controls[name].value) ?? undefined;
      return value;
    },
  };
}

/** What a notification of the API says, as it is entered. */
export function enteredMessage(message) {
  const { sound, actions } = message;
  const kind = typeof sound === "object" ? "critical" : sound === undefined || ["none", "default"].includes(sound) ? (sound ?? "") : "named";
  return { ...Object.fromEntries(lines.map((name) => [name, `${message[name] ?? ""}`])),
    sound: kind, soundName: kind === "named" ? sound : kind === "critical" ? `${sound.critical}` : "",
    actions: (actions ?? []).map(enteredAction),
    ...Object.fromEntries(objects.map((name) => [name, message[name] === undefined ? "" : JSON.stringify(message[name], null, 2)])) };
}

/** Whether something of what was kept was entered by somebody. */
export const isEntered = (kept) => Object.values(kept ?? {}).some((value) => value.length > 0);

/** The form of a push for which none was chosen, as the server chooses it. */
export const usualForm = ({ title, subtitle, actions, sound, importance, link }, hasMedia) =>
  hasMedia && ![title, subtitle, actions, sound, importance, link].some((value) => value !== undefined) ? "silent" : "alert";

/** The object that a text is; undefined for an empty one, null for anything else. */
function parsed(text) {
  if (!text.trim()) return undefined;
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
