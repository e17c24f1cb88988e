// The buttons of a notification: what is on each, and what it does.
import { fill, h, icon } from "./dom.js";
import { field } from "./fields.js";
import { texts } from "./texts.js";

const t = texts.actions;
const most = 4;

/** The fields; `changed` is called when something was entered. */
export function actionFields(changed) {
  let rows = [];
  const list = h("div", { class: "buttons" });
  const add = h("button", { type: "button", on: { click: () => {
    rows.push(row({}));
    show();
    rows.at(-1).label.control.focus();
    changed();
  } } }, t.add);
  const all = field(add);

  function row({ id, label = "", kind = "link", value = "", destructive = false }) {
    const fields = {
      id,
      // Another label is another button.
      label: field(h("input", { type: "text", value: label, on: { input: () => { fields.id = undefined; changed(); } } })),
      kind: field(h("select", { on: { change: () => { show(); changed(); } } }, Object.keys(t.kinds).map((kind) => h("option", { value: kind }, t.kinds[kind])))),
      value: field(h("input", { type: "text", value, on: { input: changed } })),
      destructive: h("input", { type: "checkbox", checked: destructive, on: { change: changed } }),
    };
    fields.kind.control.value = kind;
    const remove = h("button", { type: "button", class: "plain", on: { click: () => {
      rows = rows.filter((other) => other !== fields);
      show();
      add.focus();
      changed();
    } } }, icon("close"));
    const prompt = h("span");
    const entered = h("div", { class: "field" }, h("label", {}, prompt, fields.value.control), fields.value.words);
    const element = h("div", { role: "group" },
      h("div", { class: "field" }, h("label", {}, t.label, fields.label.control), fields.label.words), remove,
      h("div", { class: "field" }, h("label", {}, t.kind, fields.kind.control), fields.kind.words), entered,
      h("label", { class: "check" }, fields.destructive, t.destructive));
    return Object.assign(fields, { element, place(index) {
      element.setAttribute("aria-label", t.button(index + 1));
      remove.setAttribute("aria-label", `${texts.remove}: ${t.button(index + 1)}`);
      const kind = fields.kind.control.value;
      entered.hidden = !t.prompts[kind];
      prompt.textContent = t.prompts[kind] ?? "";
      fields.value.control.placeholder = kind === "link" ? "https://" : "";
    } });
  }

  function show() {
    rows.forEach((row, index) => row.place(index));
    // A button keeps the focus and what is typed in it.
    if (rows.some(({ element }, index) => list.children[index] !== element) || list.children.length !== rows.length) fill(list, rows.map(({ element }) => element));
    add.disabled = rows.length >= most;
  }

  return {
    element: h("fieldset", {}, h("legend", {}, t.title), list, add, all.words),
    /** The fields by the names of the API's members. */
    get fields() {
      return Object.assign({}, ...rows.map((row, index) => {
        const kind = row.kind.control.value;
        return { [`actions.${index}.label`]: row.label, [`actions.${index}`]: row.kind, ...(t.prompts[kind] && { [`actions.${index}.${kind}`]: row.value }) };
      }), { actions: all });
    },
    /** What is missing, by field. */
    get missing() {
      return Object.assign({}, ...rows.map((row, index) => {
        const kind = row.kind.control.value;
        return {
          ...(!row.label.control.value.trim() && { [`actions.${index}.label`]: t.missing.label }),
          ...(t.missing[kind] && !row.value.control.value.trim() && { [`actions.${index}.${kind}`]: t.missing[kind] }),
        };
      }));
    },
    /** What was entered, to be kept. */
    get kept() {
      return rows.map((row) => ({ id: row.id, label: row.label.control.value, kind: row.kind.control.value, value: row.value.control.value, destructive: row.destructive.checked }));
    },
    set kept(kept) {
      rows = kept.map(row);
      show();
    },
    /** The buttons as the API takes them; undefined without any. */
    get value() {
      const ids = new Set();
      return rows.length ? this.kept.map(({ id, label, kind, value, destructive }, index) => ({
        id: unique(id ?? identifier(label, index), ids), label: label.trim() || t.button(index + 1),
        ...(t.prompts[kind] && value.trim() && { [kind]: value.trim() }), ...(kind === "dismiss" && { dismiss: true }),
        ...(destructive && { destructive }),
      })) : undefined;
    },
  };
}

/** A button of the API, as it is entered. */
export const enteredAction = ({ id, label, link, input, dismiss, destructive }) =>
  ({ id, label, kind: link !== undefined ? "link" : input !== undefined ? "input" : dismiss ? "dismiss" : "event", value: link ?? input ?? "", destructive });

const longestID = 32;

/** An ID that says what the label says: “Más tarde” is mas-tarde. */
const identifier = (label, index) =>
  label.normalize("NFKD").toLowerCase().replace(/\p{M}/gu, "").replace(/[^a-z0-9]+/g, "-").slice(0, longestID).replace(/^-+|-+$/g, "") || `button-${index + 1}`;

function unique(id, taken) {
  let [found, turn] = [id, 1];
  while (taken.has(found)) {
    turn += 1;
    found = `${id.slice(0, longestID - 2)}-${turn}`;
  }
  taken.add(found);
  return found;
}
