// Signs in once, registers this browser as a device, and shows the device's notifications.

const element = id => document.getElementById(id);
const say = text => { element("status").textContent = text; };

async function worker() {
  if (!("serviceWorker" in navigator && "PushManager" in self)) {
    throw new Error("This browser has no Web Push, or the page is not on https.");
  }
  await navigator.serviceWorker.register("worker.js");
  return within(15, navigator.serviceWorker.ready, "This browser does not start the page's worker. Reload the page.");
}

/// Whether this is an iPhone or iPad that shows the page in Safari, where there is no Web Push.
const needsHomeScreen = !("PushManager" in self) && !navigator.standalone
  && (/iPhone|iPad|iPod/.test(navigator.userAgent) || navigator.maxTouchPoints > 1 && /Mac/.test(navigator.platform));

/// The password is used here, for these requests, and kept nowhere.
async function turnOn(name, password) {
  say("Signing in… If the browser asks, allow notifications.");
  if (await Notification.requestPermission() !== "granted") {
    throw new Error("Notifications of this page are not allowed. Allow them in this browser's settings of the page.");
  }
  const registration = await worker();
  const authorization = basic(name, password);
  const id = await registrationID(name);
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
  await within(10, subscription?.unsubscribe(), "").catch(() => {});
  if (device) await call(bearer(device), "DELETE", "register/" + device.id).catch(() => {});
  await forget();
  await registration?.unregister();
  items.clear();
  element("inbox").replaceChildren();
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

/// Shows the notification that the address names, as a browser of Apple opens it without the worker, and marks it as read.
function openNamed() {
  const item = items.get(Number(location.hash.slice(1) || NaN))?.element;
  item?.scrollIntoView({ block: "center" });
  item?.click();
}

function attempt(act) {
  act().catch(error => say(error.message));
}

element("sign-in").addEventListener("submit", event => {
  event.preventDefault();
  const [name, password] = [element("name").value, element("password").value];
  element("password").value = "";
  const button = event.target.querySelector("button");
  button.disabled = true;
  attempt(() => turnOn(name, password).finally(() => { button.disabled = false; }));
});
element("turn-off").addEventListener("click", () => attempt(turnOff));
addEventListener("hashchange", openNamed);
navigator.serviceWorker?.addEventListener("message", ({ data }) => attempt(async () => {
  if (typeof data === "string" && data.startsWith("#reply/")) location.hash = data;
  const device = await load();
  if (device) await list(device);
  if (device) await showReply(device);
}));

attempt(async () => {
  element("iphone").hidden = !needsHomeScreen;
  const device = await load();
  show(device ?? null);
  if (!device && needsHomeScreen) {
    element("sign-in").hidden = true;
    return say("");
  }
  if (!device) return say("Sign in once; this browser then gets your notifications.");
  try {
    // What was sent can be read while the browser's push service is out of reach.
    await list(device);
    openNamed();
    await showReply(device).catch(error => say(error.message));
    // The browser may have replaced the subscription.
    await start(device, await subscribe(await worker(), bearer(device), device.id));
  } catch (error) {
    if (error.status !== 401) throw new Error("This browser may get no pushes now. " + error.message);
    await forget();
    items.clear();
    element("inbox").replaceChildren();
    show(null);
    say("This browser was signed out. Sign in again.");
  }
});
