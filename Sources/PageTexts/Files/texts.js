// The words in the user's language: as it was chosen on this device, else as the browser prefers, else English. Only its table is loaded.

const tables = { de: () => import("./de.js"), en: () => import("./en.js") };
/** The languages there are, by their own names. */
export const languages = { de: "Deutsch", en: "English" };
const key = "language";

/** The language chosen on this device, a key of `languages`; undefined if the browser decides. */
export const chosen = (() => {
  // Storage may be forbidden.
  try { return localStorage.getItem(key) ?? undefined; } catch { return undefined; }
})();

/** Keeps the choice, or with "" leaves it to the browser; the page has to be loaded again. */
export function choose(tag) {
  if (tag) localStorage.setItem(key, tag);
  else localStorage.removeItem(key);
}

const wanted = [chosen, ...navigator.languages].filter(Boolean);
/** The language of the words, a key of `languages`. */
export const current = wanted.map((tag) => tag.split("-")[0].toLowerCase()).find((tag) => Object.hasOwn(tables, tag)) ?? "en";
document.documentElement.lang = current;

const table = await tables[current]();
/** The language of numbers and times: with the region that the browser names, as one writes them there. */
export const language = wanted.find((tag) => tag.toLowerCase().startsWith(`${current}-`)) ?? table.language;
// Each table has the same names; the app's words are in `app`, the console's in `texts`.
export const { app, memberLabel, texts } = table;
