// The language of the words: as it was chosen on this device, else as the browser prefers, else English.

/** The languages there are, by their own names. */
export const languages = { de: "Deutsch", en: "English" };

/** The language chosen on this device, a key of `languages`; undefined if the browser decides. */
export const chosen = (() => {
  // Storage may be forbidden.
  try { return localStorage.getItem("language") ?? undefined; } catch { return undefined; }
})();

/** Keeps the choice, or with "" leaves it to the browser; the page has to be loaded again. */
export function choose(tag) {
  if (tag) localStorage.setItem("language", tag);
  else localStorage.removeItem("language");
}

const wanted = [chosen, ...navigator.languages].filter(Boolean);

/** The language of the words, a key of `languages`. */
export const current = wanted.map((tag) => tag.split("-")[0].toLowerCase()).find((tag) => tag in languages) ?? "en";

/** The same with the region that the browser names, for numbers and times; undefined if it names none. */
export const regional = wanted.find((tag) => tag.toLowerCase().startsWith(`${current}-`));
