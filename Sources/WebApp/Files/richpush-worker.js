// For a site with the button of subscribe.js: copy this file to its root. It shows each push, and does what is asked in it.
//
// A site with a worker of its own may have it import this file, and name the own one in data-worker.
"use strict";

(() => {
  const mostActions = 2;
  const changeable = ["body", "tag", "icon", "badge", "silent", "requireInteraction", "renotify", "timestamp", "vibrate", "lang", "dir"];
  const unnamed = navigator.language.startsWith("de") ? "Neue Benachrichtigung" : "New notification";

  self.addEventListener("install", () => self.skipWaiting());
  self.addEventListener("push", (event) => event.waitUntil(show(event.data)));
  self.addEventListener("notificationclick", (event) => event.waitUntil(open(event.notification, event.action)));
  self.addEventListener("notificationclose", (event) => event.waitUntil(report(event.notification, { event: "dismissed" })));
  self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renew(event)));

  /** What subscribe.js keeps: {server, registration, token, page}; undefined if nobody has turned it on, or storage is lost. */
  function device() {
    return new Promise((resolve) => {
      const opening = indexedDB.open("richpush-button", 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore("device");
      opening.onerror = () => resolve(undefined);
      opening.onsuccess = () => {
        const request = opening.result.transaction("device").objectStore("device").get("this");
        request.onsuccess = () => { opening.result.close(); resolve(request.result); };
        request.onerror = () => { opening.result.close(); resolve(undefined); };
      };
    });
  }

  /** A request to the server with the device's token; null if there is none. */
  async function call(method, path, body) {
    const { server, token } = await device() ?? {};
    return token === undefined ? null : fetch(new URL(`api/${path}`, server), {
      method, credentials: "omit", cache: "no-store", body: body && JSON.stringify(body),
      headers: { Authorization: `Bearer ${token}`, ...(body && { "Content-Type": "application/json" }) },
    });
  }

  async function show(data) {
    let push = {};
    try {
      push = data?.json() ?? {};
    } catch {}
    const { richId, richType, richMessage } = push;
    const tag = push.tag ?? (richId && `rich-${richId}`);
    const options = { tag, renotify: tag !== undefined, data: push, lang: push.lang, ...(push.sound === "none" && { silent: true }) };
    // A browser cannot tell whether the screen is locked.
    const isPrivate = ["private", "secret"].includes(push.lockScreen);
    const lines = isPrivate ? [] : [push.richTitle, push.richSubtitle, richMessage].filter((text) => text?.trim());
    if (!isPrivate) {
      options.body = lines.slice(1).join("\n");
      options.icon = push.icon;
      // A site has no place for a reply.
      options.actions = (push.actions ?? []).filter(({ input }) => input === undefined).slice(0, mostActions)
        .map(({ id, label }) => ({ action: id, title: label }));
      // Chromium shows the picture; Firefox and Safari show the text only.
      if (push.att?.type.startsWith("image/")) options.image = push.att.url;
    }
    // A publisher may have changed some options.
    const changed = Object.entries(push.notification ?? {}).filter(([name]) => changeable.includes(name));
    const shown = self.registration.showNotification(push.notification?.title ?? lines[0] ?? unnamed, { ...options, ...Object.fromEntries(changed) })
      // Some options exclude each other.
      .catch(() => self.registration.showNotification(lines[0] ?? unnamed, options));
    // The fetch is the device's receipt. A push that was too long has the ID alone, whatever there is to fetch.
    if (richId !== undefined && (richType !== undefined || richMessage === undefined)) {
      await call("GET", `notifications/${richId}?profile=web`).then((response) => response?.blob()).catch(() => {});
    }
    await shown;
    await report({ data: push }, { event: "displayed" });
    await tell({ event: "push", id: richId });
  }

  /** Tells the server what happened to a notification. */
  async function report({ data }, interaction) {
    if (data?.richId !== undefined) await call("POST", `notifications/${data.richId}/interactions`, interaction).catch(() => {});
  }

  /** Tells the site's pages. */
  async function tell(richpush) {
    for (const page of await self.clients.matchAll({ type: "window", includeUncontrolled: true })) page.postMessage({ richpush });
  }

  /** Opens the link of a notification or of its button; without one, the page on which it was turned on. */
  async function open(notification, button) {
    notification.close();
    const { richId, actions = [], link, notification: declared } = notification.data ?? {};
    const action = actions.find(({ id }) => id === button);
    const target = action ? action.link : declared?.navigate ?? link ?? (await device())?.page;
    if (/^https?:/i.test(target ?? "")) await self.clients.openWindow(target).catch(() => {});
    if (richId !== undefined && !action?.dismiss) await call("PUT", `notifications/${richId}/read`).catch(() => {});
    await report(notification, action ? { event: "action", action: action.id } : { event: "opened" });
    await tell({ event: "opened", id: richId, action: action?.id });
  }

  /** The browser has replaced the subscription; where it does not tell, subscribe.js finds it when a page is opened. */
  async function renew({ oldSubscription, newSubscription }) {
    const own = await device();
    if (!own) return;
    const key = oldSubscription?.options.applicationServerKey;
    const subscription = newSubscription ?? (key && await self.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }));
    if (!subscription) return;
    const { endpoint, keys } = subscription.toJSON();
    await call("PUT", `register/${encodeURIComponent(own.registration)}`, { platform: "webpush", handle: endpoint, keys });
  }
})();
