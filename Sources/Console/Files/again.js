// What was sent or kept before, as it is entered in the screen “Compose”.
import { get } from "./api.js";
import { everybody } from "./audience-names.js";
import { enteredContent } from "./content-fields.js";
import { fieldTime } from "./format.js";
import { enteredLanguages } from "./language-tabs.js";
import { enteredMessage } from "./message-fields.js";

/** A notification that was sent, as the values that the screen “Compose” keeps; nothing is sent. */
export async function sentBefore(id) {
  const { notBefore, localTime, expires, ...details } = await get(`/api/notifications/${encodeURIComponent(id)}/details`);
  return enteredNotification(details);
}

/** A notification, of which members may be missing, as the values that the screen “Compose” keeps. */
export function enteredNotification(notification) {
  const { message, richType, payload, to, form, badge, notBefore, localTime, perMinute, expires, onMissing } = notification;
  const isLink = richType === "url" && /^https?:/.test(payload);
  const filled = enteredContent(notification);
  return { message, said: enteredMessage(notification), languages: enteredLanguages(notification), form, badge, skip: onMissing === "skip",
    to: to && entered([to].flat()), notBefore: localTime?.at ?? fieldTime(notBefore), local: Boolean(localTime),
    perMinute, expires: fieldTime(expires),
    ...(isLink ? { url: payload } : filled ? { filled } : richType && { content: { richType, name: payload } }) };
}

/** The audience as it is entered. */
function entered(to) {
  if (to.length === 1 && to[0] === everybody) return { kind: "everybody", text: "" };
  const [, kind, text] = (to.length === 1 && to[0].match(/^(segment|opened|notOpened):(.*)$/)) || [];
  if (kind) return { kind, text };
  const names = to.map((tag) => tag.match(/^username:([^!&|()\s]+)$/)?.[1]);
  return names.every(Boolean) ? { kind: "people", text: names.join(", ") } : { kind: "tags", text: to.join(", ") };
}
