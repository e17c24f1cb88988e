// What a notification says, in words.
import { h } from "./dom.js";
import { memberLabel, texts } from "./texts.js";

/** Title and text in a line, to name the notification. */
export const summary = ({ title, message }) => [title, message].filter((text) => text?.trim()).join(": ") || texts.sent.noMessage;

/** What it says beside its title, as the rows of a list: each the name of a member and its value. */
export function saidRows(details) {
  const t = texts.message;
  const { subtitle, message, link, actions, sound, importance, lockScreen, data, ...more } = details;
  const rows = {
    subtitle, message, link, actions: actions?.map(action).join(", "), sound: sound?.critical !== undefined ? t.criticalSound : (t.sounds[sound] ?? sound),
    importance: t.importances[importance], alt: more.alt, lockScreen: t.lockScreens[lockScreen], thread: more.thread, replaces: more.replaces, icon: more.icon,
    colour: more.colour, channel: more.channel, category: more.category, relevance: more.relevance, label: more.label,
  };
  rows.language = more.language;
  for (const [name, value] of Object.entries({ data, languages: more.languages, variables: more.variables, apns: more.apns, fcm: more.fcm, webpush: more.webpush })) rows[name] = value && JSON.stringify(value);
  return Object.entries(rows).map(([name, value]) => [memberLabel(name), value]);
}

/** What a platform does not show by itself, in sentences; none where the server does not tell. */
export const unshown = ({ dropped = [], carried = [] }) =>
  [dropped.length > 0 && texts.previews.dropped(dropped), carried.length > 0 && texts.previews.carried(carried)].filter(Boolean);

/** A list of names with their values; those without one are left out. */
export const factsList = (rows) =>
  h("dl", { class: "facts-list" }, rows.filter(([, value]) => value !== undefined && value !== null && value !== "")
    .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));

function action({ label, link, input, dismiss }) {
  const { words } = texts.actions;
  return link !== undefined ? words.link(label, link) : input !== undefined ? words.input(label, input) : dismiss ? words.dismiss(label) : words.event(label);
}
