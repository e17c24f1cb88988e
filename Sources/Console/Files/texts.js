// Every word of the console. To translate it, translate this file, with its language, in which numbers and times are.
export const language = "en-GB";
const number = new Intl.NumberFormat(language).format;
/** A number with its word: "1 file", "2 files". */
const count = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;
const people = (value) => count(value, "person", "people");
const devices = (value) => count(value, "device");
const list = new Intl.ListFormat(language);
const names = (all) => list.format(all.map((name) => `“${name}”`));

export const texts = {
  navigation: "Console",
  skip: "Skip to the content",
  signOut: "Sign out",
  cancel: "Cancel",
  close: "Close",
  remove: "Remove",
  more: "Show more",
  loading: "Loading…",
  of: (part, whole) => `${part} of ${whole}`,
  screens: {
    catalogue: "Catalogue", compose: "Compose", sent: "Sent", services: "Push services", plugins: "Plugins", people: "People",
    account: "Your account",
  },
  roles: { device: "Device", publisher: "Publisher", admin: "Administrator" },
  richTypes: { img: "Pictures", sound: "Sounds", video: "Videos", url: "Links" },
  profiles: { ios: "iPhone and iPad", android: "Android", watch: "Watch", web: "Browser", thumb: "Thumbnail" },
  platforms: {
    apns: "iOS", gcm: "Android", fcm: "Android", webpush: "Browsers", wns: "Windows", mpns: "Windows Phone", embedded: "Own stream",
  },
  states: {
    ready: "Ready", preparing: "Preparing", refused: "Refused", queued: "Queued", sent: "Sent", fetched: "Fetched", read: "Read",
    failed: "Failed", expired: "Expired", cancelled: "Cancelled", withdrawn: "Withdrawn", scheduled: "Scheduled", held: "Held", running: "Running",
    paused: "Paused", off: "Off", due: "Due", leased: "Being sent", problem: "Problem",
  },
  signIn: {
    title: "Sign in",
    explanation: "Send pictures, sounds, films and links as push notifications, and see what each phone will show.",
    name: "Name", password: "Password", button: "Sign in",
    ended: "Your session has ended. Sign in again; what you were writing is still there.",
    device: "This account is for devices only. Ask an administrator for the role publisher.",
  },
  catalogue: {
    search: "Search by name", type: "Type", state: "State", everyType: "All types", everyState: "All states",
    upload: "Upload files", drop: "Drop files or folders to upload them",
    shown: (shown, all, more) => (shown === all && !more ? count(all, "file") : `${number(shown)} of ${more ? `${number(all)}+ files` : count(all, "file")}`),
    touchStep: "Choose “Upload files” for a picture, a sound, a video or a link file, or copy it into the folder assets/ of the server.",
    removeQuestion: (name) => `Remove ${name}? Notifications that were sent with it keep it.`,
    removed: (name) => `${name} was removed.`,
    welcome: "There is nothing here yet. Three steps to a first notification:",
    firstSteps: [
      "Drop a picture, a sound, a video or a link file anywhere on this page, or copy it into the folder assets/ of the server.",
      "The file is checked and made ready for every kind of device. If something is wrong with it, you read here what to change.",
      "Open it and choose “Send it”. You see what every phone will show before anything is sent.",
    ],
  },
  asset: {
    compose: "Send it", original: "Download the original", replace: "Replace", profiles: "What each kind of device gets",
    rendition: (name, profile) => `${name} for ${profile}`, noRendition: "There is no version for these devices.",
  },
  uploads: {
    title: "Uploads", clear: "Clear", waiting: "Waiting", sending: "Sending", checking: "Being checked", done: "Accepted",
    cancelAll: "Cancel all", cancelled: "Cancelled", accepted: (all) => `${count(all, "file")} accepted`,
    refused: (all) => `${count(all, "file")} not accepted`,
  },
  conflict: {
    title: (name) => `“${name}” is there already`, existing: "In the catalogue", uploaded: "To be uploaded",
    hint: "Replacing cannot be undone. Notifications that were sent keep the old content.",
    forAll: "Do the same for the other files of this upload", both: "Keep both", replace: "Replace",
  },
  picker: { title: "Choose a file", none: "No file has this name." },
  compose: {
    content: "Content", choose: "Choose a file", chooseHint: "or drop one anywhere on this page", touchHint: "from the catalogue or this device", orLink: "Send a link instead", link: "Link",
    message: "Message", length: (all) => count(all, "character"), sample: "Your message",
    notBefore: "Send at", expires: "Expires at", form: "Form", badge: "Show the number of unread notifications on the app’s icon",
    forms: { alert: "Alert", silent: "Silent", hybrid: "Alert and silent", legacy: "For older apps" },
    formHints: {
      alert: "Shows the message at once; the app’s extension adds the media.",
      silent: "Wakes the app, which decides what to show.",
      hybrid: "For apps with and without an extension.",
      legacy: "For apps that were made after Azure’s “Rich Push” tutorial.",
    },
    send: "Send", schedule: "Schedule", startOver: "Start over", zone: (zone) => `Times are in your time zone (${zone}).`,
    test: "Send to myself only",
    tested: (all, unreached) => `Sent to ${all === 1 ? "your device" : `your ${devices(all)}`}${unreached ? `, of which no push service reaches ${number(unreached)}` : ""}.`,
    testedNowhere: "You have no registered device that would show it. It is only in your own inbox.",
    notSent: (faults) => `Not sent: ${faults === 1 ? "one thing is" : `${number(faults)} things are`} missing or wrong above.`,
    changedMeanwhile: "The recipients could not be counted. Try again.",
    faults: {
      content: "Choose a file or enter a link: a notification with text alone cannot be sent yet.",
      link: "A link begins with https:// or http://.",
      message: "Write a message.", length: (all) => `The message is about ${count(all, "character")} too long.`,
      to: "Enter at least one recipient.", incomplete: "Complete the date and the time.",
      notBefore: "This time has passed. Choose a later one, or none to send it now.",
      expires: "This time has passed. Choose a later one, or none.", order: "It would expire before it is sent.",
    },
    previews: "What devices will show", drop: "Drop a file to send it",
  },
  audience: {
    title: "Recipients", kind: "Kind of recipients", people: "People", tags: "Tags",
    placeholders: { people: "alice, bob", tags: "news && !muted" },
    count: (users, platforms) => `${people(users)}${platforms.length ? `: ${platforms.join(", ")}` : ", without a registered device"}.`,
    unknown: (all) => `There is nobody called ${names(all)}.`, nobody: "Nobody matches this now.",
    guests: (all) => `New: ${names(all)}.`,
  },
  sendDialog: {
    send: (users, all) => `Send now to ${people(users)}${all ? ` on ${devices(all)}` : " without a registered device"}?`,
    schedule: (users, all) => `Schedule for ${people(users)}${all ? ` on ${devices(all)}` : " without a registered device"}?`,
    message: "Message", noMessage: "None", recipients: "Recipients", time: "When", now: "Now", expires: "Expires",
  },
  previews: {
    empty: "Choose a file, and this shows what every kind of device will make of it.", app: "YOUR APP", now: "now",
    devices: {
      iosCollapsed: "iPhone, collapsed", iosExpanded: "iPhone, expanded", androidCollapsed: "Android, collapsed",
      androidBig: "Android, big picture", watch: "Watch", browser: "Browser",
    },
    notes: { androidBig: "Android crops the picture to 2:1.", browser: "Chromium shows the picture; Firefox and Safari show the text only." },
    mediaLimit: "Size of the media", textLimit: "Length of the push", text: (used, most) => `Push: ${used} of ${most} bytes.`,
    cut: "The message is cut here.",
  },
  sent: {
    empty: "Nothing has been sent yet.", nobody: "No recipients yet", noMessage: "Without a message", ofAll: "Of all senders",
    to: (names) => `to ${names}`, by: (name) => `by ${name}`, removedUser: "a removed user",
  },
  notification: {
    amend: "Change the message", amendHint: "Possible until the first device has fetched it.", amended: "The message was changed.",
    withdraw: "Withdraw", withdrawQuestion: "Withdraw this notification? It disappears from every inbox, and pushes that wait are cancelled.",
    held: "Its sender was removed or may not publish any more. It is not sent until an administrator sends it.",
    release: "Send now", releaseQuestion: "Send this notification now?", withdrawn: "The notification was withdrawn.", progress: "Progress", about: "Notification", timeline: "Timeline",
    renditions: "What devices get", recipients: "Recipients", created: "Created", due: "Due", firstSent: "First sent",
    firstFetched: "First fetched", firstRead: "First read", expires: "Expires", people: "People", person: "Name", state: "State",
    fetched: "Fetched", devices: "Devices", nobody: "It has no recipients.", deliveries: "Pushes", service: "Push service",
    attempts: "Attempts", reason: "Reason", noDeliveries: "No push service has to send it. Devices that listen get it at once.",
    everyState: "All states", replay: "Send again", replayed: "It will be sent again.", content: "Content", to: "Recipients", form: "Form", number: "Number",
  },
  services: {
    lanes: "Push services", lane: "Push service", state: "State", queued: "Waiting", oldest: "Oldest waiting", sent: "Sent since the start", failed: "Given up since the start",
    everyLane: "All services", outbox: "Outbox", job: "Push", notification: "Notification", attempts: "Attempts", reason: "Reason",
    actions: "Actions", replay: "Send again", replayAll: "Send all again", cancel: "Cancel", until: "until", resume: "Resume",
    replayQuestion: "Send all pushes again that were given up?",
    readiness: "Readiness", ready: { devices: "Serving devices", publishing: "Storing and sending notifications" },
    noLanes: "No push service is configured. Devices get pushes while they are connected.", noJobs: "There are no such pushes.",
  },
  plugins: {
    sandbox: (level) => `Plugins are isolated at the level “${level}”.`, version: "Version", mode: "Mode", confinement: "Isolation",
    processes: "Processes", calls: "Calls", times: "Duration", lastFailure: "Last failure", output: "The end of its standard error",
    ofProcesses: (busy, idle, most) => `${busy} busy, ${idle} idle, at most ${most}`,
    ofCalls: (calls, failures) => `${calls}, of which ${failures} failed`,
    ofTimes: (median, slowest) => `${median} mostly, 5% take longer than ${slowest}`,
    storage: { database: "Database", blobs: "Content", renditions: "Renditions", free: "Free on the disk" },
  },
  people: {
    name: "Name", role: "Role", devices: "Devices", lastSeen: "Last seen", actions: "Actions", add: "Add a person", change: "Change",
    newPassword: "New password (empty: unchanged)", save: "Save", saved: (name) => `${name} was saved.`, nobody: "Nobody is here.",
    removeQuestion: (name) => `Remove ${name}, with all devices and notifications of this account?`,
    refused: "Refused log-ins", address: "Address", failures: "Failures", until: "Refused until", noneRefused: "No log-in is refused.",
    maxDevices: "Most devices", devicesOf: (name) => `Devices of ${name}`, device: "Device", platform: "Platform", tags: "Tags",
    endTokens: "Sign out everywhere", tokensEnded: (name) => `${name} is signed out everywhere.`,
    endRegistrations: "End the registrations of all devices, too: they get no pushes until they register again",
  },
  account: {
    sessions: "Where you are signed in", browser: "Browser", begun: "Since", used: "Last used", actions: "Actions",
    end: "Sign out there", thisOne: "This browser", nobody: "You are signed in nowhere.",
    devices: "Your devices", device: "Device", platform: "Platform", registered: "Registered", program: "Program", lastContact: "Last contact", deviceEnded: "Gets no pushes since",
    endDevice: "End", endQuestion: (name) => `End ${name}? It gets no pushes until it registers again.`, noDevices: "No device is registered.",
  },
};
