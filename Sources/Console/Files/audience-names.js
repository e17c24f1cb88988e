// Names of people and tags, offered while an audience is typed.
import { get, query } from "./api.js";
import { h } from "./dom.js";

/** The expression for everybody who has a device: none has this tag, which only the server could give. */
export const everybody = "!from:#";

let number = 0;

/**
 * Offers names for the last word in a field; `kind` tells of which kind, `people` or `tags`.
 *
 * The browser shows them, so that they can be chosen by keyboard and screen reader. Returns the list to be put in the page.
 */
export function completeNames(field, kind) {
  const list = h("datalist", { id: `names-${++number}` });
  field.setAttribute("list", list.id);
  field.autocomplete = "off";
  let timer;
  let asked;
  async function ask() {
    const [, before, word] = field.value.match(/^(.*?)([^\s,!&|()]*)$/s);
    const question = `${kind()} ${before} ${word}`;
    if (asked === question) return;
    asked = question;
    const names = await get(`/api/audience/names${query({ prefix: word })}`).catch(() => null);
    if (!names || asked !== question) return;
    const chosen = new Set(before.split(/[\s,!&|()]+/));
    list.replaceChildren(...(kind() === "people" ? names.users : names.tags).filter((name) => !chosen.has(name))
      .map((name) => h("option", { value: before + name })));
  }
  field.addEventListener("focus", ask);
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 150);
  });
  return list;
}
