// Names of people, tags and segments, offered while an audience is typed, and how audiences are called.
import { get, query } from "./api.js";
import { h } from "./dom.js";
import { number as format } from "./format.js";
import { texts } from "./texts.js";

/** The expression for everybody who has a device: none has this tag, which only the server could give. */
export const everybody = "!from:#";

/** A recipient as the API names it, as one would say it. */
export function labelOf(tag) {
  if (tag === everybody) return texts.audience.everybody;
  const [, kind, name] = tag.match(/^(segment|opened|notOpened):(.*)$/) ?? [];
  return kind ? texts.audience.named[kind](name) : tag.replace(/^username:/, "");
}

/** The numbers of people and their devices in words. */
export function countWords(users, devices) {
  const platforms = Object.entries(devices).filter(([, count]) => count)
    .map(([platform, count]) => `${format(count)} ${texts.platforms[platform] ?? platform}`);
  return texts.audience.count(users, platforms);
}

/** The names of a kind that begin with a word. */
async function namesOf(kind, word) {
  if (kind === "segment") {
    const { segments } = await get(`/api/segments${query({ limit: 200 })}`);
    return segments.map(({ name }) => name).filter((name) => name.toLowerCase().startsWith(word.toLowerCase()));
  }
  const names = await get(`/api/audience/names${query({ prefix: word })}`);
  return kind === "people" ? names.users : names.tags;
}

/** Recipients as one would say them. */
export const recipients = (tags = []) => tags.map(labelOf).join(", ");

let number = 0;

/**
 * Offers names for the last word in a field; `kind` tells of which kind: `people`, `tags`, `segment`, or another that has no names.
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
    const names = ["people", "tags", "segment"].includes(kind()) ? await namesOf(kind(), word).catch(() => null) : [];
    if (!names || asked !== question) return;
    const chosen = new Set(before.split(/[\s,!&|()]+/));
    list.replaceChildren(...names.filter((name) => !chosen.has(name))
      .map((name) => h("option", { value: before + name })));
  }
  field.addEventListener("focus", ask);
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 150);
  });
  return list;
}
