// Chooses the language of the words, and loads its table: the one chosen on this device, else the browser's, else English.

const tables = { en: () => import("./en.js"), de: () => import("./de.js") };
/** What each language calls itself. */
export const languages = { en: "English", de: "Deutsch" };
const key = "language";

/** The language chosen on this device; null for the browser's. */
export function chosenLanguage() {
  try {
    return localStorage.getItem(key);
  } catch {
    // Storage may be forbidden.
    return null;
  }
}

/** Keeps the choice; the page shows it when it is loaded again. */
export function chooseLanguage(tag) {
  if (tag) localStorage.setItem(key, tag);
  else localStorage.removeItem(key);
}

const wanted = [chosenLanguage(), ...navigator.languages].map((tag) => tag?.split("-")[0]);
/** The language of the words, a key of `languages`. */
export const current = wanted.find((tag) => Object.hasOwn(tables, tag)) ?? "en";
document.documentElement.lang = current;

// Only this table is loaded; each has the same names.
export const { language, memberLabel, texts, app } = await tables[current]();
