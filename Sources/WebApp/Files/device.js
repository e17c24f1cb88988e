// What the page and its worker know of this device: the database "richpush", which the page /push/ has used before.
//
// Of the user only the name is kept. The token has the rights of a device and ends with its registration.
"use strict";

(() => {
  /** Does something with a store of a database, which is made if it is not there. */
  function transaction(name, store, mode, act) {
    return new Promise((resolve, reject) => {
      const opening = indexedDB.open(name, 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore(store);
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const database = opening.result;
        database.onversionchange = () => database.close();
        const work = database.transaction(store, mode);
        const request = act(work.objectStore(store));
        work.oncomplete = () => { database.close(); resolve(request?.result); };
        work.onabort = () => { database.close(); reject(work.error); };
      };
    });
  }

  const get = (key) => transaction("richpush", "device", "readonly", (store) => store.get(key));
  const put = (key, value) => transaction("richpush", "device", "readwrite", (store) => store.put(value, key));

  const Device = {
    transaction,
    /** The device, {id, user, token} and its settings; undefined before it is registered, or if nothing can be stored. */
    load: () => get("this").catch(() => undefined),
    save: (device) => put("this", device),
    /** Changes settings of the device, if it is still this one. */
    async set(id, changes) {
      const device = await Device.load();
      if (device?.id === id) await Device.save({ ...device, ...changes });
    },
    /** The words that the worker needs, in the user's language. */
    words: () => get("words").catch(() => undefined),
    saveWords: (words) => put("words", words).catch(() => {}),
    /** Removes the databases. What still has one open closes it. */
    forget: () => Promise.all(["richpush", "richpush-inbox"].map((name) => new Promise((done) => {
      const removal = indexedDB.deleteDatabase(name);
      removal.onsuccess = removal.onerror = removal.onblocked = done;
    }))),
    /** A client with the device's token; the server is above the folder of the app. */
    client: (device) => new RichPush({ server: Device.server(), token: device?.token }),
    server: () => new URL("../", self.registration?.scope ?? new URL("./", self.location.href)).href,
  };
  globalThis.Device = Device;
})();
