// Asks what happens to a file whose name an asset has already.
import { assetPath, get } from "./api.js";
import { facts } from "./asset-card.js";
import { h } from "./dom.js";
import { bytes } from "./format.js";
import { mediaView } from "./media-view.js";
import { texts } from "./texts.js";

const t = texts.conflict;
let turn = Promise.resolve();

/**
 * Resolves to "replace", "both" or "" (cancel) for a file, one question after the other.
 *
 * `batch` has the files that were dropped together: `left` is how many of them are not done, `answer` what was chosen for
 * all of them.
 */
export function askConflict(file, existing, batch) {
  const answer = turn.then(() => batch.answer ?? ask(file, existing, batch));
  turn = answer.catch(() => {});
  return answer;
}

async function ask(file, existing, batch) {
  const asset = await get(assetPath(existing)).catch(() => existing);
  return new Promise((resolve) => {
    const forAll = h("input", { type: "checkbox" });
    const dialog = h("dialog", { class: "small", "aria-labelledby": "conflict-title", on: { close } },
      h("form", { method: "dialog" },
        h("h2", { id: "conflict-title" }, t.title(existing.name)),
        h("div", { class: "conflict" },
          h("figure", {}, h("span", { class: "picture" }, mediaView(asset)), h("figcaption", {}, h("strong", {}, t.existing), h("span", { class: "quiet" }, facts(asset)))),
          h("figure", {}, h("span", { class: "picture" }, newView(file)), h("figcaption", {}, h("strong", {}, t.uploaded), h("span", { class: "quiet" }, bytes(file.size))))),
        h("p", { class: "quiet" }, t.hint),
        batch.left > 1 && h("label", { class: "check" }, forAll, t.forAll),
        h("div", { class: "actions" },
          h("button", { value: "" }, texts.cancel),
          h("button", { value: "both" }, t.both),
          h("button", { class: "danger", value: "replace" }, t.replace))));
    function close() {
      dialog.remove();
      if (forAll.checked) batch.answer = dialog.returnValue;
      resolve(dialog.returnValue);
    }
    document.body.append(dialog);
    dialog.showModal();
  });
}

function newView(file) {
  const symbol = () => h("span", { class: "symbol" });
  if (!file.type.startsWith("image/")) return symbol();
  const picture = h("img", { alt: "", src: URL.createObjectURL(file) });
  const release = () => URL.revokeObjectURL(picture.src);
  picture.addEventListener("load", release);
  picture.addEventListener("error", () => {
    release();
    picture.replaceWith(symbol());
  });
  return picture;
}
