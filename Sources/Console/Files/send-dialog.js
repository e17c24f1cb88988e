// Asks before a notification is sent: what, to whom, and when.
import { h, icon } from "./dom.js";
import { clockTime, exactTime, fieldTime, number } from "./format.js";
import { mediaView } from "./media-view.js";
import { factsList, saidRows } from "./said.js";
import { memberLabel, texts } from "./texts.js";

const t = texts.sendDialog;

/**
 * Resolves to whether it may be sent.
 *
 * `content` is an asset, a link or null, `filled` the rows of what was filled in instead, `message` what it says as the API takes it,
 * `counted` the numbers of users and devices, `skipped` who of them is left out for want of a value, if anybody is, `times` when they get
 * it, if not all at once.
 */
export function confirmSending({ content, filled = [], message, skipped, recipients, counted, notBefore, times, expires, verb }) {
  return new Promise((resolve) => {
    const rows = [
      [memberLabel("title"), message.title], ...saidRows({ ...message, message: message.message.trim() }),
      ...filled,
      [t.recipients, recipients],
      [t.skipped, skipped && t.without(skipped.count, skipped.users.map(({ username, placeholder }) => `${username} ({{${placeholder}}})`))],
      [t.time, message.localTime ? `${clockTime(message.localTime.at)} ${t.local}` : notBefore ? exactTime(notBefore) : t.now],
      [t.first, times && exactTime(new Date(times.first))], [t.last, times && exactTime(new Date(times.last))],
      [texts.compose.perMinute, message.perMinute && number(message.perMinute)],
      [t.passed, times?.passed && number(times.passed)],
      [t.expires, expires && exactTime(expires)],
    ];
    const dialog = h("dialog", { class: "small", "aria-labelledby": "send-title", on: { close } },
      h("form", { method: "dialog" },
        h("h2", { id: "send-title" }, (notBefore ? t.schedule : t.send)(counted.users, counted.devices)),
        content && h("div", { class: "sending" }, h("span", { class: "picture" }, mediaView(content)), h("strong", {}, content.name ?? content.url)),
        factsList(rows),
        quietUntil(counted.quietHours, message) && h("p", { class: "ended" }, t.quiet(quietUntil(counted.quietHours, message))),
        counted.needsApproval && h("p", { class: "ended" }, texts.approvals.needed),
        h("div", { class: "actions" },
          h("button", { value: "" }, texts.cancel),
          h("button", { class: "main", value: "yes" }, icon("sent"), verb))));
    function close() {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    }
    document.body.append(dialog);
    dialog.showModal();
    // What has the focus is at its end.
    dialog.scrollTop = 0;
  });
}

/** When the quiet hours end in which a notification would be pushed, by the clock of each device; "" if it is in none. */
export function quietUntil(hours, { notBefore, localTime, importance }) {
  if (!hours || importance === "urgent") return "";
  const { from, until } = hours;
  const clock = (localTime?.at ?? fieldTime(notBefore ?? new Date().toISOString())).slice(11, 16);
  const isQuiet = from < until ? from <= clock && clock < until : from <= clock || clock < until;
  return isQuiet ? until : "";
}
