// Signs in once, registers this browser as a device, and shows the device's notifications.

const element = id => document.getElementById(id);
const say = text => { element("status").textContent = text; };

async function worker() {
  if (!("serviceWorker" in navigator && "PushManager" in self)) {
    throw new Error("This browser has no Web Push, or the page is not on https.");
  }
  await navigator.serviceWorker.register("worker.js");
  return navigator.serviceWorker.ready;
}

/// The password is used here, for these requests, and kept nowhere.
async function turnOn(name, password) {
  if (await Notification.requestPermission() !== "granted") {
    throw new Error("Notifications of this page are not allowed in this browser.");
  }
  const registration = await worker();
  const authorization = basic(name, password);
  const id = "browser-" + crypto.randomUUID();
  const answer = await subscribe(registration, authorization, id);
  const { token } = await (await call(authorization, "POST", `register/${id}/token`)).json();
  const device = { id, user: name, token };
  await save(device);
  await start(device, answer);
}

async function turnOff() {
  const device = await load();
  const registration = await navigator.serviceWorker.getRegistration();
  const subscription = await registration?.pushManager.getSubscription();
  await subscription?.unsubscribe();
  if (device) await call(bearer(device), "DELETE", "register/" + device.id).catch(() => {});
  await forget();
  await registration?.unregister();
  show(null);
  say("This browser gets no pushes.");
}

function show(device) {
  element("sign-in").hidden = device !== null;
  element("device").hidden = device === null;
}

async function start(device, answer) {
  show(device);
  say(answer.deliverable
    ? `This browser gets the pushes of ${device.user}.`
    : `This browser is registered for ${device.user}, but gets no pushes. ${answer.reason}`);
  await list(device);
}

/// Adds the newest notifications, with their media.
async function list(device) {
  const { notifications } = await (await call(bearer(device), "GET", "notifications?limit=20")).json();
  element("inbox").replaceChildren(...notifications.map(notification => item(device, notification)));
}

function item(device, notification) {
  const item = document.createElement("li");
  const text = document.createElement("p");
  text.textContent = notification.message;
  item.append(text);
  item.classList.toggle("unread", !notification.isRead);
  if (!notification.isRead) {
    item.addEventListener("click", async () => {
      await markRead(device, notification.id).catch(error => say(error.message));
      item.classList.remove("unread");
    }, { once: true });
  }
  media(device, notification.id).then(blob => {
    const shown = player(blob, notification.message);
    if (shown) item.append(shown);
  }).catch(() => {});
  return item;
}

function player(blob, text) {
  const kind = { image: "img", audio: "audio" }[blob.type.split("/")[0]];
  if (!kind || blob.type.startsWith("image/svg")) return null;
  const element = document.createElement(kind);
  if (kind === "img") element.alt = text; else element.controls = true;
  element.onload = element.onloadeddata = () => URL.revokeObjectURL(element.src);
  element.src = URL.createObjectURL(blob);
  return element;
}

function attempt(act) {
  act().catch(error => say(error.message));
}

element("sign-in").addEventListener("submit", event => {
  event.preventDefault();
  const [name, password] = [element("name").value, element("password").value];
  element("password").value = "";
  say("Signing in…");
  attempt(() => turnOn(name, password));
});
element("turn-off").addEventListener("click", () => attempt(turnOff));
navigator.serviceWorker?.addEventListener("message", () => attempt(async () => {
  const device = await load();
  if (device) await list(device);
}));

attempt(async () => {
  const device = await load();
  show(device ?? null);
  if (!device) return say("Sign in once; this browser then gets your notifications.");
  try {
    // The browser may have replaced the subscription.
    await start(device, await subscribe(await worker(), bearer(device), device.id));
  } catch (error) {
    if (error.status !== 401) throw error;
    await forget();
    show(null);
    say("This browser was signed out. Sign in again.");
  }
});
