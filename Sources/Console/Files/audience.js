// Who gets a notification: names, tags and expressions of them, a segment, or who has opened another one; with how many that are.
import { get } from "./api.js";
import { completeNames, countWords, everybody, labelOf } from "./audience-names.js";
import { h } from "./dom.js";
import { chooseSegment } from "./segments.js";
import { texts } from "./texts.js";

const t = texts.audience;
const words = (entered) => entered.split(/[\s,]+/).filter(Boolean);

/** The field; `changed` is called when the recipients are others, or more is known of them. */
export function audienceField(session, changed) {
  const text = h("input", { type: "text", placeholder: t.placeholders.people, autocapitalize: "none", spellcheck: false });
  const kind = h("select", { "aria-label": t.kind },
    h("option", { value: "people" }, t.people), h("option", { value: "tags" }, t.tags),
    h("option", { value: "everybody" }, t.everybody), h("option", { value: "segment" }, t.segment),
    h("option", { value: "notOpened" }, t.notOpened), h("option", { value: "opened" }, t.opened));
  const segments = h("button", { type: "button", on: { click: async () => {
    const name = await chooseSegment();
    if (name) text.value = name;
    entered();
    text.focus();
  } } }, t.segments);
  const hint = h("span", { class: "hint", role: "status" });
  let timer;
  const field = {
    input: text,
    element: h("fieldset", {}, h("legend", {}, t.title),
      h("div", { class: "audience" }, kind, h("label", {}, h("span", { class: "hidden" }, t.title), text)), completeNames(text, () => kind.value), segments, hint),
    /** The recipients as they were entered. */
    get entered() { return kind.value === "everybody" ? t.everybody : isNamed() && text.value.trim() ? labelOf(named()) : text.value.trim(); },
    /** What is wrong with them, in a sentence; empty as far as is known. */
    problem: "",
    /** The recipients as the API takes them: tags of which one has to match, or one expression. */
    get value() {
      if (kind.value === "everybody") return [everybody];
      const entered = text.value.trim();
      if (!entered) return [];
      if (isNamed()) return [named()];
      if (kind.value === "people") return words(entered).map((name) => `username:${name.replace(/^username:/, "")}`);
      return /[!&|()]/.test(entered) ? [entered] : words(entered);
    },
    /** What was entered, to be kept. */
    get kept() { return { kind: kind.value, text: text.value }; },
    set kept(kept) {
      kind.value = kept?.kind ?? "people";
      text.value = kept?.text ?? "";
      entered();
    },
    /** The numbers of users and devices now; sets the problem. Rejects while the server is away, which is no problem of theirs. */
    async count() {
      clearTimeout(timer);
      const { value } = field;
      if (!value.length) return tell("", "");
      const [asked, askedKind] = [text.value, kind.value];
      try {
        const { users, devices, unknown, needsApproval, quietHours } = await get(`/api/audience?${new URLSearchParams(value.map((tag) => ["to", tag]))}`);
        if (asked !== text.value || askedKind !== kind.value) return undefined;
        const all = Object.values(devices).reduce((sum, count) => sum + count, 0);
        // In the demonstration, a name becomes a user when it is first used.
        const guests = session.demo ? unknown : [];
        const problem =
          unknown.length > guests.length ? t.unknown(unknown)
          : !users && !guests.length ? t.nobody
          : "";
        tell([users || !guests.length ? countWords(users, devices) : "", guests.length ? t.guests(guests) : ""].filter(Boolean).join(" "), problem);
        return { users: users + guests.length, devices: all, needsApproval, quietHours };
      } catch (failure) {
        if (!failure.status) throw failure;
        if (asked === text.value && askedKind === kind.value) tell("", failure.message);
        return undefined;
      }
    },
  };
  const isNamed = () => ["segment", "notOpened", "opened"].includes(kind.value);
  /** What the server calls a segment, or those who have opened a notification, or have not. */
  const named = () => `${kind.value}:${text.value.trim().replace(/^#/, "")}`;
  function entered() {
    segments.hidden = kind.value !== "segment";
    text.closest("label").hidden = kind.value === "everybody";
    text.placeholder = t.placeholders[kind.value] ?? "";
    clearTimeout(timer);
    timer = setTimeout(() => field.count().catch(() => {}), 300);
    field.problem = "";
    changed();
  }
  function tell(counted, problem) {
    field.problem = problem;
    hint.textContent = problem ? "" : counted;
    changed(false);
  }
  text.addEventListener("input", entered);
  kind.addEventListener("change", entered);
  return field;
}
