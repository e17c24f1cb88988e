// What needs an administrator's attention, as sentences in the user's language. Only that table is loaded, where it is shown.
import { current, regional } from "./languages.js";

const { language, sentences } = await (current === "de" ? import("./attention-de.js") : import("./attention-en.js"));
const exact = (text) => text && new Date(text).toLocaleString(regional ?? language, { dateStyle: "medium", timeStyle: "short" });

/** An element of `attention` of `GET /api/status` as a sentence: its own `text` if a later server has sent it. */
export const sentence = ({ code, text, ...of }) =>
  Object.hasOwn(sentences, code) ? sentences[code]({ ...of, since: exact(of.since), until: exact(of.until), hasEnded: new Date(of.until) < new Date() }) : text;
