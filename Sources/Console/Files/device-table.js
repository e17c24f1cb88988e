// A user's devices, each of which can be ended.
import { get, query, remove } from "./api.js";
import { program } from "./agent.js";
import { h } from "./dom.js";
import { time } from "./format.js";
import { pagedTable } from "./paged-table.js";
import { confirmed } from "./screen.js";
import { texts } from "./texts.js";

const t = texts.account;

/** The table of a list of devices at a path of the API, in a screen; `show()` reads it. */
export function deviceTable(screen, caption, path) {
  const row = (device) => {
    const name = device.name ?? device.registration;
    const end = h("button", { type: "button", "aria-label": `${t.endDevice}: ${name}`, on: { click: async () => {
      if (!(await confirmed(t.endQuestion(name), t.endDevice))) return;
      await screen.attempt(end, async () => {
        await remove(`/api/register/${encodeURIComponent(device.registration)}`);
        await devices.show();
      });
    } } }, t.endDevice);
    return [name, texts.platforms[device.platform] ?? device.platform ?? "–", device.created ? time(device.created) : "–",
      h("span", { title: device.userAgent }, program(device.userAgent)), [time(device.lastContact ?? device.updated), device.ended && h("div", { class: "quiet" }, t.deviceEnded, " ", time(device.ended))], (device.tags ?? []).join(", ") || "–", end];
  };
  const columns = [t.device, t.platform, t.registered, t.program, t.lastContact, texts.people.tags, t.actions];
  const devices = pagedTable(caption, columns, t.noDevices, async (after, limit) => {
    const list = await get(`${path}${query({ after, limit })}`);
    return { rows: list.devices.map(row), next: list.next };
  });
  return devices;
}
