// The texts of a notification in other languages, a tab for each.
import { fill, h, icon } from "./dom.js";
import { field } from "./fields.js";
import { languageName } from "./format.js";
import { language, memberLabel, texts } from "./texts.js";

const t = texts.languages;
const most = 16;
/** The members that have other texts in other languages. */
const members = ["title", "subtitle", "message", "alt", "link"];
/** What the browser suggests when a language is added. */
const suggested = ["ar", "cs", "da", "de", "el", "en", "es", "fi", "fr", "he", "hi", "hu", "id", "it", "ja", "ko", "nl", "no", "pl", "pt-BR", "ro", "ru", "sv", "tr", "uk", "vi", "zh-Hans", "zh-Hant"];

/** What a language is called, with its tag; the tag alone if it is none that the browser knows. */
function called(tag) {
  const name = languageName(tag);
  return name && name !== tag ? `${name} (${tag})` : tag;
}

/** The tabs; `own` tells what the notification says, `changed` is called when something was entered or another tab is shown. */
export function languageTabs(own, changed) {
  let entered = {};
  let shown = null;
  const list = h("div", { role: "tablist", "aria-label": t.label });
  const panel = h("div", { role: "tabpanel", id: "language-panel", class: "more" });
  const ownTag = h("input", { type: "text", list: "language-tags", placeholder: t.placeholder, on: { input: changed } });
  const tag = h("input", { type: "text", list: "language-tags", placeholder: t.placeholder });
  const add = h("button", { type: "button", on: { click: () => {
    const name = tag.value.trim();
    if (!name || entered[name] || Object.keys(entered).length === most) return tag.focus();
    entered[name] = { actions: {} };
    tag.value = "";
    show(name);
    changed();
  } } }, t.add);
  const all = field(tag);
  const element = h("details", {}, h("summary", {}, t.summary),
    h("datalist", { id: "language-tags" }, suggested.map((value) => h("option", { value }, called(value)))),
    list, panel,
    h("div", { class: "field" }, h("label", {}, t.another, tag), add, all.words));

  /** Shows the tab of a language; null is the notification's own. */
  function show(name) {
    shown = name;
    const tabs = [null, ...Object.keys(entered)];
    fill(list, tabs.map((name, index) => h("button", {
      type: "button", role: "tab", id: `language-${index}`, "aria-selected": `${name === shown}`, "aria-controls": panel.id, tabIndex: name === shown ? 0 : -1,
      on: { click: () => select(name), keydown: (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step) select(tabs[(index + step + tabs.length) % tabs.length]);
      } } }, name === null ? t.own : called(name))));
    panel.setAttribute("aria-labelledby", `language-${tabs.indexOf(shown)}`);
    fill(panel, shown === null ? h("label", {}, t.ownTag, ownTag) : translation(shown));
  }

  function select(name) {
    show(name);
    list.querySelector("[aria-selected=true]").focus();
    changed();
  }

  /** The fields of a language: for each text that the notification has. */
  function translation(name) {
    const texts = entered[name];
    const { actions = [], ...message } = own();
    const control = (label, placeholder, value, set, isLong) =>
      h("label", {}, label, h(isLong ? "textarea" : "input", { placeholder, value: value ?? "", on: { input: ({ target }) => {
        set(target.value);
        changed();
      } } }));
    const said = members.filter((member) => message[member]?.trim());
    const remove = h("button", { type: "button", on: { click: () => {
      delete entered[name];
      select(null);
    } } }, icon("close"), h("span", {}, t.remove(called(name))));
    return [
      said.length ? null : h("p", { class: "quiet" }, t.nothing),
      said.map((member) => control(memberLabel(member), message[member], texts[member], (text) => { texts[member] = text; }, member === "message")),
      actions.map(({ id, label }) => control(t.button(label), label, texts.actions[id], (text) => { texts.actions[id] = text; })),
      remove,
    ];
  }
  show(null);

  return {
    element, field: all,
    /** The language whose texts are to be seen. */
    get shown() { return shown ?? (ownTag.value.trim() || undefined); },
    get kept() { return { own: ownTag.value, entered }; },
    set kept(kept) {
      ownTag.value = kept?.own ?? "";
      entered = structuredClone(kept?.entered ?? {});
      element.open = Object.keys(entered).length > 0;
      show(null);
    },
    /** The members as the API takes them: texts that the notification itself has not are left out. */
    get value() {
      const { actions = [], ...message } = own();
      const languages = Object.fromEntries(Object.entries(entered).map(([name, texts]) => {
        const said = Object.fromEntries(members.filter((member) => message[member]?.trim() && texts[member]?.trim()).map((member) => [member, texts[member]]));
        const labels = Object.fromEntries(actions.filter(({ id }) => texts.actions[id]?.trim()).map(({ id }) => [id, texts.actions[id].trim()]));
        return [name, Object.keys(labels).length ? { ...said, actions: labels } : said];
      }));
      return { language: ownTag.value.trim() || undefined, languages: Object.keys(languages).length ? languages : undefined };
    },
  };
}

/** What a notification of the API says in other languages, as it is entered. */
export const enteredLanguages = ({ language = "", languages = {} }) =>
  ({ own: language, entered: Object.fromEntries(Object.entries(languages).map(([name, texts]) => [name, { ...texts, actions: texts.actions ?? {} }])) });
