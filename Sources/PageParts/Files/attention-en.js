// What needs attention, in English: a sentence for each code, which says what is wrong and what to do.

export const language = "en-GB";
const number = new Intl.NumberFormat(language).format;
const plural = new Intl.PluralRules(language);
const counted = (value, one) => `${number(value)} ${one}${plural.select(value) === "one" ? "" : "s"}`;
const waiting = (value) => (value === 1 ? "1 push waits" : `${number(value)} pushes wait`);
const because = (reason) => (reason ? ` (${reason.replace(/\.$/, "")})` : "");
const seconds = (value) => counted(Math.abs(value), "second");

export const sentences = {
  store: ({ reason }) => `The store cannot be read, or stores nothing new${because(reason)}.`,
  "lead.vacant": ({ name }) => `No node has had the lead for a minute, so ${name === "folder" ? "dropped files are not seen" : "files are not prepared and events not delivered"}: another program may have its lock.`,
  "disk.low": ({ name }) => `The disk of ${name} will be full soon: make space.`,
  "disk.full": ({ name }) => `The disk of ${name} is full, so new files, and perhaps notifications, are refused: make space. Nothing has to be restarted.`,
  "clock.jumped": ({ count }) => `The server’s clock was set ${count < 0 ? "back" : "forward"} by ${seconds(count)}, so what is scheduled comes ${count < 0 ? "later" : "earlier"}: check the clock (timedatectl, chronyc tracking).`,
  "clock.differs": ({ count }) => `The server’s clock is ${seconds(count)} ${count < 0 ? "behind" : "ahead of"} that of the PostgreSQL server, so pushes may be sent twice or late: check both (timedatectl, chronyc tracking).`,
  "provider.unusable": ({ name, reason }) => `Nobody can sign in at ${name}${because(reason)}: look at the provider, and compare --oidc-issuer, --oidc-client-id and the client’s secret with its settings.`,
  "database.locked": ({ name }) => `${name ?? "Another program"} keeps the database from being changed: end it.`,
  "database.away": ({ reason }) => `The database does not respond${because(reason)}: look at its server, its disk, and the network between.`,
  "database.full": () => "The disk of the PostgreSQL server is full, so nothing is stored: make space there.",
  "database.damaged": () => "The database is damaged: stop the server, run “richpush store check”, and restore the last backup into an empty folder with “richpush store restore”.",
  "certificate.expired": ({ name, until }) => `The TLS certificate ${name} expired on ${until}, so nobody can connect: renew it.`,
  "certificate.early": ({ name }) => `The TLS certificate ${name} is not valid yet: is the server’s clock right?`,
  "certificate.purpose": ({ name }) => `The TLS certificate ${name} may not be used by servers, so nobody can connect: use another.`,
  "certificate.host": ({ name }) => `The TLS certificate ${name} is not for the host of --public-url, so phones refuse it: use another.`,
  "certificate.expires": ({ name, until }) => `The TLS certificate ${name} expires on ${until}: renew it.`,
  "plugin.stuck": ({ name }) => `Calls of the plugin ${name} do not end while others wait: look at what it does, or remove it.`,
  "plugin.broken": ({ name, reason }) => `The plugin ${name} cannot be used${because(reason)}.`,
  "plugin.failed": ({ name, since, reason }) => `The plugin ${name} failed on ${since}${because(reason)}.`,
  "lane.paused": ({ name, until, reason }) => `Pushes to ${name} are paused${until ? ` until ${until}` : ""}${because(reason)}: mend that, then resume them, or wait.`,
  "lane.slow": ({ name, count, since, reason }) => `${waiting(count)} for ${name}, the oldest since ${since}${because(reason)}.`,
  "lane.off": ({ name, count }) => `${waiting(count)} for ${name}, which is not a push service of this server: add it to --push, or cancel them.`,
  "devices.unreached": ({ name, count }) => `${counted(count, "device")} of the platform ${name} can get no pushes: no push service of this server sends to that platform.`,
  token: ({ name, user, until, hasEnded }) => `The access token “${name}” of ${user} ${hasEnded ? "ended" : "ends"} on ${until}: give its program a new one, and remove this one.`,
  webhook: ({ name, user, until, hasEnded }) => `The webhook “${name}” of ${user} ${hasEnded ? "ended" : "ends"} on ${until}: give its sender a new address, and remove this one.`,
};
