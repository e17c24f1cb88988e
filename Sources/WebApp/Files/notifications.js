// Pushes on this device: whether they are on, what stands in their way, and turning them on and off.
import { hasPush, needsHomeScreen } from "./platform.js";
import { language } from "./app-texts.js";

/** What can be said of the device with every registration of a subscription. */
const facts = () => ({ language, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone });

const within = (seconds, work, otherwise) => Promise.race([work, new Promise((done) => setTimeout(done, seconds * 1000, otherwise))]);

/** The registration of the app's worker; undefined where there are no workers. */
export async function worker() {
  if (!("serviceWorker" in navigator)) return undefined;
  await navigator.serviceWorker.register("worker.js", { updateViaCache: "none" });
  return within(15, navigator.serviceWorker.ready, undefined);
}

/**
 * What is to be said about pushes here.
 *
 * `insecure`: the page is not on https; `install`: an iPhone needs the app on its Home Screen; `unsupported`; `off` by the
 * server; `ask`: nobody was asked yet; `denied`: the browser was told no; `taken`: it had allowed them and does not any more;
 * `unreachable`: its push service is; `paused`: the user has turned them off here; `refused` by the server, with its reason;
 * `on`.
 */
export async function state({ app, device }) {
  if (!device) return { name: "ask" };
  if (needsHomeScreen) return { name: "install" };
  if (!isSecureContext) return { name: "insecure" };
  if (!hasPush) return { name: "unsupported" };
  if (app.vapidKey === null) return { name: "off" };
  if (device.pushes === "paused") return { name: "paused" };
  if (Notification.permission === "denied") return { name: device.pushes === "on" ? "taken" : "denied" };
  if (Notification.permission === "default") return { name: device.pushes === "on" ? "taken" : "ask" };
  if (device.pushProblem) return { name: device.pushProblem.code === "push-service" ? "unreachable" : "refused", reason: device.pushProblem.message };
  return { name: device.pushes === "on" ? "on" : "ask" };
}

/** Asks for permission, if it must, subscribes, and tells the server. Called by a button: browsers ask only then. */
export async function turnOn(context) {
  if (Notification.permission !== "granted" && await Notification.requestPermission() !== "granted") return;
  await subscribe(context);
}

/** Subscribes again where pushes are on, because the browser may have replaced the subscription, or /push/ had it. */
export async function keepOn(context) {
  const old = await earlierWorker();
  // Nothing reaches it, and nothing is lost with it.
  if (old && !await old.pushManager?.getSubscription()) await old.unregister();
  const isWanted = context.device?.pushes === "on" || (context.device && context.device.pushes === undefined && await old?.pushManager.getSubscription());
  if (isWanted && hasPush && Notification.permission === "granted") await subscribe(context, old).catch(() => {});
}

async function subscribe(context, old) {
  const { client, app, device } = context;
  let problem;
  try {
    const registration = await worker();
    const answer = await client.registerBrowser(registration, device.id, { key: app.vapidKey ?? undefined, ...facts() });
    if (!answer.deliverable) problem = { message: answer.reason };
    // Only now, so that no push is lost between the two.
    await (await old?.pushManager.getSubscription())?.unsubscribe();
    await old?.unregister();
  } catch (thrown) {
    if (thrown.status === 401) return context.signedOut("ended");
    problem = { message: thrown.message, code: thrown.name === "AbortError" ? "push-service" : thrown.code };
  }
  // It may have been signed out meanwhile.
  if (context.device !== device) return;
  await context.setDevice({ pushes: "on", pushProblem: problem });
  if (problem) throw Object.assign(new Error(problem.message), problem);
}

/** The worker of the page /push/, if this browser has it. */
async function earlierWorker() {
  const scope = new URL("../push/", document.baseURI).href;
  return (await ownWorkers()).find((one) => one.scope === scope);
}

/** Turns pushes off in this browser; the device stays signed in. */
export async function turnOff(context) {
  await unsubscribe();
  // Otherwise its push service would call the subscription gone, and the registration would end with it.
  await context.client.update(context.device.id, { platform: null }).catch(() => {});
  await context.setDevice({ pushes: "paused", pushProblem: undefined });
}

/** The registrations of this server's workers: below another path, the same host may have pages of others. */
export async function ownWorkers() {
  const all = await navigator.serviceWorker?.getRegistrations().catch(() => []) ?? [];
  return all.filter(({ scope }) => scope.startsWith(Device.server()));
}

/** Ends the subscriptions of this browser. */
export async function unsubscribe() {
  for (const registration of await ownWorkers()) {
    const subscription = await registration.pushManager?.getSubscription().catch(() => null);
    await within(10, subscription?.unsubscribe()?.catch(() => {}));
  }
}
