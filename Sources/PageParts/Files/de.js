// The words of the console in German. To translate them, translate this file and name it in languages.js and texts.js.

export const language = "de";
const number = new Intl.NumberFormat(language).format;
const plural = new Intl.PluralRules(language);
const counted = (value, one, many) => `${number(value)} ${plural.select(value) === "one" ? one : many}`;
const people = (value) => counted(value, "Person", "Personen");
const devices = (value) => counted(value, "Gerät", "Geräte");
const onDevices = (value) => counted(value, "Gerät", "Geräten");
const inFiles = (value) => counted(value, "Datei", "Dateien");
const characters = (value) => counted(value, "Zeichen", "Zeichen");
const notifications = (value) => counted(value, "Benachrichtigung", "Benachrichtigungen");
const list = new Intl.ListFormat(language);
const names = (all) => list.format(all.map((name) => `„${name}“`));

const members = {
  title: "Titel", subtitle: "Untertitel", message: "Nachricht", alt: "Beschreibung des Inhalts", link: "Link", actions: "Tasten",
  sound: "Ton", importance: "Wichtigkeit", relevance: "Rang", thread: "Unterhaltung", replaces: "Ersetzt",
  lockScreen: "Sperrbildschirm", icon: "Symbol", colour: "Farbe", channel: "Android-Kanal", category: "Kategorie", data: "Daten",
  label: "Name in der Statistik", language: "Sprache", languages: "Weitere Sprachen", variables: "Werte für alle", apns: "Änderungen für Apple", fcm: "Änderungen für Firebase", webpush: "Änderungen für Browser",
};
const memberNames = (all) => list.format(all.map((name) => members[name] ?? name));

export const memberLabel = (name) => members[name] ?? name;

export const texts = {
  navigation: "Konsole",
  skip: "Zum Inhalt springen",
  signOut: "Abmelden",
  cancel: "Abbrechen",
  close: "Schließen",
  remove: "Entfernen",
  more: "Mehr anzeigen",
  loading: "Wird geladen …",
  away: "Der Server antwortet nicht. Was Sie sehen, ist vielleicht nicht mehr aktuell; alle paar Sekunden wird erneut gefragt.",
  noResponse: "Der Server antwortet nicht.",
  of: (part, whole) => `${part} von ${whole}`,
  screens: {
    catalogue: "Mediathek", compose: "Verfassen", sent: "Gesendet", services: "Push-Dienste", plugins: "Plugins", people: "Personen",
    account: "Ihr Konto",
  },
  roles: { device: "Gerät", publisher: "Redaktion", admin: "Administration" },
  languages: {
    summary: "Weitere Sprachen", label: "Sprachen", own: "Wie oben geschrieben", ownTag: "Sprache der Texte oben", another: "Weitere Sprache",
    placeholder: "en, pt-BR …", add: "Hinzufügen", remove: (name) => `${name} entfernen`, button: (label) => `Taste „${label}“`,
    nothing: "Schreiben Sie zuerst die Texte oben.",
  },
  textAlone: "Nur Text",
  richTypes: { img: "Bilder", sound: "Töne", video: "Videos", url: "Links" },
  profiles: { ios: "iPhone und iPad", android: "Android", watch: "Uhr", web: "Browser", thumb: "Vorschaubild" },
  platforms: {
    apns: "iOS", gcm: "Android", fcm: "Android", webpush: "Browser", wns: "Windows", mpns: "Windows Phone", embedded: "Eigener Datenstrom",
  },
  states: {
    ready: "Bereit", preparing: "Wird vorbereitet", refused: "Abgelehnt", queued: "Wartet", sent: "Gesendet", displayed: "Angezeigt", fetched: "Abgerufen", opened: "Geöffnet", read: "Gelesen",
    failed: "Fehlgeschlagen", expired: "Abgelaufen", cancelled: "Abgebrochen", withdrawn: "Zurückgezogen", scheduled: "Geplant", held: "Angehalten", running: "Läuft",
    paused: "Pausiert", off: "Aus", due: "Fällig", leased: "Wird gesendet", problem: "Gestört", warning: "Warnung",
  },
  signIn: {
    title: "Anmelden", wrong: "Name oder Passwort ist falsch.",
    explanation: "Senden Sie Bilder, Töne, Videos und Links als Push-Benachrichtigung und sehen Sie vorher, was jedes Gerät zeigt.",
    name: "Name", password: "Passwort", button: "Anmelden",
    demo: "Dies ist eine Demonstration: Melden Sie sich als admin mit dem Passwort admin an, oder mit einem beliebigen anderen Namen und demselben Wort als Passwort.",
    ended: "Ihre Sitzung ist beendet. Melden Sie sich wieder an; was Sie geschrieben haben, ist noch da.",
    device: "Dieses Konto ist nur für Geräte. Bitten Sie die Administration um die Rolle Redaktion.",
  },
  catalogue: {
    search: "Nach Namen suchen", type: "Art", state: "Status", everyType: "Alle Arten", everyState: "Jeder Status",
    upload: "Dateien hochladen", drop: "Dateien oder Ordner zum Hochladen hier ablegen",
    shown: (shown, all, more) => (shown === all && !more ? inFiles(all) : `${number(shown)} von ${more ? `mehr als ${number(all)} Dateien` : inFiles(all)}`),
    touchStep: "Wählen Sie „Dateien hochladen“ für ein Bild, einen Ton, ein Video oder eine Link-Datei, oder kopieren Sie die Datei auf dem Server in den Ordner assets/.",
    order: "Sortierung", orders: { name: "Nach Namen", newest: "Neueste zuerst", oldest: "Älteste zuerst" },
    select: "Auswählen", selectNone: "Auswahl beenden", removeSelected: (files) => (files ? `${number(files)} ausgewählte entfernen` : "Entfernen"),
    removeAllQuestion: (files) => `${inFiles(files)} entfernen? Benachrichtigungen, die damit gesendet wurden, behalten ihren Inhalt.`,
    removedAll: (files) => (files === 1 ? "Eine Datei wurde entfernt." : `${number(files)} Dateien wurden entfernt.`),
    nothingFound: (words) => `Keine Datei hat „${words}“ im Namen.`, nothingLike: "Es gibt keine solche Datei.", showAll: "Alle Dateien anzeigen",
    removeQuestion: (name) => `${name} entfernen? Benachrichtigungen, die damit gesendet wurden, behalten ihren Inhalt.`,
    removed: (name) => `${name} wurde entfernt.`,
    welcome: "Hier ist noch nichts. Drei Schritte zur ersten Benachrichtigung:",
    firstSteps: [
      "Ziehen Sie ein Bild, einen Ton, ein Video oder eine Link-Datei auf diese Seite, oder kopieren Sie die Datei auf dem Server in den Ordner assets/.",
      "Die Datei wird geprüft und für jede Art von Gerät aufbereitet. Stimmt etwas nicht, steht hier, was zu ändern ist.",
      "Öffnen Sie die Datei und wählen Sie „Senden“. Sie sehen vor dem Senden, was jedes Gerät zeigen wird.",
    ],
  },
  asset: {
    compose: "Senden", original: "Original herunterladen", replace: "Ersetzen", profiles: "Was jede Art von Gerät bekommt",
    rendition: (name, profile) => `${name} für ${profile}`, noRendition: "Für diese Geräte gibt es keine Fassung.",
  },
  description: {
    point: "Der Punkt, der beim Zuschneiden erhalten bleibt", hint: "Klicken Sie ihn an oder nehmen Sie die Pfeiltasten.", centre: "Mitte nehmen", none: "Beim Zuschneiden bleibt die Mitte erhalten.",
    where: (x, y) => `Beim Zuschneiden bleibt die Stelle ${number(100 * x)} % von links, ${number(100 * y)} % von oben erhalten.`, save: "Speichern", saved: "Gespeichert.",
  },
  uploads: {
    title: "Hochgeladen", clear: "Leeren", waiting: "Wartet", sending: "Wird übertragen", checking: "Wird geprüft", done: "Angenommen",
    cancelAll: "Alle abbrechen", cancelled: "Abgebrochen", accepted: (all) => `${inFiles(all)} angenommen`,
    refused: (all) => `${inFiles(all)} nicht angenommen`, brokeOff: "Das Hochladen wurde unterbrochen.",
  },
  conflict: {
    title: (name) => `„${name}“ gibt es schon`, existing: "In der Mediathek", uploaded: "Wird hochgeladen",
    hint: "Ersetzen lässt sich nicht rückgängig machen. Gesendete Benachrichtigungen behalten den alten Inhalt.",
    forAll: "Für die übrigen Dateien genauso verfahren", both: "Beide behalten", replace: "Ersetzen",
  },
  picker: { title: "Datei auswählen", none: "Keine Datei heißt so." },
  compose: {
    content: "Inhalt", optional: "Inhalt (freiwillig)", choose: "Datei auswählen", chooseHint: "oder eine auf diese Seite ziehen", touchHint: "aus der Mediathek oder von diesem Gerät", removeContent: "Ohne Inhalt senden", orLink: "Einen Link als Inhalt senden", url: "Link, der gesendet wird",
    message: "Nachricht", length: (all) => characters(all), sample: "Ihre Nachricht",
    notBefore: "Senden um", expires: "Läuft ab um", form: "Form", badge: "Zahl der ungelesenen Benachrichtigungen am App-Symbol zeigen",
    forms: { "": "Wie üblich", alert: "Sichtbar", silent: "Still", hybrid: "Sichtbar und still", legacy: "Für ältere Apps" },
    usual: (form, hint) => `Für diese „${form}“. ${hint}`,
    formHints: {
      alert: "Zeigt die Nachricht sofort; die Erweiterung der App fügt den Inhalt hinzu.",
      silent: "Weckt die App, die selbst entscheidet, was sie zeigt.",
      hybrid: "Für Apps mit und ohne Erweiterung.",
      legacy: "Für Apps nach der „Rich Push“-Anleitung von Azure.",
    },
    send: "Senden", schedule: "Planen", startOver: "Neu beginnen", zone: (zone) => `Zeiten gelten in Ihrer Zeitzone (${zone}).`,
    test: "Nur an mich senden",
    tested: (all, unreached) => `An ${all === 1 ? "Ihr Gerät" : `Ihre ${devices(all)}`} gesendet${unreached ? `; ${number(unreached)} davon erreicht kein Push-Dienst` : ""}.`,
    testedNowhere: "Von Ihnen ist kein Gerät angemeldet, das sie zeigen würde. Sie steht nur in Ihrem eigenen Posteingang.",
    notSent: (faults) => `Nicht gesendet: Oben ${faults === 1 ? "fehlt eine Angabe oder ist falsch" : `fehlen ${number(faults)} Angaben oder sind falsch`}.`,
    changedMeanwhile: "Die Empfänger ließen sich nicht zählen. Versuchen Sie es noch einmal.",
    faults: {
      nothing: "Schreiben Sie eine Nachricht oder einen Titel, oder wählen Sie eine Datei.",
      url: "Ein Link beginnt mit https:// oder http://.",
      message: "Schreiben Sie eine Nachricht oder einen Titel: Diese Form zeigt sie.", length: (all) => `Die Nachricht ist etwa ${characters(all)} zu lang.`,
      to: "Geben Sie mindestens einen Empfänger ein.", incomplete: "Ergänzen Sie Datum und Uhrzeit.",
      notBefore: "Diese Zeit ist vorbei. Wählen Sie eine spätere, oder keine, um jetzt zu senden.",
      expires: "Diese Zeit ist vorbei. Wählen Sie eine spätere oder keine.", order: "Sie würde ablaufen, bevor sie gesendet wird.",
    },
    previews: "Was die Geräte zeigen", drop: "Datei hier ablegen, um sie zu senden",
    replaceDraft: "Ihren Entwurf ersetzen?", replaceDraftVerb: "Ersetzen",
  },
  message: {
    more: "Mehr", soundName: "Name des Tons", missingSound: "Geben Sie den Namen eines Tons Ihrer App ein.",
    noNumber: "Geben Sie eine Zahl von 0 bis 1 ein.", noObject: "Geben Sie ein JSON-Objekt ein, etwa {\"bestellung\": \"4711\"}.",
    sounds: { "": "Wie auf der Plattform üblich", none: "Keiner", default: "Der Standardton", named: "Einer Ihrer App" }, criticalSound: "Auch bei stummem Gerät",
    importances: { "": "Wie üblich", min: "Minimal: nur in der Liste", low: "Niedrig: ohne Ton", normal: "Mittel", high: "Hoch: unterbricht", urgent: "Dringend: kann nicht warten" },
    lockScreens: { "": "Wie üblich", public: "Zeigt alles", private: "Zeigt nur, dass es eine gibt", secret: "Zeigt nichts" },
    placeholders: { link: "https://", icon: "https://", colour: "#00aa77", sound: "glocke.caf", data: "{\"bestellung\": \"4711\"}", variables: "{\"name\": \"liebe Kundin\"}",
      apns: "{\"aps\": {\"filter-criteria\": \"arbeit\"}}", fcm: "{\"android\": {\"directBootOk\": true}}", webpush: "{\"notification\": {\"requireInteraction\": true}}" },
    hints: {
      link: "Öffnet sich beim Tippen auf die Benachrichtigung.", alt: "Für alle, die das Bild nicht sehen oder den Ton nicht hören.",
      thread: "Benachrichtigungen derselben Unterhaltung werden gruppiert.", replaces: "Bei den Empfängern tritt sie an die Stelle Ihrer früheren Benachrichtigung mit denselben Worten in diesem Feld.", channel: "Einer, den Ihre Android-App angelegt hat.",
      category: "Eine, die Ihre iPhone-App angemeldet hat.", relevance: "Von 0 bis 1: je höher, desto weiter oben.", label: "Benachrichtigungen mit demselben Namen werden zusammen gezählt.",
      data: "Für Ihre App, höchstens 1.024 Bytes.", variables: "Was für {{name}} in den Texten steht, wenn zu einem Empfänger kein Wert dieses Namens hinterlegt ist.", apns: "Ein JSON Merge Patch auf die Push-Nachricht an Geräte von Apple.",
      fcm: "Ein JSON Merge Patch auf die Push-Nachricht an Firebase.", webpush: "Ein JSON Merge Patch auf die Push-Nachricht an Browser.",
    },
  },
  actions: {
    title: "Tasten", add: "Taste hinzufügen", button: (number) => `Taste ${number}`, label: "Beschriftung", kind: "Beim Drücken",
    kinds: { link: "Öffnet einen Link", input: "Fragt nach einem Text", dismiss: "Schließt die Benachrichtigung", event: "Wird Ihnen gemeldet" },
    prompts: { link: "Link", input: "Frage" }, destructive: "Als Taste zeigen, die etwas löscht",
    missing: { label: "Schreiben Sie, was auf der Taste steht.", link: "Geben Sie einen Link ein.", input: "Geben Sie eine Frage ein." },
    words: {
      link: (label, link) => `${label} (öffnet ${link})`, input: (label, question) => `${label} (fragt „${question}“)`,
      dismiss: (label) => `${label} (schließt sie)`, event: (label) => label,
    },
  },
  audience: {
    title: "Empfänger", kind: "Art der Empfänger", people: "Personen", tags: "Schlagwörter",
    everybody: "Alle mit einem Gerät",
    placeholders: { people: "anna, ben", tags: "news && !stumm" },
    count: (users, platforms) => `${people(users)}${platforms.length ? `: ${platforms.join(", ")}` : ", ohne angemeldetes Gerät"}.`,
    unknown: (all) => `Niemand heißt ${names(all)}.`, nobody: "Das trifft zurzeit auf niemanden zu.",
    guests: (all) => `Neu: ${names(all)}.`,
  },
  sendDialog: {
    send: (users, all) => `Jetzt an ${people(users)}${all ? ` auf ${onDevices(all)}` : " ohne angemeldetes Gerät"} senden?`,
    schedule: (users, all) => `Für ${people(users)}${all ? ` auf ${onDevices(all)}` : " ohne angemeldetes Gerät"} planen?`,
    recipients: "Empfänger", time: "Wann", now: "Jetzt", expires: "Läuft ab",
  },
  previews: {
    empty: "Schreiben Sie eine Nachricht oder wählen Sie eine Datei; hier sehen Sie dann, was jede Art von Gerät daraus macht.", app: "IHRE APP", now: "jetzt",
    devices: {
      iosCollapsed: "iPhone, zugeklappt", iosExpanded: "iPhone, aufgeklappt", androidCollapsed: "Android, zugeklappt",
      androidBig: "Android, großes Bild", androidText: "Android, aufgeklappt", watch: "Uhr", browser: "Browser",
    },
    notes: { androidBig: "Android schneidet das Bild auf 2:1 zu.", browser: "Chromium zeigt das Bild, Firefox und Safari zeigen nur den Text.",
      browserText: "Browser zeigen den Text; ein Klick darauf führt zum Rest." },
    locked: "Neue Benachrichtigung", unlocked: "Texte und Bild erscheinen, sobald das Gerät entsperrt ist.", alwaysLocked: "Mehr als das zeigen Browser nicht.",
    long: {
      title: (shown, all) => `Ein iPhone zeigt etwa ${shown} von ${characters(all)} des Titels.`,
      collapsed: (shown, all) => `Zugeklappt zeigt Android etwa ${shown} von ${characters(all)}.`,
      centre: (shown, all) => `Die Mitteilungszentrale zeigt etwa ${shown} von ${characters(all)}.`,
      lockScreen: (shown, all) => `Ein Sperrbildschirm zeigt etwa ${shown} von ${characters(all)}.`,
    },
    dropped: (all) => `Auf dieser Plattform nicht zu sehen: ${memberNames(all)}.`, carried: (all) => `Nur an Ihre App weitergegeben: ${memberNames(all)}.`,
    mediaLimit: "Größe des Inhalts", textLimit: "Länge der Push-Nachricht", text: (used, most) => `Push-Nachricht: ${used} von ${most} Bytes.`,
    cut: "Die Nachricht wird hier gekürzt.",
  },
  sent: {
    empty: "Noch wurde nichts gesendet.", nobody: "Noch keine Empfänger", noMessage: "Ohne Nachricht", ofAll: "Von allen",
    search: "In Nachrichten, Dateien und Empfängern suchen", nothingFound: (words) => `Nichts Gesendetes enthält „${words}“.`,
    found: (count, more) => `${more ? "Mehr als " : ""}${notifications(count)}`,
    again: "Erneut senden …",
    export: "Exportieren", exporting: (all) => `${notifications(all)} …`,
    exported: (all, more) => `${all === 1 ? "Eine Benachrichtigung wurde" : `${number(all)} Benachrichtigungen wurden`} gespeichert${more ? "; ältere fehlen" : ""}.`,
    columns: ["Nummer", "Status", "Erstellt", "Fällig", "Läuft ab", "Absender", "Empfänger", "Nachricht", "Art", "Inhalt", "Personen", "Abgerufen", "Gelesen",
      "Wartet", "Gesendete Push-Nachrichten", "Fehlgeschlagen", "Titel", "Untertitel"],
    to: (names) => `an ${names}`, by: (name) => `von ${name}`, removedUser: "einer entfernten Person",
  },
  counts: {
    fetched: (part, whole) => `${part} von ${whole} abgerufen`, read: (count) => `${count} gelesen`, queued: (count) => `${count} warten`,
    failed: (count) => `${count} fehlgeschlagen`, displayed: (part, whole) => `${part} von ${whole} angezeigt`, opened: (count) => `${count} geöffnet`,
    actions: (count) => `${number(count)}-mal Taste gedrückt`, replies: (count) => counted(count, "Antwort", "Antworten"),
  },
  notification: {
    amend: "Ändern", amendHint: "Möglich, bis das erste Gerät sie abgerufen hat.", amended: "Die Benachrichtigung wurde geändert.",
    noContent: "Keiner", noNull: "Eine Änderung kann nichts auf null setzen; das entfernt es.",
    wasFetched: "Sie lässt sich nicht mehr ändern: Ein Gerät hat sie abgerufen. Sie können sie zurückziehen und mit anderem Text erneut senden.",
    fetchedMeanwhile: "Ein Gerät hat sie inzwischen abgerufen; sie lässt sich nicht mehr ändern.",
    pastTime: "Diese Zeit ist vorbei. Wählen Sie eine spätere.",
    replacedBy: (id) => `Benachrichtigung ${id} ist an ihre Stelle getreten.`,
    ended: { withdrawn: "Die Empfänger sehen sie nicht mehr.", expired: "Ihre Zeit ist vorbei." },
    withdraw: "Zurückziehen", withdrawQuestion: "Diese Benachrichtigung zurückziehen? Sie verschwindet aus jedem Posteingang, und was noch wartet, wird nicht mehr zugestellt.",
    held: "Die Person, die sie gesendet hat, wurde entfernt oder darf nicht mehr senden. Sie wartet, bis die Administration sie sendet.",
    release: "Jetzt senden", releaseQuestion: "Diese Benachrichtigung jetzt senden?", withdrawn: "Die Benachrichtigung wurde zurückgezogen.", progress: "Fortschritt", about: "Benachrichtigung", timeline: "Verlauf",
    renditions: "Was die Geräte bekommen", recipients: "Empfänger", created: "Erstellt", due: "Fällig", firstSent: "Zuerst gesendet",
    firstFetched: "Zuerst abgerufen", firstDisplayed: "Zuerst angezeigt", firstOpened: "Zuerst geöffnet", firstRead: "Zuerst gelesen", expires: "Läuft ab", people: "Personen", person: "Name", state: "Status",
    devices: "Geräte", nobody: "Sie hat keine Empfänger.", deliveries: "Zustellungen", service: "Push-Dienst",
    attempts: "Versuche", reason: "Grund", noDeliveries: "Kein Push-Dienst muss sie senden. Verbundene Geräte bekommen sie sofort.",
    actions: "Gedrückte Tasten", replies: "Antworten", interactions: "Rückmeldungen", button: "Taste", answer: "Antwort", time: "Zeit",
    noInteractions: "Niemand hat eine Taste gedrückt oder geantwortet.",
    notMeasurable: "Nicht messbar: Diese Geräte melden weder, dass sie angezeigt, noch, dass sie geöffnet wurde.",
    everyState: "Jeder Status", replay: "Erneut senden", replayed: "Sie wird erneut gesendet.", content: "Inhalt", to: "Empfänger", form: "Form", number: "Nummer",
  },
  services: {
    lanes: "Push-Dienste", lane: "Push-Dienst", state: "Status", queued: "Warten", oldest: "Älteste wartende", sent: "Gesendet seit dem Start", failed: "Aufgegeben seit dem Start",
    everyLane: "Alle Dienste", outbox: "Postausgang", job: "Zustellung", notification: "Benachrichtigung", attempts: "Versuche", reason: "Grund",
    actions: "Aktionen", replay: "Erneut senden", replayAll: "Alle erneut senden", cancel: "Abbrechen", until: "bis", resume: "Fortsetzen",
    replayQuestion: "Alle aufgegebenen Zustellungen erneut senden?",
    readiness: "Bereitschaft", ready: { devices: "Bedient Geräte", publishing: "Speichert und sendet Benachrichtigungen" },
    noLanes: "Kein Push-Dienst ist eingerichtet. Geräte bekommen Benachrichtigungen, solange sie verbunden sind.", noJobs: "Es gibt keine solchen Zustellungen.",
  },
  plugins: {
    sandbox: (level) => `Plugins sind mit der Stufe „${level}“ abgeschottet.`, version: "Version", mode: "Betriebsart", confinement: "Abschottung",
    processes: "Prozesse", calls: "Aufrufe", times: "Dauer", lastFailure: "Letzter Fehler", output: "Das Ende der Fehlerausgabe",
    ofProcesses: (busy, idle, most) => `${busy} beschäftigt, ${idle} frei, höchstens ${most}`,
    ofCalls: (calls, failures) => `${calls}, davon ${failures} fehlgeschlagen`,
    ofTimes: (median, slowest) => `meist ${median}, 5 % dauern länger als ${slowest}`,
    storage: { database: "Datenbank", blobs: "Inhalte", renditions: "Fassungen", free: "Frei auf dem Datenträger" },
  },
  people: {
    name: "Name", role: "Rolle", devices: "Geräte", lastSeen: "Zuletzt gesehen", actions: "Aktionen", add: "Person hinzufügen", change: "Ändern",
    newPassword: "Neues Passwort (leer: unverändert)", save: "Speichern", saved: (name) => `${name} wurde gespeichert.`, nobody: "Hier ist niemand.",
    removeQuestion: (name) => `${name} entfernen, mit allen Geräten und Benachrichtigungen dieses Kontos?`,
    refused: "Gesperrte Anmeldungen", address: "Adresse", failures: "Fehlversuche", until: "Gesperrt bis", noneRefused: "Keine Anmeldung ist gesperrt.",
    maxDevices: "Höchstzahl der Geräte", devicesOf: (name) => `Geräte von ${name}`, device: "Gerät", platform: "Plattform", tags: "Schlagwörter",
    endTokens: "Überall abmelden", tokensEnded: (name) => `${name} ist überall abgemeldet.`,
    pair: "Gerät hinzufügen",
    endRegistrations: "Auch alle Geräte abmelden: Sie bekommen keine Benachrichtigungen, bis sie sich neu anmelden",
  },
  password: {
    change: "Passwort ändern", hint: "Hier bleiben Sie angemeldet. Andere Browser und Ihre Geräte müssen sich neu anmelden.",
    old: "Bisheriges Passwort", new: "Neues Passwort", again: "Neues Passwort wiederholen", differ: "Die neuen Passwörter stimmen nicht überein.",
    changed: "Das Passwort wurde geändert.",
  },
  account: {
    sessions: "Wo Sie angemeldet sind", browser: "Browser", begun: "Seit", used: "Zuletzt benutzt", actions: "Aktionen",
    end: "Dort abmelden", thisOne: "Dieser Browser", nobody: "Sie sind nirgends angemeldet.",
    devices: "Ihre Geräte", device: "Gerät", platform: "Plattform", registered: "Angemeldet", program: "Programm", lastContact: "Letzter Kontakt", deviceEnded: "Bekommt keine Benachrichtigungen seit",
    endDevice: "Abmelden", endQuestion: (name) => `${name} abmelden? Es bekommt keine Benachrichtigungen, bis es sich neu anmeldet.`, noDevices: "Kein Gerät ist angemeldet.",
    language: "Sprache", ofBrowser: "Wie im Browser",
    addDevice: "Gerät hinzufügen",
  },
  pairing: {
    title: "Gerät hinzufügen", titleOf: (name) => `Gerät für ${name} hinzufügen`,
    qrCode: "QR-Code des Links", scan: "Richten Sie die Kamera des Telefons auf den Code und öffnen Sie den Link.",
    link: "Oder senden Sie diesen Link; er gilt einmal", copy: "Link kopieren", copied: "Der Link wurde kopiert.",
    selected: "Der Link ist markiert: Kopieren Sie ihn mit der Tastatur.", type: "Oder geben Sie dies in der App ein:", expires: "Endet",
    used: "Dieser Code wurde benutzt: Das Gerät steht jetzt in der Liste.", another: "Neuer Code", open: "Offene Codes",
    made: "Erzeugt", until: "Bis", actions: "Aktionen", revoke: "Widerrufen",
  },
  signUps: {
    title: "Warten auf Freigabe", user: "Name", device: "Gerät", subjects: "Themen", since: "Seit", actions: "Aktionen",
    approve: "Freigeben", refuse: "Ablehnen", refuseQuestion: (name) => `${name} ablehnen? Das Gerät muss sich dann neu anmelden.`,
    nobody: "Niemand wartet.",
  },
};
