// What was typed in the form of a notification, kept in this tab until it is sent or its user signs out.
import { isEntered } from "./message-fields.js";
import { confirmed } from "./screen.js";
import { texts } from "./texts.js";

const prefix = "draft:";

/** Keeps the values for a user; null forgets them. */
export function keepDraft(user, values) {
  try {
    if (values) sessionStorage.setItem(prefix + user, JSON.stringify(values));
    else sessionStorage.removeItem(prefix + user);
  } catch {
    // The browser keeps nothing for this page; what was typed is lost on leaving it, as in any form.
  }
}

/** The values that were kept for a user; undefined if there are none. */
export function keptDraft(user) {
  try {
    return JSON.parse(sessionStorage.getItem(prefix + user)) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Whether values may be replaced by others: asks if anything is written. */
export async function mayReplace(values) {
  const isWritten = values?.message || values?.url || values?.content || values?.filled || isEntered(values?.said);
  return !isWritten || confirmed(texts.compose.replaceDraft, texts.compose.replaceDraftVerb);
}

/** Forgets the values of all users but one. */
export function forgetDrafts(exceptOf) {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix) && key !== prefix + exceptOf) sessionStorage.removeItem(key);
  } catch {
    // Nothing was kept.
  }
}
