// Content that is filled in instead of a file: a choice of its kinds, and the fields of the chosen one.
import { contentTypes, inWords, called, objectOf } from "./content-types.js";
import { fill, h } from "./dom.js";
import { field } from "./fields.js";
import { texts } from "./texts.js";

const t = texts.contentFields;

/** The choice with its fields; `changed` is called when something was entered, `chose` when a kind was chosen. */
export function contentFields(changed, chose) {
  let types = [];
  /** What was entered, by kind and field: another kind loses nothing. */
  let entered = {};
  let rows = {};
  const choice = h("select", { on: { change: () => {
    show();
    if (choice.value) chose();
    changed();
  } } });
  const legend = h("legend");
  const list = h("fieldset", { class: "filled", hidden: true }, legend);
  const element = h("div", { class: "field", hidden: true }, h("label", {}, t.choose, choice), list);

  const chosen = () => types.find(({ richType }) => richType === choice.value);
  const values = () => (entered[choice.value] ??= {});

  /** Shows the fields of the chosen kind, with what was entered. */
  function show() {
    const type = chosen();
    list.hidden = !type;
    rows = {};
    if (!type) return fill(list, legend);
    legend.textContent = called(types, type.richType);
    fill(list, legend, type.form.map((asked) => {
      const own = field(control(asked), `content-${asked.name}`);
      rows[`payload.${asked.name}`] = { ...own, asked };
      const label = inWords(asked.label);
      return asked.kind === "boolean" ? h("div", {}, h("label", { class: "check" }, own.control, label), own.words)
        : h("div", { class: "field" }, h("label", {}, label, !asked.required && h("span", { class: "quiet" }, ` ${t.optional}`), own.control), own.words);
    }));
  }

  function control({ name, kind, choices, example, minimum, maximum }) {
    const value = values()[name];
    const enter = ({ target }) => {
      values()[name] = kind === "boolean" ? target.checked : target.value;
      changed();
    };
    const placeholder = example === null ? "" : `${example}`;
    const on = { input: enter };
    switch (kind) {
      case "boolean": return h("input", { type: "checkbox", checked: value ?? false, on: { change: enter } });
      case "choice": {
        const select = h("select", { on: { change: enter } }, h("option", { value: "" }, t.none),
          choices.map((one) => h("option", { value: one.value }, inWords(one.label))));
        select.value = value ?? "";
        return select;
      }
      case "longtext": return h("textarea", { rows: 3, placeholder, value: value ?? "", on });
      case "number": return h("input", { type: "number", step: "any", min: minimum ?? "", max: maximum ?? "", placeholder, value: value ?? "", on });
      case "date": return h("input", { type: "date", value: value ?? "", on });
      case "url": return h("input", { type: "url", placeholder: placeholder || "https://", spellcheck: false, value: value ?? "", on });
      default: return h("input", { type: "text", placeholder, value: value ?? "", on });
    }
  }

  const isEmpty = ({ asked, control }) => asked.kind !== "boolean" && !control.value.trim() && !control.validity.badInput;

  return {
    element,
    /** Asks the server which kinds there are. */
    async load() {
      types = (await contentTypes(true)).filter(({ form }) => form);
      fill(choice, h("option", { value: "" }, t.nothing), types.map(({ richType }) => h("option", { value: richType }, called(types, richType))));
      element.hidden = !types.length;
    },
    /** Whether there is a kind of content of this name that is filled in. */
    has: (richType) => types.some((type) => type.richType === richType),
    /** Chooses none; what was entered is there again when the kind is chosen again. */
    clear() {
      choice.value = "";
      show();
    },
    /** The fields by the names of the API's members. */
    get fields() { return rows; },
    /** What is wrong before the server is asked, by field; what is missing only if `isTried`. */
    faults(isTried) {
      const faults = {};
      for (const [name, row] of Object.entries(rows)) {
        if (row.control.validity.badInput) faults[name] = row.asked.kind === "date" ? t.incomplete : t.noNumber;
        else if (isTried && row.asked.required && isEmpty(row)) faults[name] = t.missing;
      }
      return faults;
    },
    /** Whether something is missing that has to be there. */
    get isIncomplete() {
      return Object.values(rows).some((row) => row.control.validity.badInput || row.asked.required && isEmpty(row));
    },
    /** What was entered, to be kept. */
    get kept() { return choice.value ? { richType: choice.value, entered: values() } : undefined; },
    set kept(kept) {
      entered = kept ? { [kept.richType]: { ...kept.entered } } : {};
      choice.value = kept?.richType ?? "";
      // Its plugin may be gone.
      if (!chosen()) choice.value = "";
      show();
    },
    /** The content as the API takes it; undefined if none is chosen. */
    get value() {
      const type = chosen();
      if (!type) return undefined;
      const payload = {};
      for (const { name, kind } of type.form) {
        const value = values()[name];
        if (kind === "boolean") payload[name] = value ?? false;
        else if (value?.trim()) payload[name] = kind === "number" ? Number(value) : kind === "longtext" ? value : value.trim();
      }
      return { richType: type.richType, payload };
    },
  };
}

/** A payload of the API, as it is entered; undefined if it was not filled in. */
export function enteredContent({ richType, payload }) {
  const values = objectOf(payload);
  return richType && values && { richType, entered: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === "boolean" ? value : `${value ?? ""}`])) };
}
