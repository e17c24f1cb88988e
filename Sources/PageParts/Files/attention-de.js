// What needs attention, in German: a sentence for each code, which says what is wrong and what to do.

export const language = "de";
const number = new Intl.NumberFormat(language).format;
const plural = new Intl.PluralRules(language);
const counted = (value, one, many) => `${number(value)} ${plural.select(value) === "one" ? one : many}`;
const waiting = (value) => (value === 1 ? "1 Zustellung wartet" : `${number(value)} Zustellungen warten`);
const because = (reason) => (reason ? ` (${reason.replace(/\.$/, "")})` : "");
const seconds = (value) => counted(Math.abs(value), "Sekunde", "Sekunden");

export const sentences = {
  store: ({ reason }) => `Daten lassen sich nicht lesen oder nicht speichern${because(reason)}.`,
  "lead.vacant": ({ name }) => `Seit einer Minute führt kein Knoten, darum werden ${name === "folder" ? "Dateien im Ordner assets nicht bemerkt" : "Dateien nicht aufbereitet und Ereignisse nicht zugestellt"}: Vielleicht hält ein anderes Programm die Sperre.`,
  "disk.low": ({ name }) => `Der Datenträger von ${name} ist bald voll: Schaffen Sie Platz.`,
  "disk.full": ({ name }) => `Der Datenträger von ${name} ist voll, darum werden neue Dateien und vielleicht auch Benachrichtigungen abgelehnt: Schaffen Sie Platz. Ein Neustart ist nicht nötig.`,
  "clock.jumped": ({ count }) => `Die Uhr des Servers wurde um ${seconds(count)} ${count < 0 ? "zurückgestellt" : "vorgestellt"}, darum kommt Geplantes ${count < 0 ? "später" : "früher"}: Prüfen Sie die Uhr (timedatectl, chronyc tracking).`,
  "clock.differs": ({ count }) => `Die Uhr des Servers geht gegenüber der des PostgreSQL-Servers ${seconds(count)} ${count < 0 ? "nach" : "vor"}, darum wird manches doppelt oder spät zugestellt: Prüfen Sie beide (timedatectl, chronyc tracking).`,
  "provider.unusable": ({ name, reason }) => `Über ${name} kann sich niemand anmelden${because(reason)}: Sehen Sie nach der Anmeldestelle und vergleichen Sie --oidc-issuer, --oidc-client-id und das Geheimnis mit deren Einstellungen.`,
  "database.locked": ({ name }) => `${name ?? "Ein anderes Programm"} verhindert, dass sich die Datenbank ändern lässt: Beenden Sie es.`,
  "database.away": ({ reason }) => `Die Datenbank antwortet nicht${because(reason)}: Sehen Sie nach ihrem Server, dessen Datenträger und dem Netz dazwischen.`,
  "database.full": () => "Der Datenträger des PostgreSQL-Servers ist voll, darum wird nichts gespeichert: Schaffen Sie dort Platz.",
  "database.damaged": () => "Die Datenbank ist beschädigt: Halten Sie den Server an, starten Sie „richpush store check“ und spielen Sie mit „richpush store restore“ die letzte Sicherung in einen leeren Ordner zurück.",
  "certificate.expired": ({ name, until }) => `Das TLS-Zertifikat ${name} ist seit ${until} abgelaufen, darum kann sich niemand verbinden: Erneuern Sie es.`,
  "certificate.early": ({ name }) => `Das TLS-Zertifikat ${name} gilt noch nicht: Geht die Uhr des Servers richtig?`,
  "certificate.purpose": ({ name }) => `Das TLS-Zertifikat ${name} ist nicht für Server, darum kann sich niemand verbinden: Nehmen Sie ein anderes.`,
  "certificate.host": ({ name }) => `Das TLS-Zertifikat ${name} gilt nicht für den Rechner in --public-url, darum lehnen Telefone es ab: Nehmen Sie ein anderes.`,
  "certificate.expires": ({ name, until }) => `Das TLS-Zertifikat ${name} läuft am ${until} ab: Erneuern Sie es.`,
  "plugin.stuck": ({ name }) => `Aufrufe des Plugins ${name} enden nicht, während andere warten: Sehen Sie nach, was es tut, oder entfernen Sie es.`,
  "plugin.broken": ({ name, reason }) => `Das Plugin ${name} ist nicht verwendbar${because(reason)}.`,
  "plugin.failed": ({ name, since, reason }) => `Ein Aufruf des Plugins ${name} ist am ${since} fehlgeschlagen${because(reason)}.`,
  "lane.paused": ({ name, until, reason }) => `Zustellungen an ${name} sind ${until ? `bis ${until} ` : ""}angehalten${because(reason)}: Beheben Sie das und setzen Sie sie dann fort, oder warten Sie.`,
  "lane.slow": ({ name, count, since, reason }) => `${waiting(count)} auf ${name}, die älteste seit ${since}${because(reason)}.`,
  "lane.off": ({ name, count }) => `${waiting(count)} auf ${name}, keinen Push-Dienst dieses Servers: Nehmen Sie ihn in --push auf, oder brechen Sie sie ab.`,
  "devices.unreached": ({ name, count }) => `${counted(count, "Gerät", "Geräte")} der Plattform ${name} ${count === 1 ? "erhält" : "erhalten"} keine Push-Nachrichten: Kein Push-Dienst dieses Servers sendet an diese Plattform.`,
  token: ({ name, user, until, hasEnded }) => `Das Zugriffstoken „${name}“ von ${user} ${hasEnded ? `ist am ${until} abgelaufen` : `läuft am ${until} ab`}: Geben Sie dem Programm ein neues und entfernen Sie dieses.`,
  webhook: ({ name, user, until, hasEnded }) => `Der Webhook „${name}“ von ${user} ${hasEnded ? `ist am ${until} abgelaufen` : `läuft am ${until} ab`}: Geben Sie dem Absender eine neue Adresse und entfernen Sie diesen.`,
};
