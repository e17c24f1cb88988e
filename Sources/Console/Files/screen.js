// What all screens have in common.
import { fill, h } from "./dom.js";
import { texts } from "./texts.js";

/** Says something to a screen reader, and shows it for a moment. */
export function say(text, isProblem = false) {
  const toast = document.querySelector(".toast") ?? h("div", { class: "toast", role: "status" });
  // Behind a dialog nothing is seen or heard.
  const host = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  if (toast.parentNode !== host) host.append(toast);
  toast.classList.toggle("bad", isProblem);
  fill(toast, text);
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => toast.replaceChildren(), 6000);
}

/** Does something for a button, once at a time, and says what went wrong. */
export async function attempt(button, action) {
  const hadFocus = document.activeElement === button;
  button.disabled = true;
  try {
    return await action();
  } catch (problem) {
    say(problem.message, true);
  } finally {
    button.disabled = false;
    // A disabled button loses it.
    if (hadFocus && document.activeElement === document.body) button.focus();
  }
}

/** A screen: a heading, what can be done, and what `load` returns. */
export class Screen extends HTMLElement {
  connectedCallback() {
    this.load().catch((problem) => this.fail(problem));
  }

  /** Shows the screen when the server is back that was away when it was loaded. */
  loadAgainWhenBack() {
    addEventListener("server-back", () => {
      if (!this.isConnected) return;
      this.disconnectedCallback?.();
      this.replaceChildren();
      this.connectedCallback();
    }, { once: true });
  }

  /** The heading with its buttons, and the content below. */
  frame(title, actions, ...content) {
    return fill(this, h("div", { class: "head" }, h("h1", {}, title), h("div", { class: "actions" }, actions)), content);
  }

  fail(problem) {
    this.append(h("p", { class: "problem", role: "alert" }, problem.message));
    if (problem.status === 0) this.loadAgainWhenBack();
  }

  say(text, isProblem) {
    say(text, isProblem);
  }

  attempt(button, action) {
    return attempt(button, action);
  }
}

/**
 * Asks before something is lost; resolves to whether it may be done.
 *
 * In every dialog what ends it without a change comes first, and what it is for last.
 */
export function confirmed(question, verb) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { class: "small", "aria-label": question, on: { close } },
      h("form", { method: "dialog" },
        h("p", {}, question),
        h("div", { class: "actions" },
          h("button", { value: "", autofocus: true }, texts.cancel),
          h("button", { class: "danger", value: "yes" }, verb))));
    function close() {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    }
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** A state by symbol, word and colour. */
export function state(name, symbol) {
  return h("span", { class: "state", data: { state: name } }, symbol, texts.states[name] ?? name);
}

/** A table that scrolls by itself where it is too wide. */
export function table(caption, columns, rows, empty) {
  if (!rows.length) return h("p", { class: "quiet empty" }, empty);
  return h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": caption },
    h("table", {},
      h("caption", { class: "hidden" }, caption),
      h("thead", {}, h("tr", {}, columns.map((column) => h("th", { scope: "col" }, column)))),
      h("tbody", {}, rows.map((row) => tableRow(columns, row)))));
}

/** A row of a table; each cell knows its column, which narrow screens show beside it. */
export const tableRow = (columns, row, properties = {}) =>
  h("tr", properties, row.map((cell, index) => h("td", { data: { column: columns[index] } },
    // On narrow screens what is in a cell stands beside its column's name, as one.
    Array.isArray(cell) ? h("div", {}, cell) : cell)));
