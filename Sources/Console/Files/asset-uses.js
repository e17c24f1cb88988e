// Where an asset was used.
import { assetPath, get, query } from "./api.js";
import { fill, h } from "./dom.js";
import { number, time } from "./format.js";
import { attempt, state } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.uses;

/** The notifications and drafts with an asset; `left` is called when a link is followed. */
export function assetUses(asset, left) {
  const list = h("ul");
  const rest = h("p", { class: "quiet" });
  const more = h("button", { type: "button", hidden: true, on: { click: () => attempt(more, () => load(more.dataset.next)) } }, texts.more);
  const summary = h("summary", {}, t.title);
  let hidden = 0;
  async function load(before) {
    try {
      const { notifications, next, count, drafts } = await get(assetPath(asset, `/uses${query({ before })}`));
      if (drafts) {
        hidden = count;
        summary.textContent = `${t.title} (${number(count + drafts.length)})`;
        list.append(...drafts.map((draft) => h("li", {}, state(draft.template ? "template" : "draft"), h("span", {}, draft.name || texts.drafts.nameless))));
      }
      list.append(...notifications.map((one) => h("li", {}, state(one.approval ? "awaiting" : one.state),
        h("a", { href: `#sent/${one.id}`, on: { click: left } }, one.title ?? (one.message || texts.sent.noMessage)), h("small", { class: "quiet" }, time(one.notBefore ?? one.created)))));
      hidden -= notifications.length;
      more.hidden = next === null;
      more.dataset.next = next ?? "";
      fill(rest, !list.children.length && !hidden ? t.none : next === null && hidden > 0 && t.others(hidden));
    } catch (problem) {
      fill(rest, problem.message);
    }
  }
  load();
  return h("details", { class: "versions" }, summary, list, rest, more);
}
