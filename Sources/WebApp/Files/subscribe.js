// Gives any web page a button with which its visitors get notifications, and end them.
//
//   <script src="https://push.example/app/subscribe.js" data-subjects="news" async></script>
//   <button data-richpush>Notify me</button>
//
// The page's own site serves richpush-worker.js, at its root or where data-worker says. Without a button, one is made at the
// script's place. A span in the button is its label. data-on and data-off are its words, data-state its state, for styles. The page
// hears of each change, and of pushes, by the event "richpush" of the document, whose `detail` has `state` and `problem`, or `event`.
"use strict";

(() => {
  const script = document.currentScript;
  const server = new URL("../", script.src).href;
  const workerFile = script.dataset.worker ?? "/richpush-worker.js";
  // The page may have a worker of its own, which one with a scope like its would replace. No page needs to be in this one.
  const scope = new URL("richpush-push/", new URL(workerFile, location.href)).pathname;

  const words = {
    en: {
      off: "Notify me", on: "Turn notifications off", busy: "One moment…",
      denied: "Notifications of this site are blocked. Allow them in your browser’s settings of this site.",
      homeScreen: "On an iPhone or iPad, first add this page to the Home Screen: Share, then “Add to Home Screen”.",
      waiting: "Your notifications begin once they are approved.", isOn: "You will be notified.", isOff: "You will no longer be notified.",
      failed: "This did not work. Try again later.",
    },
    de: {
      off: "Benachrichtigen", on: "Benachrichtigungen beenden", busy: "Einen Moment …",
      denied: "Benachrichtigungen dieser Website sind blockiert. Erlauben Sie sie in den Einstellungen Ihres Browsers für diese Website.",
      homeScreen: "Legen Sie diese Seite auf dem iPhone oder iPad zuerst auf den Home-Bildschirm: „Teilen“, dann „Zum Home-Bildschirm“.",
      waiting: "Ihre Benachrichtigungen beginnen, sobald sie freigegeben sind.", isOn: "Sie werden benachrichtigt.", isOff: "Sie werden nicht mehr benachrichtigt.",
      failed: "Das hat nicht geklappt. Versuchen Sie es später noch einmal.",
    },
  };
  // The page's language comes first, as the button is part of it.
  const language = [document.documentElement.lang, ...navigator.languages].map((tag) => tag.split("-")[0]).find((tag) => Object.hasOwn(words, tag)) ?? "en";
  const say = words[language];

  /** Does something with what this site keeps: {server, registration, user, token, subjects, waiting, endpoint, checked, page}, which its worker reads. */
  function stored(mode, act) {
    return new Promise((resolve, reject) => {
      const opening = indexedDB.open("richpush-button", 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore("device");
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const work = opening.result.transaction("device", mode);
        const request = act(work.objectStore("device"));
        work.oncomplete = () => { opening.result.close(); resolve(request.result); };
        work.onabort = () => { opening.result.close(); reject(work.error); };
      };
    });
  }
  const load = () => stored("readonly", (store) => store.get("this"));
  const save = (device) => stored("readwrite", (store) => store.put(device, "this"));
  const forget = () => stored("readwrite", (store) => store.delete("this"));

  const isApple = /iPhone|iPad|iPod/.test(navigator.userAgent) || navigator.maxTouchPoints > 1 && /Mac/.test(navigator.platform);
  const isSupported = "serviceWorker" in navigator && "PushManager" in self && "Notification" in self;
  const tabs = new BroadcastChannel("richpush-button");
  /** After how long the server is told again where this browser is, though nothing has changed. */
  const day = 86_400_000;
  let state = "busy";
  /** What anybody may know of the server, asked for before the button is pressed: a permission is only asked for in the press. */
  let app;

  const client = (device) => new RichPush({ server, token: device?.token });
  const place = () => ({ language: navigator.language, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone });

  /** The client's script, from beside this one. */
  const loaded = () => new Promise((resolve, reject) => {
    if (globalThis.RichPush) return resolve();
    const element = Object.assign(document.createElement("script"), { src: new URL("client.js", script.src).href, onload: resolve, onerror: () => reject(new Error("client.js was not loaded")) });
    // As the page may read this server's responses, it may also read its scripts.
    if (script.crossOrigin !== null) element.crossOrigin = script.crossOrigin;
    document.head.append(element);
  });

  /** The registration of the worker, once it runs. */
  async function worker() {
    const registration = await navigator.serviceWorker.register(workerFile, { scope });
    const started = registration.active ?? registration.waiting ?? registration.installing;
    if (started.state !== "activated") await new Promise((resolve, reject) => {
      started.addEventListener("statechange", () => {
        if (started.state === "activated") resolve();
        if (started.state === "redundant") reject(new Error(`${workerFile} did not start`));
      });
    });
    return registration;
  }

  /** Asks for the permission, signs this browser up, and keeps its token. */
  async function turnOn() {
    // Another press while the browser asks would sign up twice.
    show("busy");
    if (await Notification.requestPermission() !== "granted") return show(Notification.permission === "denied" ? "denied" : "off");
    const subscription = await RichPush.subscription(await worker(), app.vapidKey);
    const { endpoint, keys } = subscription.toJSON();
    const subjects = script.dataset.subjects?.split(",").map((subject) => subject.trim()).filter(Boolean) ?? app.subjects.map(({ tag }) => tag);
    const { registration, user, token, waiting } = await client().signUp({ subjects, ...place(), webpush: { endpoint, keys } });
    try {
      await save({ server, registration, user, token, subjects, waiting, endpoint, checked: Date.now(), page: location.href });
    } catch (problem) {
      // What could not be kept could not be ended either.
      await client({ token }).unregister(registration).catch(() => {});
      throw problem;
    }
    if (waiting) show("waiting");
    else show("on", say.isOn);
    tabs.postMessage("changed");
  }

  /** Ends the registration, here and at the server. */
  async function turnOff() {
    show("busy");
    const device = await load();
    const registration = await navigator.serviceWorker.getRegistration(scope);
    // Without the subscription no push arrives, whether or not the server is reached.
    await (await registration?.pushManager.getSubscription())?.unsubscribe().catch(() => {});
    if (device) await client(device).unregister(device.registration).catch(() => {});
    await forget();
    for (const notification of await registration?.getNotifications() ?? []) notification.close();
    await registration?.unregister();
    show("off", say.isOff);
    tabs.postMessage("changed");
  }

  /** Whether an operator has approved the sign-up, which gives the device its subjects. */
  async function isApproved(device) {
    const { devices } = await client(device).devices();
    return devices.some(({ tags = [] }) => tags.some((tag) => device.subjects.includes(tag)));
  }

  /** What is so now; a subscription that the browser has replaced or lost is made again. */
  async function start() {
    if (!isSupported) return show(isApple && !navigator.standalone && isSecureContext ? "homeScreen" : "unsupported");
    await loaded();
    const device = await load().catch(() => undefined);
    if (device?.server !== server) {
      app ??= await client().app();
      // The operator has not opened it.
      if (!app.signUp || !app.vapidKey) return show("unsupported", "", new Error("The server does not take sign-ups: richpush serve --sign-up"));
      return show(Notification.permission === "denied" ? "denied" : "off");
    }
    if (Notification.permission === "denied") return show("denied");
    try {
      const registration = await worker();
      const endpoint = (await registration.pushManager.getSubscription())?.endpoint;
      if (endpoint !== device.endpoint || Date.now() - device.checked > day) {
        await client(device).registerBrowser(registration, device.registration, place());
        await save({ ...device, endpoint: (await registration.pushManager.getSubscription()).endpoint, checked: Date.now() });
      }
      if (device.waiting && await isApproved(device)) await save({ ...await load(), waiting: device.waiting = false });
      show(device.waiting ? "waiting" : "on");
    } catch (problem) {
      // Ended elsewhere, by the operator or another tab.
      if ([401, 403, 404].includes(problem.status)) {
        await forget();
        return start();
      }
      show("on", "", problem);
    }
  }

  const buttons = () => document.querySelectorAll("[data-richpush]");

  /** Shows a state on each button, with a sentence beside the first one, and tells the page. */
  function show(now, sentence = say[now === "busy" || now === "on" || now === "off" ? "" : now] ?? "", problem) {
    state = now;
    for (const button of buttons()) {
      const label = button.querySelector("span") ?? button;
      button.dataset.off ??= label.textContent.trim() || say.off;
      button.dataset.state = now;
      button.hidden = now === "unsupported";
      button.disabled = ["busy", "denied", "homeScreen", "unsupported"].includes(now);
      label.textContent = now === "busy" ? say.busy : now === "on" || now === "waiting" ? button.dataset.on ?? say.on : button.dataset.off;
    }
    const status = document.querySelector("[data-richpush-status]") ?? Object.assign(document.createElement("span"), { role: "status", lang: language });
    status.dataset.richpushStatus = "";
    if (!status.isConnected) buttons()[0]?.after(status);
    status.textContent = sentence;
    document.dispatchEvent(new CustomEvent("richpush", { detail: { state, problem } }));
    if (problem) console.warn(problem);
  }

  document.addEventListener("click", ({ target }) => {
    if (!target.closest?.("[data-richpush]") || !["on", "off", "waiting"].includes(state)) return;
    const before = state;
    (before === "off" ? turnOn() : turnOff()).catch((problem) => show(before, say.failed, problem));
  });
  /** Shows what is so now; a button that could do nothing is hidden. */
  const refresh = () => start().catch((problem) => show("unsupported", "", problem));
  navigator.serviceWorker?.addEventListener("message", ({ data }) => {
    if (data?.richpush) document.dispatchEvent(new CustomEvent("richpush", { detail: { state, ...data.richpush } }));
  });
  tabs.addEventListener("message", refresh);

  function begin() {
    if (!buttons().length) {
      const button = Object.assign(document.createElement("button"), { type: "button", lang: language });
      button.dataset.richpush = "";
      if (document.body.contains(script)) script.after(button);
      else document.body.append(button);
    }
    show("busy", "");
    refresh();
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
