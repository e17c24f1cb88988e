// Shows each push, as browsers demand, and fetches its media, which is the device's receipt.

importScripts("device.js");

const files = ["./", "style.css", "device.js", "inbox.js", "page.js", "icon.svg"];

self.addEventListener("install", event => event.waitUntil(keep().then(() => self.skipWaiting())));
self.addEventListener("fetch", event => {
  if (event.request.method === "GET" && event.request.url.startsWith(self.registration.scope)) event.respondWith(page(event.request));
});
self.addEventListener("activate", event => event.waitUntil(self.clients.claim()));
self.addEventListener("push", event => event.waitUntil(show(event.data)));
self.addEventListener("notificationclick", event => event.waitUntil(open(event.notification)));
self.addEventListener("pushsubscriptionchange", event => event.waitUntil(renew()));

/// Keeps the page's own files for when the server is out of reach; notifications are not kept.
const keep = () => caches.open("page").then(cache => cache.addAll(files)).catch(() => {});

/// A file of the page as it is now, or as it was kept.
const page = request => fetch(request)
  .catch(async error => { return await caches.match(request) ?? Promise.reject(error); });

async function show(data) {
  let push = {};
  try { push = data?.json() ?? {}; } catch {}
  const options = { tag: push.richId, renotify: push.richId !== undefined, data: push };
  // Chromium shows the picture; Firefox and Safari show the text only.
  if (push.att?.type.startsWith("image/")) options.image = push.att.url;
  const shown = self.registration.showNotification(push.richMessage ?? "New notification", options);
  const device = await load();
  if (device && push.richId !== undefined) await media(device, push.richId).catch(() => {});
  await shown;
  for (const client of await self.clients.matchAll({ includeUncontrolled: true })) {
    client.postMessage("push");
  }
}

async function open(notification) {
  notification.close();
  const id = notification.data?.richId;
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const opened = pages.length > 0 ? pages[0].focus() : self.clients.openWindow(self.registration.scope);
  const device = await load();
  if (device && id !== undefined) await markRead(device, id).catch(() => {});
  await Promise.resolve(opened).catch(() => {});
  for (const page of pages) page.postMessage("read");
}

async function renew() {
  const device = await load();
  if (device) await subscribe(self.registration, bearer(device), device.id);
}
