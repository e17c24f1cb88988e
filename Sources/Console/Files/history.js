// What people have changed of a notification.
import { get } from "./api.js";
import { called, contentText } from "./content-types.js";
import { fill, h } from "./dom.js";
import { clockTime, exactTime, number, time } from "./format.js";
import { saidRows } from "./said.js";
import { memberLabel, texts } from "./texts.js";

const t = texts.history;

/** A part of a page with the changes of a notification, the last one first; hidden if there are none. `types` are the kinds of content. */
export function history(path, types) {
  const list = h("ol", { class: "history" });
  const part = h("section", { class: "panel", hidden: true, "aria-label": t.title }, h("h2", {}, t.title), list);
  /** Reads them; `details` is what the notification is now. */
  part.show = async (details) => {
    const { amendments } = await get(`${path}/amendments`);
    let after = details;
    const items = amendments.map(({ editor, time: moment, earlier }) => {
      const before = { ...after, ...Object.fromEntries(Object.entries(earlier).map(([name, value]) => [name, value ?? undefined])) };
      const changes = differences(before, after, types);
      after = before;
      return h("li", {}, h("p", { class: "quiet" }, time(moment), " ", texts.sent.by(editor ?? texts.sent.removedUser)),
        h("dl", { class: "facts-list" }, changes.map(([name, was, is]) => [h("dt", {}, name), h("dd", {}, h("del", {}, was ?? t.nothing), " → ", h("ins", {}, is ?? t.nothing))])));
    });
    fill(list, items);
    part.hidden = !items.length;
  };
  return part;
}

/** The names of what differs, each with what it was and what it is. */
function differences(before, after, types) {
  const now = new Map(rows(after, types));
  return rows(before, types).map(([name, was]) => [name, was, now.get(name)]).filter(([, was, is]) => (was ?? "") !== (is ?? ""));
}

/** What a notification is, in words. */
function rows(notification, types) {
  const { title, richType, payload, notBefore, localTime, perMinute, expires, form } = notification;
  return [
    [memberLabel("title"), title], ...saidRows(notification), [texts.compose.content, richType && `${called(types, richType)}: ${contentText(types, { richType, payload })}`],
    [texts.compose.notBefore, localTime ? `${clockTime(localTime.at)} ${texts.sendDialog.local}` : notBefore && exactTime(new Date(notBefore))],
    [texts.compose.perMinute, perMinute && number(perMinute)], [texts.compose.expires, expires && exactTime(new Date(expires))],
    [texts.compose.form, texts.compose.forms[form] ?? form],
  ];
}
