// A secret that is shown once, in the dialog in which it was made.
import { fill, h } from "./dom.js";
import { texts } from "./texts.js";

const t = texts.shownOnce;

/** Fills a dialog with a title, whose element has the dialog's name, and a text to copy, which has a label. */
export function showOnce(screen, dialog, titleID, title, label, text) {
  const field = h("input", { value: text, readOnly: true, autocomplete: "off", spellcheck: false, on: { focus: () => field.select() } });
  const copy = h("button", { type: "button", class: "main", on: { click: async () => {
    // Without https there is no clipboard.
    field.select();
    await navigator.clipboard?.writeText(text);
    screen.say(navigator.clipboard ? t.copied : t.selected);
  } } }, t.copy);
  fill(dialog, h("form", { method: "dialog" }, h("h2", { id: titleID }, title), h("p", { role: "status" }, t.once),
    h("label", {}, label, field), h("div", { class: "actions" }, h("button", {}, texts.close), copy)));
  copy.focus();
}
