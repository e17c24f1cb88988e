// A dialog in which an asset is chosen.
import { get, query } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { mediaView } from "./media-view.js";
import { byName, matches } from "./search.js";
import { texts } from "./texts.js";

/** Resolves to the chosen asset, to "upload", or to null. */
export function chooseAsset() {
  const t = texts.picker;
  return new Promise((resolve) => {
    let assets = [];
    let chosen = null;
    const list = h("div", { class: "picker" }, texts.loading);
    const search = h("input", { type: "search", placeholder: texts.catalogue.search, "aria-label": texts.catalogue.search, on: { input: show } });
    const finish = (value) => {
      chosen = value;
      dialog.close();
    };
    const dialog = h("dialog", { class: "wide", "aria-labelledby": "picker-title", on: { close } },
      h("form", { method: "dialog" },
        h("div", { class: "head" }, h("h2", { id: "picker-title" }, t.title),
          h("button", { class: "plain", "aria-label": texts.close }, icon("close"))),
        h("div", { class: "actions" }, h("span", { class: "search" }, icon("search"), search),
          h("button", { type: "button", on: { click: () => finish("upload") } }, icon("upload"), texts.catalogue.upload)),
        list));
    function show() {
      const found = assets.filter(({ name }) => matches(search.value, name)).slice(0, 200);
      fill(list, found.map((asset) => h("button", { type: "button", on: { click: () => finish(asset) } },
        h("span", { class: "picture" }, mediaView(asset)), h("span", {}, asset.name))), !found.length && h("p", { class: "quiet" }, t.none));
    }
    function close() {
      dialog.remove();
      resolve(chosen);
    }
    document.body.append(dialog);
    dialog.showModal();
    search.focus();
    /** A search is for all names, so all have to be here. */
    async function read(after) {
      const page = await get(`/api/assets${query({ state: "ready", limit: 1000, after })}`);
      assets = [...assets, ...page.assets].sort((one, other) => byName(one.name, other.name));
      show();
      if (page.next && dialog.open) await read(page.next);
    }
    read().catch((problem) => fill(list, problem.message));
  });
}
