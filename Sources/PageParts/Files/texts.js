// The console's words in the user's language. Only that table is loaded.
import { current, regional } from "./languages.js";

export { choose, chosen, current, languages } from "./languages.js";

const table = await (current === "de" ? import("./de.js") : import("./en.js"));
/** The language of numbers and times: as one writes them where the browser says it is. */
export const language = regional ?? table.language;
export const { memberLabel, texts } = table;
document.documentElement.lang = current;
