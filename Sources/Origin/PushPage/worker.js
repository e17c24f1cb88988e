// Shows each push, as browsers demand, and fetches its media, if it has any, which is the device's receipt.

importScripts("device.js");

const files = ["./", "style.css", "device.js", "inbox.js", "page.js", "icon.svg"];

self.addEventListener("install", event => event.waitUntil(keep().then(() => self.skipWaiting())));
self.addEventListener("fetch", event => {
  if (event.request.method === "GET" && event.request.url.startsWith(self.registration.scope)) event.respondWith(page(event.request));
});
self.addEventListener("activate", event => event.waitUntil(self.clients.claim()));
self.addEventListener("push", event => event.waitUntil(show(event.data)));
self.addEventListener("notificationclick", event => event.waitUntil(open(event.notification, event.action)));
self.addEventListener("notificationclose", event => event.waitUntil(tell(event.notification, { event: "dismissed" })));
self.addEventListener("pushsubscriptionchange", event => event.waitUntil(renew()));

/// Keeps the page's own files for when the server is out of reach; notifications are not kept.
const keep = () => caches.open("page").then(cache => cache.addAll(files)).catch(() => {});

/// A file of the page as it is now, or as it was kept.
const page = request => fetch(request)
  .catch(async error => { return await caches.match(request) ?? Promise.reject(error); });

/// As many buttons as browsers show.
const mostActions = 2;

async function show(data) {
  let push = {};
  try { push = data?.json() ?? {}; } catch {}
  const { richId, richType, richMessage, sound } = push;
  const tag = push.tag ?? (richId && `rich-${richId}`);
  const options = { tag, renotify: tag !== undefined, data: push, lang: push.lang,
    ...(sound === "none" && { silent: true }) };
  // A browser cannot tell whether the screen is locked.
  const isPrivate = ["private", "secret"].includes(push.lockScreen);
  const lines = isPrivate ? [] : [push.richTitle, push.richSubtitle, richMessage].filter((text) => text?.trim());
  if (!isPrivate) {
    options.body = lines.slice(1).join("\n");
    options.icon = push.icon;
    options.actions = (push.actions ?? []).slice(0, mostActions).map(({ id, label }) => ({ action: id, title: label }));
    // Chromium shows the picture; Firefox and Safari show the text only.
    if (push.att?.type.startsWith("image/")) options.image = push.att.url;
  }
  const shown = present(lines[0] ?? "New notification", options, push.notification);
  // A browser that shows a push by itself leaves the badge to the worker, too.
  if (push.app_badge !== undefined) navigator.setAppBadge?.(push.app_badge).catch(() => {});
  const device = await load();
  // A push that was too long for its service has the ID alone, whatever there is to fetch.
  const hasMedia = richId !== undefined && (richType !== undefined || richMessage === undefined);
  if (device && hasMedia) await media(device, richId).catch(() => {});
  await shown;
  await tell({ data: push }, { event: "displayed" });
  for (const client of await self.clients.matchAll({ includeUncontrolled: true })) {
    client.postMessage("push");
  }
}

/// Shows one notification, also where the browser would have shown a declared one by itself: that is only shown where a
/// worker shows none. A publisher may have changed some of its options.
async function present(title, options, { title: otherTitle, body, tag, icon, badge, silent, requireInteraction, renotify, timestamp, vibrate, lang, dir } = {}) {
  const changed = Object.entries({ body, tag, icon, badge, silent, requireInteraction, renotify, timestamp, vibrate, lang, dir }).filter(([, value]) => value !== undefined);
  try {
    await self.registration.showNotification(otherTitle ?? title, { ...options, ...Object.fromEntries(changed) });
  } catch {
    // Some options exclude each other.
    await self.registration.showNotification(title, options);
  }
}

/// Reports what happened to a notification, if there is somebody to tell.
async function tell({ data }, interaction) {
  const device = await load();
  if (device && data?.richId !== undefined) await report(device, data.richId, interaction).catch(() => {});
}

/// Does what a notification, or one of its buttons, is there for.
async function open(notification, button) {
  notification.close();
  const { richId, actions = [], notification: declared, link } = notification.data ?? {};
  const action = actions.find(({ id }) => id === button);
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  // Only a page could take a text; the other buttons without a link just close the notification.
  const asks = action?.input !== undefined;
  const leadsOn = !action || action.link !== undefined || asks;
  const opened = asks ? ask(`#reply/${richId}/${action.id}`, pages)
    : leadsOn ? visit(action ? action.link : declared?.navigate ?? link, pages) : null;
  const device = await load();
  if (device && richId !== undefined && !action?.dismiss) await markRead(device, richId).catch(() => {});
  await tell(notification, action && !asks ? { event: "action", action: action.id } : { event: "opened" });
  await Promise.resolve(opened).catch(() => {});
  for (const page of pages) page.postMessage("read");
}

/// Opens a link to the web, or this page.
function visit(link, pages) {
  const leadsAway = /^https?:/i.test(link ?? "") && !link.startsWith(self.registration.scope);
  if (leadsAway) return self.clients.openWindow(link);
  return pages.length > 0 ? pages[0].focus() : self.clients.openWindow(self.registration.scope);
}

/// Opens this page at the field for a reply.
async function ask(place, pages) {
  const page = pages.find(({ url }) => url.startsWith(self.registration.scope));
  if (!page) return self.clients.openWindow(self.registration.scope + place);
  page.postMessage(place);
  return page.focus();
}

async function renew() {
  const device = await load();
  if (device) await subscribe(self.registration, bearer(device), device.id);
}
