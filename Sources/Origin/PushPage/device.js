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
const forget = () => transaction("readwrite", store => store.clear());

/// The value of Authorization for a name and a password, in UTF-8.
const basic = (name, password) =>
  "Basic " + btoa(String.fromCharCode(...new TextEncoder().encode(name + ":" + password)));
const bearer = device => "Bearer " + device.token;

/// A request to the API; throws the server's sentence if it is refused.
async function call(authorization, method, path, body) {
  const response = await fetch(new URL("api/" + path, root), {
    method, credentials: "omit", cache: "no-store",
    body: body && JSON.stringify(body),
    headers: { Authorization: authorization, Accept: "application/json, */*;q=0.5" },
  });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw Object.assign(new Error(problem.detail ?? "The server answered " + response.status + "."),
    { status: response.status });
}

/// The media of a notification as a picture for browsers; the fetch is the device's receipt.
const media = (device, id) =>
  call(bearer(device), "GET", `notifications/${id}?profile=web`).then(response => response.blob());

const markRead = (device, id) => call(bearer(device), "PUT", `notifications/${id}/read`);

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
  // Firefox may never answer the first request of a new profile.
  subscription ??= await Promise.race([ask(), new Promise(done => setTimeout(done, 5000))]);
  subscription ??= await ask();
  const { endpoint, keys } = subscription.toJSON();
  const answer = await call(authorization, "PUT", "register/" + id,
    { platform: "webpush", handle: endpoint, keys });
  return answer.json();
}

const encoded = buffer => btoa(String.fromCharCode(...new Uint8Array(buffer ?? [])))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
