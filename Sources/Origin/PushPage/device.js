// What the page and its worker share: the device that this browser is, and its requests.
// Of the user only the name is kept. The token has the rights of a device and ends with its registration.

const root = new URL("../", self.registration?.scope ?? new URL(".", location.href));

function transaction(mode, act) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("richpush", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("device");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      const transaction = database.transaction("device", mode);
      const request = act(transaction.objectStore("device"));
      transaction.oncomplete = () => { database.close(); resolve(request.result); };
      transaction.onabort = () => { database.close(); reject(transaction.error); };
    };
  });
}

/// The device, {id, user, token}; undefined before it is registered.
const load = () => transaction("readonly", store => store.get("this"));
const save = device => transaction("readwrite", store => store.put(device, "this"));
const forget = () => transaction("readwrite", store => store.delete("this"));

/// The ID of a user's registration in this browser: the same after each sign-in, so that there is only one. What is kept
/// for it is a random number, which does not tell who signed in.
async function registrationID(user) {
  let browser = await transaction("readonly", store => store.get("browser"));
  if (!browser) {
    browser = crypto.randomUUID();
    await transaction("readwrite", store => store.put(browser, "browser"));
  }
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${browser} ${user}`));
  return "browser-" + [...new Uint8Array(hash)].slice(0, 16)
    .map(byte => byte.toString(16).padStart(2, "0")).join("");
}

/// Rejects with a sentence unless something is done within some seconds.
function within(seconds, work, sentence) {
  let timer;
  const end = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(sentence)), seconds * 1000);
  });
  return Promise.race([work, end]).finally(() => clearTimeout(timer));
}

/// The value of Authorization for a name and a password, in UTF-8.
const basic = (name, password) =>
  "Basic " + btoa(String.fromCharCode(...new TextEncoder().encode(name + ":" + password)));
const bearer = device => "Bearer " + device.token;

/// A request to the API; throws the server's sentence if it is refused.
async function call(authorization, method, path, body) {
  const response = await within(30, fetch(new URL("api/" + path, root), {
    method, credentials: "omit", cache: "no-store",
    body: body && JSON.stringify(body),
    headers: { Authorization: authorization, Accept: "application/json, */*;q=0.5" },
  }).catch(() => { throw new Error("The server cannot be reached."); }), "The server does not respond.");
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw Object.assign(new Error(problem.detail ?? "The server answered " + response.status + "."),
    { status: response.status });
}

/// The media of a notification as browsers get it; the fetch is the device's receipt.
const media = (device, id, options = "profile=web") =>
  call(bearer(device), "GET", `notifications/${id}?${options}`).then(response => response.blob());

const markRead = (device, id) => call(bearer(device), "PUT", `notifications/${id}/read`);

/// Reports what happened to a notification; tries again for a few seconds if the server is away.
async function report(device, id, interaction) {
  for (const pause of [1, 4, 0]) {
    try {
      return await call(bearer(device), "POST", `notifications/${id}/interactions`, interaction);
    } catch (error) {
      if (!pause || error.status < 500) throw error;
      await new Promise(done => setTimeout(done, pause * 1000));
    }
  }
}

/// How many seconds the browser's push service may take.
const pushServiceTime = 15;

/// Subscribes at the browser's push service, and tells the server where; returns what it says about it.
async function subscribe(registration, authorization, id) {
  const { key } = await (await call(authorization, "GET", "push/vapid")).json();
  let subscription = await registration.pushManager.getSubscription();
  if (subscription && encoded(subscription.options.applicationServerKey) !== key) {
    await subscription.unsubscribe();
    subscription = null;
  }
  const ask = () => registration.pushManager.subscribe(
    { userVisibleOnly: true, applicationServerKey: key });
  // Firefox may never answer the first request of a new profile, and no browser if its service is out of reach.
  subscription ??= await Promise.race([ask(), new Promise(done => setTimeout(done, 5000))]);
  subscription ??= await within(pushServiceTime, ask(),
    "The push service of this browser cannot be reached. The network may block it; try again later.");
  const { endpoint, keys } = subscription.toJSON();
  const answer = await call(authorization, "PUT", "register/" + id,
    {
      platform: "webpush", handle: endpoint, keys, language: navigator.language,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    });
  return answer.json();
}

const encoded = buffer => btoa(String.fromCharCode(...new Uint8Array(buffer ?? [])))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
