// The words of the app in English. To translate them, translate this file and name it in languages.js and app-texts.js.

/** The language of numbers and times, where the browser names no region. */
export const language = "en-GB";
const count = (value, one, many = `${one}s`) => `${value} ${value === 1 ? one : many}`;

/** The words of the app. */
export const app = {
  skip: "Skip to the content", loading: "Loading…", close: "Close", cancel: "Cancel", done: "Done", next: "Continue", notNow: "Not now",
  search: "Search", filters: "What is shown",
  worker: { newNotification: "New notification" },
  inbox: {
    title: "Inbox", unread: "Unread", all: "All notifications", one: "Notification", found: (search) => `“${search}”`,
    count: (unread) => `${unread} unread`, readAll: "Mark all read", readAllDone: "Everything is marked as read.",
    empty: "Nothing here yet", emptyHint: "What is sent to you appears here, also while this page is closed.",
    allRead: "All read", allReadHint: "There is nothing that you have not seen.",
    nothingFound: "Nothing found", tryOther: "Try other words, or fewer.", end: "That is everything.",
    fresh: "New notifications", arrived: (added) => `${count(added, "new notification")}.`,
    removed: "Deleted.", undo: "Undo", gone: "This notification is not there any more.", notSaved: "The server cannot be reached. Nothing was changed.",
    away: (saved, isOnline) => `${isOnline ? "The server cannot be reached." : "You are offline."} ${saved ? `This is as of ${saved}.` : "What you see may have changed."}`,
    awayWithNothing: (isOnline) => `${isOnline ? "The server cannot be reached." : "You are offline."} It is tried again by itself.`,
  },
  item: { markRead: "Mark as read", remove: "Delete", untitled: "Notification", more: "Show more", less: "Show less" },
  media: {
    play: (alt) => (alt ? `Play: ${alt}` : "Play the film"), enlarge: (alt) => (alt ? `Enlarge: ${alt}` : "Enlarge the picture"),
    film: "Film", sound: "Sound", picture: "Picture", file: (type) => `Open (${type})`,
    missing: "This content is not available.", offline: "Not available offline.",
  },
  answers: { send: "Send", sent: "Sent", replied: (text) => `You replied: “${text}”` },
  pushes: {
    ask: { title: "Turn on notifications", text: "You then hear of news at once, also while the app is closed. The browser will ask for your permission.", button: "Turn on" },
    on: { title: "Notifications are on", text: "This device shows what is sent to you, also while the app is closed.", button: "Turn off here" },
    paused: { title: "Notifications are off", text: "What is sent to you is in the inbox when you open the app.", button: "Turn on" },
    denied: { title: "Notifications are blocked", text: ({ kind, isInstalled, browser }) => blocked(kind, isInstalled, browser) },
    taken: { title: "Notifications were turned off", text: ({ kind, isInstalled, browser }) => `This device does not allow them any more. ${blocked(kind, isInstalled, browser)}`, button: "Turn on again" },
    unreachable: { title: "The push service cannot be reached", text: ({ browser }) => `${browser} gets its notifications through a service of its maker, which does not answer. The network may block it. The inbox works all the same.`, button: "Try again" },
    refused: { title: "Notifications do not work", text: (_, reason) => reason, button: "Try again" },
    install: { title: "Notifications need the app", text: ({ system }) => `An ${system} shows notifications only of apps on its Home Screen.` },
    insecure: { title: "No notifications on this page", text: "Browsers show notifications only for pages on https." },
    unsupported: { title: "No notifications in this browser", text: "It has no Web Push, or is in private mode. The inbox works all the same." },
    off: { title: "No notifications from this server", text: "It does not send to browsers. The inbox works all the same." },
  },
  install: {
    title: "Put the app on your screen", why: "It then has its own icon and window, and opens without a network.",
    whyIOS: (system) => `On your Home Screen it is an app of its own. Only then does an ${system} show its notifications.`, button: "Install",
    iosShare: "Tap Share {share} at the bottom of Safari, on an iPad at the top.", ios26Share: "Tap the button with three dots beside the address, then Share {share}.",
    iosOtherShare: "Tap Share {share} beside the address.", iosAdd: "Choose “Add to Home Screen” {add}.",
    ios26Add: "Choose “Add to Home Screen” {add}, and leave “Open as Web App” switched on.", iosOpen: (system) => `Open the new icon on your ${system}.`,
    oldIOS: "Notifications need iOS 16.4 or later. Update in Settings › General › Software Update.",
    androidChrome: "Open the browser’s menu ⋮ and choose “Add to Home screen” or “Install app”.", androidFirefox: "Open the menu ⋮ and choose “Install” or “Add to Home screen”.",
    macSafari: "Choose File › Add to Dock.", desktopChrome: "Press the symbol for installing at the right of the address bar.",
  },
  welcome: {
    title: (name) => `Welcome to ${name}`, again: "Sign in again", lead: "Pictures, films, sounds and news, straight to you.",
    reasons: {
      ended: "This device was signed out. Everything of it was removed from this browser.", signedOut: "You are signed out. Nothing of yours is left in this browser.",
      untold: "You are signed out, and nothing of yours is left in this browser. The server could not be told: the device stays in the list until an administrator or another device ends it.",
    },
    demo: "This is a demonstration: any name works, with the same word as password. Try alice and alice.",
    others: "Other ways to sign in",
    link: "This link sets up this device for you. It works once.", linkIOS: (system) => `This link sets up your ${system}. First the app goes on your Home Screen.`,
    setUp: (isPhone) => (isPhone ? "Set up this phone" : "Set up this device"), forward: "Continue",
    forwardTitle: (system) => `Now put the app on your ${system}`, forwardWhy: "The new icon knows who you are. It has to be opened within 15 minutes.",
    replaces: (user) => `This browser is set up for ${user}. That ends when you go on.`,
    codeTitle: "With a code", codeHint: "Eight characters, as they are beside the QR code. A whole link works, too.", code: "Code", useCode: "Use the code",
    passwordTitle: "With name and password", name: "Name", password: "Password", signIn: "Sign in",
    with: (name) => `Sign in with ${name}`, usePassword: "Use a password",
    subjects: "What would you like to hear about?", signUp: "Keep me posted", noSubject: "Choose at least one.", approval: "Somebody looks at each request. You get notifications as soon as it is accepted.",
    earlierTitle: "Is this one of your devices?", earlierHint: "It then keeps its name and its settings.", newDevice: "No, it is a new one",
    problems: {
      401: "The name or the password is wrong.", 404: "There is no such code. Look for characters that were mixed up.", gone: "This code was used, or is too old. Ask for a new one.",
      410: "This code was used, or is too old. Ask for a new one.", 429: "Too many attempts. Wait a few minutes, and try again.", 0: "The server cannot be reached. Try again.",
    },
  },
  waiting: { title: "Your request waits for approval", text: "You get notifications as soon as somebody has accepted it." },
  settings: {
    title: "Settings", saved: "Saved.", away: "The server cannot be reached. Some settings are missing until it is back.",
    device: "This device", name: "Name", nameHint: "You see it in the list of your devices.",
    subjects: "Subjects", subjectsHint: "What this device gets besides what is sent to you in person.",
    quiet: "Quiet hours", quietSwitch: "No notifications at night", from: "From", until: "Until", quietHint: "They come when the quiet hours are over. What is urgent comes at once.",
    here: "In this browser", sound: "Sound", language: "Language", automatic: "As the browser",
    account: "Account", signedInAs: (user) => `Signed in as ${user}`, signOut: "Sign out", signOutTitle: "Sign out of this device?",
    signOutHint: "Notifications end here, and everything that this browser has kept is removed. Your inbox stays on the server.",
  },
  devices: {
    title: "Your devices", thisOne: "This device", unnamed: "Without a name", contact: (when) => `Last contact ${when}`, noContact: "No contact yet", ended: (when) => `Gets no notifications since ${when}`,
    add: "Add another device", addHint: (user) => `A code sets up a phone, tablet or computer for ${user}. Enter your password for it.`, wrongPassword: "The password is wrong.",
    elsewhere: (name) => `Open this page on the other device, and sign in with ${name} there.`,
    scan: "Scan this with the other device", qr: "QR code with the link for the other device", orCode: "Or open this page there and enter:",
    left: (minutes) => `Works once, for another ${count(minutes, "minute")}.`, over: "The code is too old. Close this, and ask for a new one.", share: "Send the link", copy: "Copy the link", copied: "Copied.",
  },
};

function blocked(kind, isInstalled, browser) {
  if (kind === "ios") return "Open Settings › Notifications on the device, choose this app, and allow them.";
  if (kind === "android") return isInstalled ? "Hold the app’s icon, choose App info › Notifications, and allow them." : "Tap the symbol beside the address, then Permissions › Notifications, and allow them.";
  return browser === "Safari" ? "Open Safari › Settings › Websites › Notifications, and allow this page." : "Press the symbol beside the address, and allow notifications for this page.";
}
