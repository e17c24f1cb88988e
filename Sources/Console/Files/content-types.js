// The kinds of content that the server has, with the fields of each that needs no file, such as a coupon.
import { get } from "./api.js";
import { day } from "./format.js";
import { current, texts } from "./texts.js";

let known;

/** The kinds of content; none where the server does not tell. `isNew` asks the server once more. */
export function contentTypes(isNew = false) {
  if (isNew || !known) known = get("/api/types").then(({ types }) => types, () => {
    known = undefined;
    return [];
  });
  return known;
}

/** What people read in their language, else in English, else in any. */
export const inWords = (label) => label[current] ?? label.en ?? Object.values(label)[0];

/** What a kind of content is called. */
export const called = (types, richType) =>
  texts.richTypes[richType] ?? inWords(types.find((type) => type.richType === richType)?.label ?? {}) ?? richType;

/** What was filled in, as rows of a list: what each field is called, and its value; undefined if the content is none that is filled in. */
export function filledRows(types, { richType, payload }) {
  const fields = types.find((type) => type.richType === richType)?.form;
  const values = fields && objectOf(payload);
  return values?.constructor === Object ? fields.map((field) => [inWords(field.label), shown(field, values[field.name])]) : undefined;
}

/** Content in a line: what was filled in, or the name of a file. */
export const contentText = (types, content) =>
  filledRows(types, content)?.filter(([, value]) => value).map(([label, value]) => `${label}: ${value}`).join(" · ") ?? content.payload;

function shown({ kind, choices }, value) {
  if (value === undefined || value === null) return undefined;
  if (kind === "boolean") return value ? texts.contentFields.yes : texts.contentFields.no;
  if (kind === "choice") return inWords(choices.find((choice) => choice.value === value)?.label ?? { en: `${value}` });
  return kind === "date" ? day(value) : `${value}`;
}

/** The object that a payload is; undefined if it is none. */
export function objectOf(payload) {
  if (typeof payload !== "string") return payload ?? undefined;
  try {
    const value = JSON.parse(payload);
    return value?.constructor === Object ? value : undefined;
  } catch {
    return undefined;
  }
}
