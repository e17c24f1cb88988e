// Comparing texts as people look for them: without case and accents, as the server does (SearchWords.swift).

/** Letters whose accent Unicode does not take off. */
const letters = { ß: "ss", ø: "o", ł: "l", đ: "d", ħ: "h", æ: "ae", œ: "oe", ı: "i", ð: "d", þ: "th" };

/** A text without case, compatibility forms and accents. */
export const plain = (text) =>
  text.normalize("NFKD").toLowerCase().replace(/\p{Mn}/gu, "").replace(/[ßøłđħæœıðþ]/g, (letter) => letters[letter]);

/** Whether each word of a search is part of a text. */
export const matches = (search, text) => plain(search).split(/\s+/).every((word) => plain(text).includes(word));

/** The order of names as people know it: capitals and accents count last, numbers by value. */
export const byName = new Intl.Collator(undefined, { numeric: true }).compare;
