// Who gets a notification: names, or tags and expressions of them, with how many that are.
import { get } from "./api.js";
import { h } from "./dom.js";
import { number } from "./format.js";
import { texts } from "./texts.js";

const t = texts.audience;

/** The field; `changed` is called when the recipients are others. */
export function audienceField(changed) {
  const text = h("input", { type: "text", placeholder: t.placeholders.people, autocapitalize: "none", spellcheck: false, required: true });
  const kind = h("select", { "aria-label": t.kind },
    h("option", { value: "people" }, t.people), h("option", { value: "tags" }, t.tags));
  const hint = h("span", { class: "hint", role: "status" });
  const field = {
    element: h("fieldset", {}, h("legend", {}, t.title),
      h("div", { class: "audience" }, kind, h("label", {}, h("span", { class: "hidden" }, t.title), text)), hint),
    /** The recipients as the API takes them: tags of which one has to match, or one expression. */
    get value() {
      const entered = text.value.trim();
      if (!entered) return [];
      if (kind.value === "people") return words(entered).map((name) => `username:${name}`);
      return /[!&|()]/.test(entered) ? [entered] : words(entered);
    },
    /** The numbers of users and devices now. */
    async count() {
      const counted = await get(`/api/audience?${new URLSearchParams(field.value.map((tag) => ["to", tag]))}`);
      return { ...counted, devices: Object.values(counted.devices).reduce((sum, count) => sum + count, 0) };
    },
  };
  const words = (entered) => entered.split(/[\s,]+/).filter(Boolean);
  let timer;
  const entered = () => {
    text.placeholder = t.placeholders[kind.value];
    clearTimeout(timer);
    timer = setTimeout(tell, 300);
    changed();
  };
  async function tell() {
    const asked = text.value;
    let words = "";
    hint.classList.remove("problem");
    try {
      if (field.value.length) {
        const { users, devices } = await get(`/api/audience?${new URLSearchParams(field.value.map((tag) => ["to", tag]))}`);
        const platforms = Object.entries(devices).filter(([, count]) => count)
          .map(([platform, count]) => `${number(count)} ${texts.platforms[platform] ?? platform}`);
        words = t.count(number(users), platforms);
      }
    } catch (problem) {
      words = problem.message;
      hint.classList.add("problem");
    }
    if (asked === text.value) hint.textContent = words;
  }
  text.addEventListener("input", entered);
  kind.addEventListener("change", entered);
  return field;
}
