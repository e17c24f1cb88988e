// Says while the server does not respond, and when it is back.
import { address } from "./api.js";
import { h } from "./dom.js";
import { texts } from "./texts.js";

const period = 3000;
const pause = () => new Promise((done) => setTimeout(done, period));
let isWatching = false;

/** Who is signed in, or null while the server does not respond. */
async function probe() {
  const response = await fetch(address("/api/sign-in"), { cache: "no-store" }).catch(() => null);
  return response?.ok ? response.json().catch(() => null) : null;
}

/**
 * Looks for the server whenever a request or the stream has failed, with a banner while it is away.
 *
 * Then calls `back` with whether somebody is signed in, at most every few seconds.
 */
export function watchServer(back) {
  addEventListener("server-away", async () => {
    if (isWatching) return;
    isWatching = true;
    const banner = h("p", { class: "away", role: "alert" }, texts.away);
    let state;
    while (!(state = await probe())) {
      if (!banner.isConnected) document.body.prepend(banner);
      await pause();
    }
    banner.remove();
    await pause();
    isWatching = false;
    back(state.signedIn);
    dispatchEvent(new Event("server-back"));
  });
}
