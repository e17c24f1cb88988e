// Says while the server does not respond, and when it is back.
import { address } from "./api.js";
import { h } from "./dom.js";
import { texts } from "./texts.js";

const period = 3000;
let banner;
let timer;

/** Watches for requests that fail; calls a function once the server is back. */
export function watchServer(back) {
  addEventListener("server-away", () => {
    if (banner) return;
    banner = h("p", { class: "away", role: "alert" }, texts.away);
    document.body.prepend(banner);
    timer = setInterval(async () => {
      const response = await fetch(address("/healthz"), { cache: "no-store" }).catch(() => null);
      if (!response?.ok || !banner) return;
      clearInterval(timer);
      banner.remove();
      banner = undefined;
      back();
    }, period);
  });
}
