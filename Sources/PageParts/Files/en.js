// The words of the console in English. To translate them, translate this file and name it in languages.js and texts.js.

/** The language of numbers and times. */
export const language = "en-GB";
const number = new Intl.NumberFormat(language).format;
const plural = new Intl.PluralRules(language);
/** A number with its word: "1 file", "2 files". */
const count = (value, one, many = `${one}s`) => `${number(value)} ${plural.select(value) === "one" ? one : many}`;
const people = (value) => count(value, "person", "people");
const devices = (value) => count(value, "device");
const list = new Intl.ListFormat(language);
const names = (all) => list.format(all.map((name) => `“${name}”`));

/** The members of a notification, as they are called within a sentence. */
const members = {
  title: "title", subtitle: "subtitle", message: "message", alt: "description of the media", link: "link", actions: "buttons",
  sound: "sound", importance: "importance", relevance: "rank", thread: "conversation", replaces: "what it replaces",
  lockScreen: "locked screen", icon: "icon", colour: "colour", channel: "Android channel", category: "category", data: "data",
  label: "statistics label", language: "language", languages: "other languages", variables: "values for all", apns: "changes for Apple", fcm: "changes for Firebase", webpush: "changes for browsers",
};
const memberNames = (all) => list.format(all.map((name) => members[name] ?? name));

/** A member's name at the beginning of a line. */
export const memberLabel = (name) => (members[name] ?? name).replace(/^./, (letter) => letter.toLocaleUpperCase(language));

/** The console. */
export const texts = {
  navigation: "Console",
  skip: "Skip to the content",
  signOut: "Sign out",
  cancel: "Cancel",
  close: "Close",
  remove: "Remove",
  more: "Show more",
  loading: "Loading…",
  away: "The server does not respond. What you see may have changed; it is asked again every few seconds.",
  noResponse: "The server does not respond.",
  of: (part, whole) => `${part} of ${whole}`,
  screens: {
    catalogue: "Catalogue", compose: "Compose", sent: "Sent", services: "Push services", plugins: "Plugins", people: "People",
    account: "Your account",
  },
  roles: { device: "Device", publisher: "Publisher", admin: "Administrator" },
  languages: {
    summary: "Other languages", label: "Languages", own: "As written above", ownTag: "Language of the texts above", another: "Another language",
    placeholder: "de, pt-BR …", add: "Add", remove: (name) => `Remove ${name}`, button: (label) => `Button “${label}”`,
    nothing: "Write the texts above first.",
  },
  textAlone: "Text",
  richTypes: { img: "Pictures", sound: "Sounds", video: "Videos", url: "Links" },
  profiles: { ios: "iPhone and iPad", android: "Android", watch: "Watch", web: "Browser", thumb: "Thumbnail" },
  platforms: {
    apns: "iOS", gcm: "Android", fcm: "Android", webpush: "Browsers", wns: "Windows", mpns: "Windows Phone", embedded: "Own stream",
  },
  states: {
    ready: "Ready", preparing: "Preparing", refused: "Refused", queued: "Queued", sent: "Sent", displayed: "Displayed", fetched: "Fetched", opened: "Opened", read: "Read",
    failed: "Failed", expired: "Expired", cancelled: "Cancelled", withdrawn: "Withdrawn", scheduled: "Scheduled", held: "Held", running: "Running",
    paused: "Paused", off: "Off", due: "Due", leased: "Being sent", problem: "Problem", warning: "Warning",
  },
  signIn: {
    title: "Sign in", wrong: "The name or the password is wrong.",
    explanation: "Send pictures, sounds, videos and links as push notifications, and see what each phone will show.",
    name: "Name", password: "Password", button: "Sign in",
    demo: "This is a demonstration: sign in as admin with the password admin, or with any other name and the same word as password.",
    ended: "Your session has ended. Sign in again; what you were writing is still there.",
    device: "This account is for devices only. Ask an administrator for the role publisher.",
  },
  catalogue: {
    search: "Search by name", type: "Type", state: "State", everyType: "All types", everyState: "All states",
    upload: "Upload files", drop: "Drop files or folders to upload them",
    shown: (shown, all, more) => (shown === all && !more ? count(all, "file") : `${number(shown)} of ${more ? `${number(all)}+ files` : count(all, "file")}`),
    touchStep: "Choose “Upload files” for a picture, a sound, a video or a link file, or copy it into the folder assets/ of the server.",
    order: "Order", orders: { name: "By name", newest: "Newest first", oldest: "Oldest first" },
    select: "Select", selectNone: "End selection", removeSelected: (files) => (files ? `Remove ${number(files)} selected` : "Remove"),
    removeAllQuestion: (files) => `Remove ${count(files, "file")}? Notifications that were sent with them keep them.`,
    removedAll: (files) => (files === 1 ? "One file was removed." : `${number(files)} files were removed.`),
    nothingFound: (words) => `No file has “${words}” in its name.`, nothingLike: "There is no such file.", showAll: "Show all files",
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
  description: {
    point: "The point that crops keep", hint: "Click it, or use the arrow keys.", centre: "Use the centre", none: "Crops keep the centre.",
    where: (x, y) => `Crops keep ${number(100 * x)} % from the left, ${number(100 * y)} % from the top.`, save: "Save", saved: "Saved.",
  },
  uploads: {
    title: "Uploads", clear: "Clear", waiting: "Waiting", sending: "Sending", checking: "Being checked", done: "Accepted",
    cancelAll: "Cancel all", cancelled: "Cancelled", accepted: (all) => `${count(all, "file")} accepted`,
    refused: (all) => `${count(all, "file")} not accepted`, brokeOff: "The upload broke off.",
  },
  conflict: {
    title: (name) => `“${name}” is there already`, existing: "In the catalogue", uploaded: "To be uploaded",
    hint: "Replacing cannot be undone. Notifications that were sent keep the old content.",
    forAll: "Do the same for the other files of this upload", both: "Keep both", replace: "Replace",
  },
  picker: { title: "Choose a file", none: "No file has this name." },
  compose: {
    content: "Content", optional: "Content, if any", choose: "Choose a file", chooseHint: "or drop one anywhere on this page", touchHint: "from the catalogue or this device", removeContent: "Send it without", orLink: "Send a link as content", url: "Link to send",
    message: "Message", length: (all) => count(all, "character"), sample: "Your message",
    notBefore: "Send at", expires: "Expires at", form: "Form", badge: "Show the number of unread notifications on the app’s icon",
    forms: { "": "As usual", alert: "Alert", silent: "Silent", hybrid: "Alert and silent", legacy: "For older apps" },
    usual: (form, hint) => `For this one “${form}”. ${hint}`,
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
      nothing: "Write a message or a title, or choose a file.",
      url: "A link begins with https:// or http://.",
      message: "Write a message or a title: this form shows it.", length: (all) => `The message is about ${count(all, "character")} too long.`,
      to: "Enter at least one recipient.", incomplete: "Complete the date and the time.",
      notBefore: "This time has passed. Choose a later one, or none to send it now.",
      expires: "This time has passed. Choose a later one, or none.", order: "It would expire before it is sent.",
    },
    previews: "What devices will show", drop: "Drop a file to send it",
    replaceDraft: "Replace what you were writing?", replaceDraftVerb: "Replace it",
  },
  message: {
    more: "More", soundName: "Name of the sound", missingSound: "Enter the name of a sound of your app.",
    noNumber: "Enter a number from 0 to 1.", noObject: "Enter a JSON object, such as {\"order\": \"4711\"}.",
    sounds: { "": "Platform’s own", none: "None", default: "The default sound", named: "One of your app" }, criticalSound: "Although the device is muted",
    importances: { "": "As usual", min: "Lowest: only in the list", low: "Low: without a sound", normal: "Normal", high: "High: interrupts", urgent: "Urgent: cannot wait" },
    lockScreens: { "": "As usual", public: "Shows all", private: "Shows that there is one", secret: "Shows nothing" },
    placeholders: { link: "https://", icon: "https://", colour: "#00aa77", sound: "chime.caf", data: "{\"order\": \"4711\"}", variables: "{\"name\": \"friend\"}",
      apns: "{\"aps\": {\"filter-criteria\": \"work\"}}", fcm: "{\"android\": {\"directBootOk\": true}}", webpush: "{\"notification\": {\"requireInteraction\": true}}" },
    hints: {
      link: "Opens when the notification is tapped.", alt: "For those who do not see the picture or hear the sound.",
      thread: "Notifications of the same conversation are grouped.", replaces: "For its recipients it takes the place of your earlier notification with the same words here.", channel: "One that your Android app has created.",
      category: "One that your iPhone app has registered.", relevance: "From 0 to 1: the higher, the further up.", label: "Notifications with the same one are counted together.",
      data: "For your app, at most 1,024 bytes.", variables: "What {{name}} in the texts stands for where a recipient has no value of that name.", apns: "A JSON merge patch on the push to Apple’s devices.",
      fcm: "A JSON merge patch on the message to Firebase.", webpush: "A JSON merge patch on the push to browsers.",
    },
  },
  actions: {
    title: "Buttons", add: "Add a button", button: (number) => `Button ${number}`, label: "Label", kind: "When it is pressed",
    kinds: { link: "Opens a link", input: "Asks for a text", dismiss: "Closes the notification", event: "Tells you" },
    prompts: { link: "Link", input: "Question" }, destructive: "Shown as one that destroys something",
    missing: { label: "Write what is on the button.", link: "Enter a link.", input: "Enter a question." },
    words: {
      link: (label, link) => `${label} (opens ${link})`, input: (label, question) => `${label} (asks “${question}”)`,
      dismiss: (label) => `${label} (closes it)`, event: (label) => label,
    },
  },
  audience: {
    title: "Recipients", kind: "Kind of recipients", people: "People", tags: "Tags",
    everybody: "Everybody with a device",
    placeholders: { people: "alice, bob", tags: "news && !muted" },
    count: (users, platforms) => `${people(users)}${platforms.length ? `: ${platforms.join(", ")}` : ", without a registered device"}.`,
    unknown: (all) => `There is nobody called ${names(all)}.`, nobody: "Nobody matches this now.",
    guests: (all) => `New: ${names(all)}.`,
  },
  sendDialog: {
    send: (users, all) => `Send now to ${people(users)}${all ? ` on ${devices(all)}` : " without a registered device"}?`,
    schedule: (users, all) => `Schedule for ${people(users)}${all ? ` on ${devices(all)}` : " without a registered device"}?`,
    recipients: "Recipients", time: "When", now: "Now", expires: "Expires",
  },
  previews: {
    empty: "Write a message or choose a file, and this shows what every kind of device will make of it.", app: "YOUR APP", now: "now",
    devices: {
      iosCollapsed: "iPhone, collapsed", iosExpanded: "iPhone, expanded", androidCollapsed: "Android, collapsed",
      androidBig: "Android, big picture", androidText: "Android, expanded", watch: "Watch", browser: "Browser",
    },
    notes: { androidBig: "Android crops the picture to 2:1.", browser: "Chromium shows the picture; Firefox and Safari show the text only.",
      browserText: "Browsers show the text; a click on it leads to the rest." },
    locked: "New notification", unlocked: "Texts and picture are shown once the device is unlocked.", alwaysLocked: "Browsers show no more than this.",
    long: {
      title: (shown, all) => `An iPhone shows about ${shown} of ${count(all, "character")} of the title.`,
      collapsed: (shown, all) => `Android shows about ${shown} of ${count(all, "character")} until it is expanded.`,
      centre: (shown, all) => `The notification centre shows about ${shown} of ${count(all, "character")}.`,
      lockScreen: (shown, all) => `A locked screen shows about ${shown} of ${count(all, "character")}.`,
    },
    dropped: (all) => `Not shown on this platform: ${memberNames(all)}.`, carried: (all) => `Only passed to your app: ${memberNames(all)}.`,
    mediaLimit: "Size of the media", textLimit: "Length of the push", text: (used, most) => `Push: ${used} of ${most} bytes.`,
    cut: "The message is cut here.",
  },
  sent: {
    empty: "Nothing has been sent yet.", nobody: "No recipients yet", noMessage: "Without a message", ofAll: "From everybody",
    search: "Search in messages, files and recipients", nothingFound: (words) => `Nothing that was sent has “${words}”.`,
    found: (count, more) => (count === 1 && !more ? "1 notification" : `${count}${more ? "+" : ""} notifications`),
    again: "Send again…",
    export: "Export", exporting: (all) => `${count(all, "notification")}…`,
    exported: (all, more) => `${all === 1 ? "1 notification was" : `${number(all)} notifications were`} saved${more ? "; older ones are left out" : ""}.`,
    columns: ["Number", "State", "Created", "Due", "Expires", "Sender", "Recipients", "Message", "Type", "Content", "People", "Fetched", "Read",
      "Waiting", "Pushes sent", "Failed", "Title", "Subtitle"],
    to: (names) => `to ${names}`, by: (name) => `by ${name}`, removedUser: "a removed user",
  },
  counts: {
    fetched: (part, whole) => `${part} of ${whole} fetched`, read: (count) => `${count} read`, queued: (count) => `${count} queued`,
    failed: (count) => `${count} failed`, displayed: (part, whole) => `${part} of ${whole} displayed`, opened: (count) => `${count} opened`,
    actions: (count) => `${number(count)} pressed a button`, replies: (count) => count === 1 ? "1 reply" : `${number(count)} replies`,
  },
  notification: {
    amend: "Change", amendHint: "Possible until the first device has fetched it.", amended: "The notification was changed.",
    noContent: "None", noNull: "A change cannot set a member to null, which removes it.",
    wasFetched: "It cannot be changed any more: a device has fetched it. It can be withdrawn, and sent again with another text.",
    fetchedMeanwhile: "A device has fetched it meanwhile, so it cannot be changed any more.",
    pastTime: "This time is past. Choose a later one.",
    replacedBy: (id) => `Notification ${id} has taken its place.`,
    ended: { withdrawn: "Its recipients cannot see it any more.", expired: "Its time is over." },
    withdraw: "Withdraw", withdrawQuestion: "Withdraw this notification? It disappears from every inbox, and pushes that wait are cancelled.",
    held: "Its sender was removed or may not publish any more. It is not sent until an administrator sends it.",
    release: "Send now", releaseQuestion: "Send this notification now?", withdrawn: "The notification was withdrawn.", progress: "Progress", about: "Notification", timeline: "Timeline",
    renditions: "What devices get", recipients: "Recipients", created: "Created", due: "Due", firstSent: "First sent",
    firstFetched: "First fetched", firstDisplayed: "First displayed", firstOpened: "First opened", firstRead: "First read", expires: "Expires", people: "People", person: "Name", state: "State",
    devices: "Devices", nobody: "It has no recipients.", deliveries: "Pushes", service: "Push service",
    attempts: "Attempts", reason: "Reason", noDeliveries: "No push service has to send it. Devices that listen get it at once.",
    actions: "Buttons pressed", replies: "Replies", interactions: "Answers", button: "Button", answer: "Answer", time: "Time",
    noInteractions: "Nobody has pressed a button or replied.",
    notMeasurable: "Not measurable: its devices report neither that it was displayed nor that it was opened.",
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
    pair: "Pair a phone", tokens: "Access tokens", tokensOf: (name) => `Access tokens of ${name}`,
  },
  password: {
    change: "Change the password", hint: "You stay signed in here. Other browsers and your devices have to sign in again.",
    old: "Old password", new: "New password", again: "New password again", differ: "The new passwords are not the same.",
    changed: "The password was changed.",
  },
  account: {
    sessions: "Where you are signed in", browser: "Browser", begun: "Since", used: "Last used", actions: "Actions",
    end: "Sign out there", thisOne: "This browser", nobody: "You are signed in nowhere.",
    devices: "Your devices", device: "Device", platform: "Platform", registered: "Registered", program: "Program", lastContact: "Last contact", deviceEnded: "Stopped receiving on",
    endDevice: "End", endQuestion: (name) => `End ${name}? It gets no pushes until it registers again.`, noDevices: "No device is registered.",
    language: "Language", ofBrowser: "The browser’s language",
    addDevice: "Add a device",
  },
  pairing: {
    title: "Add a device", titleOf: (name) => `Pair a phone for ${name}`,
    qrCode: "QR code of the link", scan: "Point the phone’s camera at the code, and open the link.",
    link: "Or send this link, which works once", copy: "Copy the link", copied: "The link was copied.",
    selected: "The link is selected: copy it with the keyboard.", type: "Or type this in the app:", expires: "Ends",
    used: "This code was used: the device is listed now.", another: "Make another code", open: "Open codes",
    made: "Made", until: "Until", actions: "Actions", revoke: "Revoke",
  },
  accessTokens: {
    title: "Access tokens", add: "Add an access token", addFor: (name) => `Add an access token for ${name}`,
    hint: "A program sends with it instead of a password. It may send only what is chosen here.",
    name: "Name", nameHint: "Letters, digits and -_.@", to: "Only to these tags (empty: to everybody)", toHint: "news, username:alice",
    mayReceipts: "May see who has received, read and answered what", mayAssets: "May upload and remove files", ends: "Ends", rate: "Most notifications a minute",
    noRate: "no limit", days: (count) => `in ${count} days`, never: "Never",
    made: (name) => `The access token ${name}`, once: "Copy it now: it is not shown again.", token: "Token", copy: "Copy the token",
    copied: "The token was copied.", selected: "The token is selected: copy it with the keyboard.",
    may: "May", sendsTo: (tags) => `send to ${tags}`, sendsToAll: "send to everybody", receipts: "see who has read it", assets: "upload files",
    rateOf: (rate) => `${rate} a minute`, until: "Until", expired: "has expired", used: "Last used", unused: "Never", actions: "Actions",
    none: "There is no access token.", removeQuestion: (name) => `Remove ${name}? What sends with it stops at once.`,
  },
  signUps: {
    title: "Waiting for approval", user: "Name", device: "Device", subjects: "Subjects", since: "Since", actions: "Actions",
    approve: "Approve", refuse: "Refuse", refuseQuestion: (name) => `Refuse ${name}? The device has to sign up again.`,
    nobody: "Nobody waits.",
  },
};
