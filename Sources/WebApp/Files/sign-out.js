// Signing out: nothing of the user stays in this browser.
import { ownWorkers, unsubscribe } from "./notifications.js";

/**
 * Removes everything of a device from this browser, and its registration from the server; false if the server could not be told.
 *
 * With `isEnded` the server knows already.
 */
export async function signOut({ client, device, tellOthers, isEnded }) {
  // The order: no push may come for what is about to go, and the worker must find nothing to show.
  await unsubscribe();
  const isTold = isEnded || await client.unregister(device.id).then(() => true, (problem) => problem.status === 401);
  for (const registration of await ownWorkers()) {
    for (const notification of await registration.getNotifications().catch(() => [])) notification.close();
  }
  await navigator.clearAppBadge?.().catch(() => {});
  await Device.forget();
  for (const name of await globalThis.caches?.keys() ?? []) if (!name.startsWith("shell-")) await caches.delete(name);
  try {
    localStorage.removeItem("hints");
    sessionStorage.clear();
  } catch {}
  tellOthers({ type: "signed-out" });
  return isTold;
}
