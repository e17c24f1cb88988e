// The app's worker: shows each push, fetches its media, which is the device's receipt, and keeps the app's own files.
"use strict";

importScripts("client.js", "device.js", "offline.js");

// The server puts a hash of the app's files here, so that another build is another worker with another cache.
const shell = "shell-__VERSION__";
const files = ["./", "app.css", "inside.css", "client.js", "device.js", "offline.js", "main.js", "start.js", "inside.js", "inbox.js", "item.js", "media.js", "answers.js", "settings.js",
  "devices.js", "welcome.js", "notifications.js", "push-card.js", "sign-out.js", "platform.js", "install.js", "colour.js", "dates.js", "day-list.js", "dom.js",
  "elements.js", "qr-code.js", "thumb-hash.js", "languages.js", "app-texts.js", "app-en.js", "app-de.js", "icon-192.png"];
// Browsers that have the page /push/ of earlier versions get this worker there. It leads to the app, which takes over from it.
const scope = new URL("../app/", self.registration.scope).href;
const isApp = self.registration.scope === scope;
const addresses = new Set(files.map((file) => new URL(file, scope).href));

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("fetch", answer);
self.addEventListener("push", (event) => event.waitUntil(show(event.data)));
self.addEventListener("notificationclick", (event) => event.waitUntil(open(event.notification, event.action, event.reply)));
self.addEventListener("notificationclose", (event) => event.waitUntil(tell(event.notification, { event: "dismissed" })));
self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renew()));

async function install() {
  if (isApp) await (await caches.open(shell)).addAll([...addresses].map((address) => new Request(address, { cache: "no-cache" })));
  await self.skipWaiting();
}

async function activate() {
  // Of another build, or of the page /push/.
  for (const name of await caches.keys()) if (isApp ? name.startsWith("shell-") && name !== shell : !name.startsWith("shell-")) await caches.delete(name);
  await self.clients.claim();
}

/** The app's own files from the cache; everything else, such as the API and its media, never gets near it. */
function answer(event) {
  const { request } = event;
  const address = new URL(request.url);
  if (!isApp || request.method !== "GET" || address.origin !== self.location.origin) return;
  const isPage = request.mode === "navigate" && address.origin + address.pathname === scope;
  if (!isPage && !addresses.has(request.url)) return;
  event.respondWith(caches.open(shell)
    .then((cache) => cache.match(isPage ? scope : request))
    .then((kept) => kept ?? fetch(request)));
}

// Pushes

/** As many buttons as browsers show. */
const mostActions = 2;

async function show(data) {
  let push = {};
  try { push = data?.json() ?? {}; } catch {}
  const device = await Device.load();
  const words = await Device.words() ?? { newNotification: "New notification" };
  const tag = push.tag ?? (push.richId === undefined ? undefined : `rich-${push.richId}`);
  const options = { tag, renotify: tag !== undefined, data: { ...push, registration: device?.id }, lang: push.lang, dir: "auto",
    ...((push.sound === "none" || device?.sound === false) && { silent: true }) };
  // A browser cannot tell whether the screen is locked. After signing out, what still comes is for somebody who has gone.
  const isPrivate = !device || ["private", "secret"].includes(push.lockScreen);
  const lines = isPrivate ? [] : [push.richTitle, push.richSubtitle, push.richMessage].filter((text) => text?.trim());
  if (!isPrivate) {
    options.body = lines.slice(1).join("\n");
    options.icon = push.icon ?? new URL("icon-192.png", scope).href;
    options.actions = (push.actions ?? []).slice(0, mostActions).map(({ id, label }) => ({ action: id, title: label }));
    // Chromium shows the picture; Firefox and Safari show the text only.
    if (push.att?.type.startsWith("image/")) options.image = push.att.url;
  }
  await present(lines[0] ?? words.newNotification, options, device && push.notification);
  await Promise.all([receive(device, push), tell({ data: options.data }, { event: "displayed" })]);
  await tellPages({ type: "push", id: push.richId });
}

/** Shows one notification, also where the browser would have shown a declared one by itself. A publisher may have changed some options. */
async function present(title, options, { title: otherTitle, body, tag, icon, badge, silent, requireInteraction, renotify, timestamp, vibrate, lang, dir } = {}) {
  const changed = Object.entries({ body, tag, icon, badge, silent, requireInteraction, renotify, timestamp, vibrate, lang, dir })
    // With a vibration, browsers refuse a silent one.
    .filter(([name, value]) => value !== undefined && !(options.silent && ["silent", "vibrate"].includes(name)));
  try {
    await self.registration.showNotification(otherTitle ?? title, { ...options, ...Object.fromEntries(changed) });
  } catch {
    // Some options exclude each other.
    await self.registration.showNotification(title, { body: options.body, data: options.data, tag: options.tag });
  }
}

/** Fetches the media and the newest of the inbox, keeps both for when there is no network, and sets the badge. */
async function receive(device, { richId, richType, richMessage, app_badge: badge }) {
  if (badge !== undefined) await self.navigator.setAppBadge?.(badge).catch(() => {});
  if (!device) return;
  const client = Device.client(device);
  // A push that was too long for its service has the ID alone, whatever there is to fetch.
  const hasMedia = richId !== undefined && (richType !== undefined || richMessage === undefined);
  const [media, page] = await Promise.all([
    hasMedia ? fetchMedia(client, device, richId).catch(() => null) : null,
    client.inbox({ limit: 10 }).catch(() => null),
  ]);
  // Another user may have signed in meanwhile.
  if (!page || (await Device.load())?.id !== device.id) return;
  await Offline.saveInbox(device, page);
  // A push has the ID as a text.
  const { id, details } = page.notifications.find(({ id }) => id === Number(richId)) ?? {};
  if (media && details) await Offline.saveMedia(device, id, media.variant, details, media.width, media.blob);
  if (badge === undefined) await (page.unread ? self.navigator.setAppBadge?.(page.unread) : self.navigator.clearAppBadge?.())?.catch(() => {});
}

/** What the page would show first: a film's poster, because a film is large. */
async function fetchMedia(client, device, id) {
  const width = device.pictureWidth ?? 800;
  const response = await client.media(id, { profile: "web", width }).catch(() => client.media(id, { profile: "web" }));
  if (!/^video\//.test(response.headers.get("Content-Type"))) return { blob: await response.blob(), width, variant: "" };
  await response.body?.cancel();
  return { blob: await (await client.media(id, { view: "poster", width: 640 })).blob(), width, variant: "poster" };
}

/** Reports what happened to a notification, if this is still the device that it was shown for. */
async function tell({ data }, interaction) {
  const device = await owner(data);
  if (device && data.richId !== undefined) await Device.client(device).report(data.richId, interaction).catch(() => {});
}

/** The device, if the notification was shown for it, and not for one that was signed out since. */
async function owner(data) {
  const device = await Device.load();
  return device && (data?.registration ?? device.id) === device.id ? device : undefined;
}

const pages = () => self.clients.matchAll({ type: "window", includeUncontrolled: true })
  .then((all) => all.filter(({ url }) => url.startsWith(scope)));
const tellPages = async (message) => { for (const page of await pages()) page.postMessage(message); };

/** Does what a notification, or one of its buttons, is there for. `reply` is the text where the platform has a field of its own. */
async function open(notification, button, reply) {
  notification.close();
  const data = notification.data ?? {};
  const { richId, actions = [], notification: declared, link } = data;
  const device = await owner(data);
  const action = actions.find(({ id }) => id === button);
  // Only a page can take a text; the other buttons without a link just close the notification.
  const asks = action?.input !== undefined && !reply;
  const leadsOn = !action || action.link !== undefined || asks;
  const target = action ? action.link : declared?.navigate ?? link;
  // Before anything else, while the browser still takes it for the user's wish.
  const opened = leadsOn ? visit(target, asks ? `#reply/${richId}/${action.id}` : richId === undefined || !device ? "" : `#${richId}`) : null;
  if (device && richId !== undefined) {
    if (!action?.dismiss) await Device.client(device).markRead(richId).catch(() => {});
    await tell(notification, !action || asks ? { event: "opened" }
      : reply ? { event: "reply", action: action.id, text: reply } : { event: "action", action: action.id });
  }
  await Promise.resolve(opened).catch(() => {});
  await tellPages({ type: "read", id: richId });
}

/** Opens a link to the web, or this app at a place: in a window of it that is open, if there is one. */
async function visit(link, place) {
  const leadsAway = /^https?:/i.test(link ?? "") && !["./", "../push/"].some((own) => link.startsWith(new URL(own, scope).href));
  if (leadsAway) return self.clients.openWindow(link);
  const [page] = await pages();
  if (!page) return self.clients.openWindow(scope + place);
  page.postMessage({ type: "open", place });
  return page.focus();
}

/** Registers the new subscription when the browser has replaced it. */
async function renew() {
  const device = await Device.load();
  // Who has turned pushes off here keeps them off.
  if (device && device.pushes !== "paused") await Device.client(device).registerBrowser(self.registration, device.id).catch(() => {});
}
