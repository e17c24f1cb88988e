// What was sent before, to be sent again.
import { get } from "./api.js";
import { everybody } from "./audience-names.js";
import { enteredLanguages } from "./language-tabs.js";
import { enteredMessage } from "./message-fields.js";

/** A notification that was sent, as the values that the screen “Compose” keeps; nothing is sent. */
export async function sentBefore(id) {
  const details = await get(`/api/notifications/${encodeURIComponent(id)}/details`);
  const { message, richType, payload, to, form, badge } = details;
  const isLink = richType === "url" && /^https?:/.test(payload);
  return { message, said: enteredMessage(details), languages: enteredLanguages(details), form, badge, to: entered(to), ...(isLink ? { url: payload } : richType && { content: { richType, name: payload } }) };
}

/** The audience as it is entered. */
function entered(to) {
  if (to.length === 1 && to[0] === everybody) return { kind: "everybody", text: "" };
  const names = to.map((tag) => tag.match(/^username:([^!&|()\s]+)$/)?.[1]);
  return names.every(Boolean) ? { kind: "people", text: names.join(", ") } : { kind: "tags", text: to.join(", ") };
}
