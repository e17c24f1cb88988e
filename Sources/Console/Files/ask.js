// A dialog that asks for a word.
import { h } from "./dom.js";
import { texts } from "./texts.js";

let number = 0;

/** Resolves to what was typed, without spaces around it, or to null. */
export function ask(title, { label, verb, value = "", hint, suggestions = [] }) {
  return new Promise((resolve) => {
    const list = h("datalist", { id: `suggestions-${++number}` }, suggestions.map((word) => h("option", { value: word })));
    const input = h("input", { value, required: true, autocomplete: "off", list: list.id });
    const close = () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? input.value.trim() || null : null);
    };
    const dialog = h("dialog", { class: "small", "aria-label": title, on: { close } },
      h("form", { method: "dialog" }, h("h2", {}, title), h("label", {}, label, input), list, hint && h("p", { class: "hint" }, hint),
        h("div", { class: "actions" }, h("button", { type: "button", on: { click: () => dialog.close() } }, texts.cancel), h("button", { class: "main", value: "yes" }, verb))));
    document.body.append(dialog);
    dialog.showModal();
    input.select();
  });
}
