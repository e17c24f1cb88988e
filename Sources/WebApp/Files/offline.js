// What is kept for when the server is out of reach: the newest 50 notifications, and at most 50 MB of their media.
//
// Everything belongs to one registration: for another one there is nothing here, and what there was is removed.
"use strict";

(() => {
  const most = 50;
  const mostBytes = 50_000_000;
  const work = (mode, act) => Device.transaction("richpush-inbox", "kept", mode, act);

  /** Calls a function with what a request gives. */
  const then = (request, act) => { request.onsuccess = () => act(request.result); };

  /** Begins a change by the device, after what another one has left is removed. `act` gets the store and {key: [bytes, id]}. */
  const begin = async ({ id }, act) => {
    // What was still on its way when the device was signed out must not stay in the browser.
    if ((await Device.load())?.id === id) await work("readwrite", (store) => change(id, store, act));
  };

  function change(id, store, act) {
    then(store.get("owner"), (owner) => {
      if (owner !== id) {
        store.clear();
        store.put(id, "owner");
      }
      then(store.get("sizes"), (sizes = {}) => {
        act(store, sizes);
        store.put(sizes, "sizes");
      });
    });
  }

  const read = async ({ id }, key) => {
    let found;
    await work("readonly", (store) => then(store.get("owner"), (owner) => {
      if (owner === id) then(store.get(key), (value) => { found = value; });
    }));
    return found;
  };

  /** Removes media: of notifications that are older than all that are kept, and the oldest beyond the limit. */
  function shrink(store, sizes, oldest) {
    let bytes = Object.values(sizes).reduce((sum, [size]) => sum + size, 0);
    for (const [key, [size, id]] of Object.entries(sizes).sort(([, a], [, b]) => a[1] - b[1])) {
      if (id >= oldest && bytes <= mostBytes) continue;
      store.delete(key);
      delete sizes[key];
      bytes -= size;
    }
  }

  const keyOf = (id, variant) => `media/${id}/${variant}`;

  globalThis.Offline = {
    /**
     * What a list becomes by the newest page of the inbox: of what is older than the page, everything stays; of what the page
     * could show, only what it shows.
     */
    merged(list, { notifications, next }) {
      const last = next ? notifications.at(-1)?.id ?? Infinity : -1;
      return [...notifications, ...list.filter(({ id }) => id < last)];
    },

    /** Keeps the newest page of the inbox. */
    saveInbox: (device, page) => begin(device, (store, sizes) => then(store.get("inbox"), (kept) => {
      const notifications = Offline.merged(kept?.notifications ?? [], page).slice(0, most);
      store.put({ notifications, unread: page.unread, saved: Date.now() }, "inbox");
      shrink(store, sizes, notifications.at(-1)?.id ?? Infinity);
      store.put(sizes, "sizes");
    })).catch(() => {}),

    /** Changes each kept notification by a function, which gives null for one that goes. */
    change: (device, act, unread) => begin(device, (store) => then(store.get("inbox"), (kept) => {
      if (kept) store.put({ ...kept, notifications: kept.notifications.map(act).filter(Boolean), unread }, "inbox");
    })).catch(() => {}),

    /** {notifications, unread, saved}, or undefined. */
    inbox: (device) => read(device, "inbox").catch(() => undefined),

    /** Keeps what a notification shows; `facts` tell whether it is still the same later. */
    async saveMedia(device, id, variant, facts, width, blob) {
      if (blob.size > mostBytes / 5) return;
      // As bytes: Safari keeps no blobs in private windows.
      const bytes = await blob.arrayBuffer();
      await begin(device, (store, sizes) => {
        store.put({ bytes, type: blob.type, width, facts: JSON.stringify(facts ?? null) }, keyOf(id, variant));
        sizes[keyOf(id, variant)] = [blob.size, id];
        shrink(store, sizes, -1);
      }).catch(() => {});
    },

    /** The kept blob, if it is of this content and at least so wide; or undefined. */
    async media(device, id, variant, facts, width) {
      const kept = await read(device, keyOf(id, variant)).catch(() => undefined);
      return kept && kept.facts === JSON.stringify(facts ?? null) && kept.width >= width ? new Blob([kept.bytes], { type: kept.type }) : undefined;
    },
  };
})();
