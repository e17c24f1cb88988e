// A user's devices, each of which can be ended.
import { remove } from "./api.js";
import { h } from "./dom.js";
import { time } from "./format.js";
import { confirmed, table } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.account;

/** The table; `ended` is called after a device was ended for the screen. */
export function deviceTable(screen, caption, devices, ended) {
  const row = (device) => {
    const name = device.name ?? device.registration;
    const end = h("button", { type: "button", "aria-label": `${t.endDevice}: ${name}`, on: { click: async () => {
      if (!(await confirmed(t.endQuestion(name), t.endDevice))) return;
      await screen.attempt(end, async () => {
        await remove(`/api/register/${encodeURIComponent(device.registration)}`);
        await ended();
      });
    } } }, t.endDevice);
    return [name, texts.platforms[device.platform] ?? device.platform ?? "–", device.created ? time(device.created) : "–",
      device.userAgent ?? "–", time(device.lastContact ?? device.updated), (device.tags ?? []).join(", ") || "–", end];
  };
  const columns = [t.device, t.platform, t.registered, t.program, t.lastContact, texts.people.tags, t.actions];
  return table(caption, columns, devices.map(row), t.noDevices);
}
