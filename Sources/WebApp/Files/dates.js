// Times as one says them, in the language of the words.
import { language } from "./app-texts.js";

const dayOf = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());
const capital = (text) => text.replace(/^./u, (letter) => letter.toLocaleUpperCase(language));

/** The day of a time, for a heading: "Today", "Yesterday", "Monday, 23 November". */
export function day(date) {
  const past = Math.round((dayOf(new Date()) - dayOf(date)) / 86_400_000);
  if (past < 2) return capital(new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(-past, "day"));
  const isThisYear = date.getFullYear() === new Date().getFullYear();
  return capital(date.toLocaleDateString(language, { weekday: "long", day: "numeric", month: "long", ...(!isThisYear && { year: "numeric" }) }));
}

/** A key that two times of one day share. */
export const dayKey = (date) => dayOf(date).getTime();

export const clock = (date) => date.toLocaleTimeString(language, { timeStyle: "short" });

export const whole = (date) => date.toLocaleString(language, { dateStyle: "full", timeStyle: "short" });

/** The time of today, or the day with it. */
export const moment = (date) => (dayKey(date) === dayKey(new Date()) ? clock(date) : date.toLocaleString(language, { dateStyle: "medium", timeStyle: "short" }));

/** "3 minutes ago", "yesterday", or the day. */
export function ago(date) {
  const seconds = (Date.now() - date) / 1000;
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  if (seconds < 60) return relative.format(0, "second");
  if (seconds < 3600) return relative.format(-Math.round(seconds / 60), "minute");
  if (seconds < 86400) return relative.format(-Math.round(seconds / 3600), "hour");
  return seconds < 30 * 86400 ? relative.format(-Math.round(seconds / 86400), "day") : date.toLocaleDateString(language, { dateStyle: "medium" });
}
