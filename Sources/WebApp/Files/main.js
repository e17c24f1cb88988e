// Starts the app when the words in the user's language are there.
import "./client.js";
import "./device.js";

// One after the other: earlier Safari runs what imports the words before they are loaded, if several files do (WebKit bug 242740).
await import("./app-texts.js");
await import("./start.js");
