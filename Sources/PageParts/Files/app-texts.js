// The app's words in the user's language. Only that table is loaded, and none of the console's: the app has to be there at once.
import { current, regional } from "./languages.js";

export { choose, chosen, languages } from "./languages.js";

const table = await (current === "de" ? import("./app-de.js") : import("./app-en.js"));
export const { app } = table;
/** The language of numbers and times. */
export const language = regional ?? table.language;
document.documentElement.lang = current;
