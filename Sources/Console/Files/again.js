// What was sent before, to be sent again: it fills the form of a new notification.
import { assetPath, get } from "./api.js";
import { everybody } from "./audience-names.js";
import { texts } from "./texts.js";

/** Fills the screen “Compose” with a notification that was sent; nothing is sent. */
export async function fillAgain(compose, id) {
  const { message, richType, payload, to, form, badge } = await get(`/api/notifications/${encodeURIComponent(id)}/details`);
  compose.message.value = message;
  if (form) compose.form.value = form;
  compose.badge.checked = Boolean(badge);
  fillAudience(compose.audience.element, to);
  try {
    compose.content = await get(assetPath({ richType, name: payload }));
  } catch {
    if (richType === "url") {
      compose.link.value = payload;
      compose.linkDetails.open = true;
    }
    else compose.say(texts.sent.contentGone(payload), true);
  }
}

function fillAudience(element, to) {
  const [kind, text] = [element.querySelector("select"), element.querySelector("input")];
  const names = to.map((tag) => tag.match(/^username:(.+)$/)?.[1]);
  kind.value = to.length === 1 && to[0] === everybody ? "everybody" : names.every(Boolean) ? "people" : "tags";
  text.value = kind.value === "people" ? names.join(", ") : kind.value === "tags" ? to.join(", ") : "";
  kind.dispatchEvent(new Event("change"));
}
