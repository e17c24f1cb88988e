// What is to be said about pushes on this device, with the button that goes with it.
import { attempt, h, icon } from "./dom.js";
import * as notifications from "./notifications.js";
import { platform } from "./platform.js";
import { app as words } from "./app-texts.js";

/** The card. `again` shows it anew after the button; `dismiss`, if it is given, is for who wants to hear no more of it. */
export async function pushCard(context, again, dismiss) {
  const { name, reason } = await notifications.state(context);
  const { title, text, button } = words.pushes[name];
  const isOn = name === "on";
  // Who has told the browser no is asked no more: only its settings help.
  const canPress = button && !(name === "taken" && Notification.permission === "denied");
  const press = canPress && h("button", { type: "button", class: isOn ? "" : "main", on: {
    click: () => attempt(press, () => (isOn ? notifications.turnOff : notifications.turnOn)(context)).then(again),
  } }, button);
  return h("section", { class: "card-note", data: { state: name } }, icon("bell"),
    h("div", { class: "grow" }, h("h2", {}, title), h("p", {}, typeof text === "function" ? text(platform, reason) : text)),
    (press || dismiss) && h("div", { class: "row" }, press, dismiss && h("button", { type: "button", class: "plain", on: { click: dismiss } }, words.notNow)));
}
