// Numbers and times, in the language of the words.
import { language } from "./texts.js";

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

export function bytes(count) {
  if (count === undefined || count === null) return "";
  const power = Math.min(units.length - 1, count < 1000 ? 0 : Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** power;
  return new Intl.NumberFormat(language, {
    style: "unit", unit: units[power], unitDisplay: power ? "short" : "long",
    maximumFractionDigits: power > 1 && value < 10 ? 1 : 0,
  }).format(value);
}

export const number = (value) => new Intl.NumberFormat(language).format(value);

/** A share from 0 to 1: "12%". */
export const percent = (value) => new Intl.NumberFormat(language, { style: "percent" }).format(value);

const languageNames = new Intl.DisplayNames(language, { type: "language" });

/** The name of a language by its tag; the tag itself if it is none. */
export function languageName(tag) {
  try {
    return languageNames.of(tag);
  } catch {
    return tag;
  }
}

export const size = ({ width, height }) => (width && height ? `${width} × ${height}` : "");

export function seconds(value) {
  if (value < 60) return `${number(Math.round(value * 10) / 10)} s`;
  return value < 3600 ? `${Math.round(value / 60)} min` : `${number(Math.round(value / 3600))} h`;
}

/** A time as one says it: "3 minutes ago"; the exact one is its title. */
export function time(text) {
  const element = document.createElement("time");
  const date = new Date(text);
  element.dateTime = text;
  element.title = date.toLocaleString(language, { dateStyle: "long", timeStyle: "medium" });
  const past = (Date.now() - date) / 1000;
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const away = Math.abs(past);
  element.textContent =
    away < 45 ? relative.format(0, "second")
    : away < 3600 ? relative.format(-Math.round(past / 60), "minute")
    : away < 86400 ? relative.format(-Math.round(past / 3600), "hour")
    : date.toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
  return element;
}

/** A day in full: "31 August 2026"; the text itself if it is none. */
export function day(text) {
  const date = new Date(`${text}T00:00`);
  return Number.isNaN(date.valueOf()) ? `${text}` : date.toLocaleDateString(language, { dateStyle: "long" });
}

/** A time in full, with its zone: "Saturday, 28 November 2026 at 10:30 (Europe/Berlin, UTC+1)". */
export const exactTime = (date) =>
  `${date.toLocaleString(language, { dateStyle: "full", timeStyle: "short" })} (${zone(date)})`;

/** A time as the API takes it, in whole seconds; undefined without one. */
export const apiTime = (date) => date?.toISOString().replace(/\.\d+Z/, "Z");

/** A time by any clock, as a field for date and time has it: "Saturday, 28 November 2026 at 10:30". */
export const clockTime = (text) =>
  new Date(`${text}Z`).toLocaleString(language, { dateStyle: "full", timeStyle: "short", timeZone: "UTC" });

/** The browser's time zone at a time: "Europe/Berlin, UTC+1". */
export function zone(date = new Date()) {
  const format = new Intl.DateTimeFormat(language, { timeZoneName: "shortOffset" });
  const offset = format.formatToParts(date).find(({ type }) => type === "timeZoneName").value.replace("GMT", "UTC");
  const name = format.resolvedOptions().timeZone;
  return name === "UTC" ? name : `${name}, ${offset}`;
}

/** The kind of a media type, in a word: "JPEG". */
export const kind = (type) =>
  (type ?? "").split(";")[0].split("/").pop().replace(/^x-|^vnd\./, "").replace("mpeg", "MP3").replace("quicktime", "MOV").toUpperCase();

/** A time as a field for date and time has it, in this time zone; empty if there is none. */
export function fieldTime(text) {
  if (!text) return "";
  const date = new Date(text);
  return new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
