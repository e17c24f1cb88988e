// The words of the app in German. To translate them, translate this file and name it in languages.js and app-texts.js.

/** The language of numbers and times, where the browser names no region. */
export const language = "de-DE";
const count = (value, one, many) => `${value} ${value === 1 ? one : many}`;

/** The words of the app. */
export const app = {
  skip: "Zum Inhalt", loading: "Wird geladen …", close: "Schließen", cancel: "Abbrechen", done: "Fertig", next: "Weiter", notNow: "Nicht jetzt",
  search: "Suchen", filters: "Was angezeigt wird",
  worker: { newNotification: "Neue Benachrichtigung" },
  inbox: {
    title: "Posteingang", unread: "Ungelesen", all: "Alle Benachrichtigungen", one: "Benachrichtigung", found: (search) => `„${search}“`,
    count: (unread) => `${unread} ungelesen`, readAll: "Alle gelesen", readAllDone: "Alles ist als gelesen markiert.",
    empty: "Noch nichts da", emptyHint: "Hier erscheint, was an Sie gesendet wird, auch wenn diese Seite geschlossen ist.",
    allRead: "Alles gelesen", allReadHint: "Es gibt nichts, was Sie nicht gesehen haben.",
    nothingFound: "Nichts gefunden", tryOther: "Versuchen Sie andere oder weniger Wörter.", end: "Das ist alles.",
    fresh: "Neue Benachrichtigungen", arrived: (added) => `${count(added, "neue Benachrichtigung", "neue Benachrichtigungen")}.`,
    removed: "Gelöscht.", undo: "Rückgängig", gone: "Diese Benachrichtigung gibt es nicht mehr.", notSaved: "Der Server ist nicht erreichbar. Es wurde nichts geändert.",
    away: (saved, isOnline) => `${isOnline ? "Der Server ist nicht erreichbar." : "Sie sind offline."} ${saved ? `Stand: ${saved}.` : "Was Sie sehen, kann veraltet sein."}`,
    awayWithNothing: (isOnline) => `${isOnline ? "Der Server ist nicht erreichbar." : "Sie sind offline."} Es wird von selbst wieder versucht.`,
  },
  item: { markRead: "Als gelesen markieren", remove: "Löschen", untitled: "Benachrichtigung", more: "Mehr anzeigen", less: "Weniger anzeigen" },
  media: {
    play: (alt) => (alt ? `Abspielen: ${alt}` : "Film abspielen"), enlarge: (alt) => (alt ? `Vergrößern: ${alt}` : "Bild vergrößern"),
    film: "Film", sound: "Ton", picture: "Bild", file: (type) => `Öffnen (${type})`,
    missing: "Dieser Inhalt ist nicht verfügbar.", offline: "Offline nicht verfügbar.",
  },
  answers: { send: "Senden", sent: "Gesendet", replied: (text) => `Ihre Antwort: „${text}“` },
  pushes: {
    ask: { title: "Benachrichtigungen einschalten", text: "Dann erfahren Sie Neues sofort, auch wenn die App geschlossen ist. Der Browser fragt Sie um Erlaubnis.", button: "Einschalten" },
    on: { title: "Benachrichtigungen sind eingeschaltet", text: "Dieses Gerät zeigt an, was an Sie gesendet wird, auch wenn die App geschlossen ist.", button: "Hier ausschalten" },
    paused: { title: "Benachrichtigungen sind ausgeschaltet", text: "Was an Sie gesendet wird, finden Sie im Posteingang, wenn Sie die App öffnen.", button: "Einschalten" },
    denied: { title: "Benachrichtigungen sind blockiert", text: ({ kind, isInstalled, browser }) => blocked(kind, isInstalled, browser) },
    taken: { title: "Benachrichtigungen wurden ausgeschaltet", text: ({ kind, isInstalled, browser }) => `Dieses Gerät erlaubt sie nicht mehr. ${blocked(kind, isInstalled, browser)}`, button: "Wieder einschalten" },
    unreachable: { title: "Der Push-Dienst ist nicht erreichbar", text: ({ browser }) => `${browser} erhält Benachrichtigungen über einen Dienst des Herstellers, der nicht antwortet. Vielleicht sperrt ihn das Netz. Der Posteingang funktioniert trotzdem.`, button: "Erneut versuchen" },
    refused: { title: "Benachrichtigungen funktionieren nicht", text: (_, reason) => reason, button: "Erneut versuchen" },
    install: { title: "Benachrichtigungen brauchen die App", text: ({ system }) => `Ein ${system} zeigt nur Benachrichtigungen von Apps, die auf dem Home-Bildschirm liegen.` },
    insecure: { title: "Auf dieser Seite keine Benachrichtigungen", text: "Browser zeigen Benachrichtigungen nur von Seiten mit https." },
    unsupported: { title: "In diesem Browser keine Benachrichtigungen", text: "Er kennt Web Push nicht oder ist im privaten Modus. Der Posteingang funktioniert trotzdem." },
    off: { title: "Von diesem Server keine Benachrichtigungen", text: "Er sendet nicht an Browser. Der Posteingang funktioniert trotzdem." },
  },
  install: {
    title: "Die App auf Ihren Bildschirm legen", why: "Sie hat dann ein eigenes Symbol und Fenster und öffnet sich auch ohne Netz.",
    whyIOS: (system) => `Auf dem Home-Bildschirm ist sie eine eigene App. Nur dann zeigt ein ${system} ihre Benachrichtigungen.`, button: "Installieren",
    iosShare: "Tippen Sie auf „Teilen“ {share}, unten in Safari, auf dem iPad oben.", ios26Share: "Tippen Sie auf die drei Punkte neben der Adresse, dann auf „Teilen“ {share}.",
    iosOtherShare: "Tippen Sie auf „Teilen“ {share} neben der Adresse.", iosAdd: "Wählen Sie „Zum Home-Bildschirm“ {add}.",
    ios26Add: "Wählen Sie „Zum Home-Bildschirm“ {add} und lassen Sie „Als Web-App öffnen“ eingeschaltet.", iosOpen: (system) => `Öffnen Sie das neue Symbol auf Ihrem ${system}.`,
    oldIOS: "Benachrichtigungen gibt es ab iOS 16.4. Aktualisieren Sie unter Einstellungen › Allgemein › Softwareupdate.",
    androidChrome: "Öffnen Sie das Menü ⋮ des Browsers und wählen Sie „Zum Startbildschirm hinzufügen“ oder „App installieren“.", androidFirefox: "Öffnen Sie das Menü ⋮ und wählen Sie „Installieren“ oder „Zum Startbildschirm hinzufügen“.",
    macSafari: "Wählen Sie Ablage › Zum Dock hinzufügen.", desktopChrome: "Klicken Sie rechts in der Adresszeile auf das Symbol zum Installieren.",
  },
  welcome: {
    title: (name) => `Willkommen bei ${name}`, again: "Erneut anmelden", lead: "Bilder, Filme, Töne und Neuigkeiten, direkt zu Ihnen.",
    reasons: {
      ended: "Dieses Gerät wurde abgemeldet. Alles davon wurde aus diesem Browser entfernt.", signedOut: "Sie sind abgemeldet. In diesem Browser ist nichts von Ihnen übrig.",
      untold: "Sie sind abgemeldet, und in diesem Browser ist nichts von Ihnen übrig. Der Server war nicht erreichbar: Das Gerät bleibt in der Liste, bis die Verwaltung oder ein anderes Gerät es entfernt.",
    },
    demo: "Dies ist eine Demonstration: Jeder Name geht, mit demselben Wort als Passwort. Versuchen Sie alice und alice.",
    others: "Andere Wege, sich anzumelden",
    link: "Dieser Link richtet dieses Gerät für Sie ein. Er gilt einmal.", linkIOS: (system) => `Dieser Link richtet Ihr ${system} ein. Zuerst kommt die App auf den Home-Bildschirm.`,
    setUp: (isPhone) => (isPhone ? "Dieses Telefon einrichten" : "Dieses Gerät einrichten"), forward: "Weiter",
    forwardTitle: (system) => `Legen Sie die App jetzt auf Ihr ${system}`, forwardWhy: "Das neue Symbol weiß, wer Sie sind. Es muss innerhalb von 15 Minuten geöffnet werden.",
    replaces: (user) => `Dieser Browser ist für ${user} eingerichtet. Das endet, wenn Sie fortfahren.`,
    codeTitle: "Mit einem Code", codeHint: "Acht Zeichen, wie sie neben dem QR-Code stehen. Ein ganzer Link geht auch.", code: "Code", useCode: "Code verwenden",
    passwordTitle: "Mit Name und Passwort", name: "Name", password: "Passwort", signIn: "Anmelden",
    with: (name) => `Anmelden mit ${name}`, usePassword: "Passwort verwenden",
    subjects: "Worüber möchten Sie etwas erfahren?", signUp: "Auf dem Laufenden bleiben", noSubject: "Wählen Sie mindestens ein Thema.", approval: "Jede Anfrage wird geprüft. Sie erhalten Benachrichtigungen, sobald sie angenommen ist.",
    earlierTitle: "Ist dies eines Ihrer Geräte?", earlierHint: "Dann behält es seinen Namen und seine Einstellungen.", newDevice: "Nein, ein neues",
    problems: {
      401: "Name oder Passwort ist falsch.", 404: "Diesen Code gibt es nicht. Vielleicht sind Zeichen verwechselt.", gone: "Dieser Code wurde schon verwendet oder ist zu alt. Bitten Sie um einen neuen.",
      410: "Dieser Code wurde schon verwendet oder ist zu alt. Bitten Sie um einen neuen.", 429: "Zu viele Versuche. Warten Sie einige Minuten, und versuchen Sie es wieder.", 0: "Der Server ist nicht erreichbar. Versuchen Sie es noch einmal.",
    },
  },
  waiting: { title: "Ihre Anfrage wird geprüft", text: "Sie erhalten Benachrichtigungen, sobald sie angenommen ist." },
  settings: {
    title: "Einstellungen", saved: "Gespeichert.", away: "Der Server ist nicht erreichbar. Bis er wieder da ist, fehlen einige Einstellungen.",
    device: "Dieses Gerät", name: "Name", nameHint: "Er steht in der Liste Ihrer Geräte.",
    subjects: "Themen", subjectsHint: "Was dieses Gerät bekommt, außer dem, was an Sie persönlich gesendet wird.",
    quiet: "Ruhezeit", quietSwitch: "Nachts keine Benachrichtigungen", from: "Von", until: "Bis", quietHint: "Sie kommen nach der Ruhezeit. Was dringend ist, kommt sofort.",
    here: "In diesem Browser", sound: "Ton", language: "Sprache", automatic: "Wie der Browser",
    account: "Konto", signedInAs: (user) => `Angemeldet als ${user}`, signOut: "Abmelden", signOutTitle: "Dieses Gerät abmelden?",
    signOutHint: "Benachrichtigungen enden hier, und alles, was dieser Browser aufbewahrt hat, wird entfernt. Ihr Posteingang bleibt auf dem Server.",
  },
  devices: {
    title: "Ihre Geräte", thisOne: "Dieses Gerät", unnamed: "Ohne Namen", contact: (when) => `Letzter Kontakt ${when}`, noContact: "Noch kein Kontakt", ended: (when) => `Erhält keine Benachrichtigungen mehr (${when})`,
    add: "Weiteres Gerät hinzufügen", addHint: (user) => `Ein Code richtet ein Telefon, ein Tablet oder einen Computer für ${user} ein. Geben Sie dafür Ihr Passwort ein.`, wrongPassword: "Das Passwort ist falsch.",
    elsewhere: (name) => `Öffnen Sie diese Seite auf dem anderen Gerät, und melden Sie sich dort an mit ${name}.`,
    scan: "Mit dem anderen Gerät scannen", qr: "QR-Code mit dem Link für das andere Gerät", orCode: "Oder öffnen Sie dort diese Seite und geben Sie ein:",
    left: (minutes) => `Gilt einmal, noch ${count(minutes, "Minute", "Minuten")}.`, over: "Der Code ist zu alt. Schließen Sie dies, und bitten Sie um einen neuen.", share: "Link senden", copy: "Link kopieren", copied: "Kopiert.",
  },
};

function blocked(kind, isInstalled, browser) {
  if (kind === "ios") return "Öffnen Sie auf dem Gerät Einstellungen › Mitteilungen, wählen Sie diese App, und erlauben Sie Mitteilungen.";
  if (kind === "android") return isInstalled ? "Halten Sie das Symbol der App gedrückt, wählen Sie App-Info › Benachrichtigungen, und erlauben Sie sie." : "Tippen Sie auf das Symbol neben der Adresse, dann auf Berechtigungen › Benachrichtigungen, und erlauben Sie sie.";
  return browser === "Safari" ? "Öffnen Sie Safari › Einstellungen › Websites › Mitteilungen, und erlauben Sie diese Seite." : "Klicken Sie auf das Symbol neben der Adresse, und erlauben Sie Mitteilungen für diese Seite.";
}
