// Drafts and templates, which the server keeps for all publishers.
import { get, post, put, remove } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { time } from "./format.js";
import { attempt, confirmed } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.drafts;

/** A name for what is kept, and whether it is a template; null if it is not to be kept. `kept` is the draft that it was. */
export function nameDraft(kept) {
  return new Promise((resolve) => {
    const name = h("input", { value: kept?.name ?? "", maxLength: 50, autocomplete: "off" });
    const template = h("input", { type: "checkbox", checked: kept?.template ?? false });
    const close = () => {
      dialog.remove();
      resolve(dialog.returnValue === "keep" ? { name: name.value.trim(), template: template.checked } : null);
    };
    const dialog = h("dialog", { class: "small", "aria-labelledby": "draft-title", on: { close } },
      h("form", { method: "dialog" }, h("h2", { id: "draft-title" }, t.keep), h("p", { class: "quiet" }, t.hint),
        h("label", {}, t.name, name), h("label", { class: "check" }, template, t.isTemplate),
        h("div", { class: "actions" }, h("button", { value: "" }, texts.cancel), h("button", { class: "main", value: "keep" }, t.keep))));
    document.body.append(dialog);
    dialog.showModal();
    name.focus();
  });
}

/**
 * Keeps a notification as a draft with a name; in the place of `kept`, if it was kept before.
 *
 * Asks before it takes the place of what somebody else has made of it meanwhile; null if it does not.
 */
export async function storeDraft(notification, named, kept) {
  const body = { ...named, notification };
  if (!kept) return post("/api/drafts", body);
  const path = `/api/drafts/${kept.id}`;
  try {
    return await put(path, body, { "If-Match": `"${kept.version}"` });
  } catch (problem) {
    // It was sent or removed.
    if (problem.status === 404) return post("/api/drafts", body);
    if (problem.status !== 412) throw problem;
    return (await confirmed(problem.message, t.replace)) ? put(path, body) : null;
  }
}

/** Removes a draft that was sent; a template stays. */
export async function endDraft(kept) {
  if (kept && !kept.template) await remove(`/api/drafts/${kept.id}`).catch(() => {});
}

/** Resolves to the draft or template that is chosen in a dialog, or to null. */
export function chooseDraft() {
  return new Promise((resolve) => {
    let chosen = null;
    const lists = [["", t.drafts, t.none], ["?templates", t.templates, t.noTemplates]].map(([query, title, none]) => {
      const list = h("ul", { class: "drafts" });
      const more = h("button", { type: "button", hidden: true }, texts.more);
      const read = async (after) => {
        try {
          const { drafts, next } = await get(`/api/drafts${query}${after ? `${query ? "&" : "?"}after=${after}` : ""}`);
          list.append(...drafts.map(entry));
          if (!list.children.length) fill(list, h("li", { class: "quiet" }, none));
          more.hidden = next === null;
          more.onclick = () => attempt(more, () => read(next));
        } catch (problem) {
          fill(list, h("li", { class: "problem", role: "alert" }, problem.message));
        }
      };
      read();
      return [h("h3", {}, title), list, more];
    });
    const entry = (draft) => {
      const words = said(draft);
      const end = h("button", { type: "button", class: "plain", "aria-label": `${t.remove}: ${words}`, on: { click: async () => {
        if (!(await confirmed(t.removeQuestion(words), t.remove))) return;
        try {
          await remove(`/api/drafts/${draft.id}`);
          item.remove();
        } catch (problem) {
          fill(item, h("p", { class: "problem", role: "alert" }, problem.message));
        }
      } } }, icon("close"));
      const item = h("li", {},
        h("button", { type: "button", class: "chosen", on: { click: () => { chosen = draft; dialog.close(); } } },
          h("span", {}, h("strong", {}, words), h("small", {}, t.changed(draft.editor ?? texts.sent.removedUser), " ", time(draft.updated)))), end);
      return item;
    };
    const close = () => {
      dialog.remove();
      resolve(chosen);
    };
    const dialog = h("dialog", { class: "wide", "aria-labelledby": "drafts-title", on: { close } },
      h("form", { method: "dialog" },
        h("div", { class: "head" }, h("h2", { id: "drafts-title" }, t.title),
          h("button", { class: "plain", "aria-label": texts.close }, icon("close"))), lists));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** What a draft is called: its name, or what it says. */
const said = ({ name, notification: { title, message } }) => name || title || `${message ?? ""}`.slice(0, 80) || t.nameless;
