// Files and folders that are dropped or chosen.
import { h, icon } from "./dom.js";

/** Accepts files dropped anywhere in the window while the element is in the document with what it has now. */
export function acceptDrops(element, text, handler) {
  const veil = h("div", { class: "veil", hidden: true }, icon("upload"), h("strong", {}, text));
  const listeners = {
    dragover: (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      veil.hidden = false;
    },
    dragleave: (event) => { if (!event.relatedTarget) veil.hidden = true; },
    drop: async (event) => {
      // A text goes into the field on which it is dropped.
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      veil.hidden = true;
      // Entries have to be taken before anything is awaited.
      const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
      const files = entries.length
        ? (await Promise.all(entries.map((entry) => contents(entry)))).flat()
        : [...event.dataTransfer.files].map((file) => ({ file }));
      handler(files);
    },
  };
  element.append(veil);
  const watch = (add) => Object.entries(listeners).forEach(([type, listener]) =>
    add ? addEventListener(type, listener) : removeEventListener(type, listener));
  watch(true);
  new MutationObserver((_, observer) => {
    // A screen that is loaded again has another one.
    if (veil.isConnected) return;
    observer.disconnect();
    watch(false);
  }).observe(document.body, { childList: true, subtree: true });
}

/** The files below an entry, with the name of the folder each is in. */
async function contents(entry, folder) {
  if (entry.isFile) return [{ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), folder }];
  const reader = entry.createReader();
  const found = [];
  // A call returns only some of the entries; the last one none.
  for (let batch; (batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))).length;) found.push(...batch);
  return (await Promise.all(found.map((inner) => contents(inner, entry.name)))).flat();
}

/** Opens the system's dialog; resolves to the chosen files, none if it is closed. */
export function chooseFiles(multiple = true) {
  return new Promise((resolve) => {
    const input = h("input", { type: "file", multiple });
    input.addEventListener("change", () => resolve([...input.files].map((file) => ({ file }))));
    input.addEventListener("cancel", () => resolve([]));
    input.click();
  });
}
