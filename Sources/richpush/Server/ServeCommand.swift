import Dispatch
import FoundationEssentials
import Glibc
import Media
import Origin
import PluginHost
import Primitives

/// `richpush serve`: the server, until SIGTERM or SIGINT.
enum ServeCommand: Command {
  static let name = "serve"
  static let summary = "runs the server"
  static let help = """
    The first line on standard output is the server's address, on a terminal that of the console; the
    log goes to standard error. SIGTERM completes the current requests and exits with 0.

      richpush serve --demo
      richpush serve --listen 10.0.0.5:8080 --data /var/lib/richpush --assets /srv/assets

    With --demo any user name works, with the same word as password. Therefore it listens on
    loopback only, accepts only loopback's names and the host of --public-url, and refuses pages
    of other origins. It creates the folders it needs, with sample files. Without --demo, add users
    with `richpush user add`.

    --data is a store, or an absent or empty folder. Anything else is refused, and left as it is.

    Only programs on this machine that connect directly can read /metrics, unless --metrics-allow
    adds others; set a token in RICHPUSH_METRICS_ALLOW, where `ps` does not show it.
    """
  static let options: [Option] = [
    .value("listen", "HOST:PORT", "where to listen; port 0 picks one", default: "127.0.0.1:8080"),
    .value(
      Option.data.name, Option.data.placeholder,
      "where the store is; a new one is made of an absent or empty folder", default: "var"),
    .database,
    .value("assets", "FOLDER", "drop folder, one subfolder per rich type", default: "assets"),
    PluginFolders.option,
    .value(
      "push", "LIST",
      OriginConfiguration.pushServices + "; docs/PUSH.md names their variables",
      default: "embedded"),
    .value(
      "push-contact", "ADDRESS", "webpush: where push services reach you, mailto: or https:"),
    .list("push-allow", "HOST:PORT", "webpush: a push service whose address need not be public"),
    .list("subjects", "TAG=NAME", "what people can choose to get, such as news=News"),
    .value(
      "sign-up", "HOW", "people add themselves for --subjects: open, or approval by an admin"),
    .oidcIssuer,
    .value(
      "oidc-client-id", "ID", "what the provider calls this server", default: "richpush"),
    .value(
      "oidc-name", "TEXT", "what people call the provider", default: SignInSettings().name),
    .value(
      "oidc-scopes", "LIST", "what the provider is asked for beside openid",
      default: "profile,email"),
    .value(
      "oidc-user-claim", "CLAIM", "what a new user is called", default: "preferred_username"),
    .value("oidc-groups-claim", "CLAIM", "what has a user's groups", default: "groups"),
    .list(
      "oidc-roles", "GROUP=ROLE",
      "members of a group are device, publisher or admin; others are device, or refused if a group is"
    ),
    .flag("oidc-linked-only", "make no users at their first sign-in: see richpush user link"),
    .value(
      "password-sign-in", "WHO",
      "who can sign in with a password: everybody, or one admin for emergencies, by name",
      default: SignInSettings.everybody),
    .value(
      "approve-above", "NUMBER",
      "a notification for more people waits until another publisher approves it"),
    .value(
      "quiet-hours", "FROM-UNTIL",
      "when pushes wait that are not urgent, such as 22:00-07:00 by the clock of each device"),
    .value(
      "most-a-day", "NUMBER",
      "how many notifications a person is pushed in 24 hours at most, but for urgent ones"),
    .value("public-url", "URL", "this server's address for phones, used in the links of pushes"),
    .list(
      "compat", "LIST",
      "APIs of other programs to serve for publishers: ntfy, gotify, bark, webhooks"),
    .value(
      "ntfy-listen", "HOST:PORT",
      "where ntfy's API listens, or a host name of its own where this server listens"),
    .value(
      "ntfy-upstream", "URL",
      "ntfy's server, https://ntfy.sh, that may know when iPhones get something: it wakes ntfy's app"
    ),
    .list("link-scheme", "SCHEME", "what links in notifications may begin with beside https"),
    .flag("audit-log", "the log also says who changed or sent what: richpush audit lists it"),
    .value("access-log", "FILE", "a line of JSON for each response; - is standard output"),
    .list("cors-origin", "ORIGIN", "an origin whose pages may read responses; * means any"),
    .list(
      "trusted-proxy", "ADDRESS",
      "a proxy whose X-Forwarded-For and -Proto are trusted, or a network of them: 10.0.0.0/24"),
    .list(
      "metrics-allow", "WHO", "who else may read /metrics: an address, 10.0.0.0/8, token:SECRET"),
    .value(
      "connections-per-address", "NUMBER", "most open connections per address",
      default: "2000"),
    .list(
      "tls-certificate", "FILE",
      "a certificate with its chain, PEM: serve HTTPS; one with an ECDSA key, and one with RSA"),
    .list(
      "tls-key", "FILE",
      "the private key of each certificate, in their order; changed files are used at once"),
    .value(
      "sandbox", "LEVEL", "how plugins are isolated: standard, strict (all or nothing) or off",
      default: "standard"),
    .value("user", "NAME", "started by root: the user to run as once it listens"),
    .value(
      "plugin-uids", "FIRST-LAST",
      "user IDs for plugins, one each, if the server can change users",
      default: "60706-60961"),
    .list("network", "TYPE", "a rich type whose plugin may use the network, such as url"),
    .value("rendition-cache", "MIB", "most disk space for renditions, in MiB", default: "10240"),
    .value(
      "keep-replaced", "DAYS", "how long replaced and removed assets can be brought back",
      default: "30"),
    .value("keep-replaced-space", "MIB", "most disk space for them, in MiB", default: "2048"),
    .list(
      "keep", "KIND=AGE",
      "how many hours (h), days (d) or years (y) notifications, receipts with replies, and the audit log are kept: notifications=1y,receipts=90d,audit=2y"
    ),
    .objects,
    .value(
      "objects-cache", "MIB", "with --objects: most disk space for other content, in MiB",
      default: "10240"),
    .value("publish-as", "USER", "publish files with a .notify.json, or in outbox/, as this user"),
    .value(
      "settle", "SECONDS",
      "publish a file when it was unchanged for so long, longer if it was changed often; at most 60",
      default: "2"),
    .value(
      "log-level", "LEVEL", "the least important lines to log: error, warning, notice or info",
      default: "info"),
    .value(
      "log-format", "FORMAT", "text or json; in systemd's journal with its priorities",
      default: "text"),
    .flag("no-console", "serve no console at /console/"),
    .flag("no-app", "serve no app for recipients at /app/"),
    .value("app-name", "NAME", "what the app is called on a phone", default: AppSettings().name),
    .value("app-colour", "COLOUR", "the app's accent", default: AppSettings().colour),
    .value(
      "app-icon", "FILE",
      "the app's icon: a square PNG of at least 512 pixels, opaque, its motif in the middle 80 %"),
    .flag("push-page", "has no effect: the app has taken the place of the page /push/"),
    .flag("demo", "any user name works, with the same word as password"),
    .value("default-type", "TYPE", "the rich type of the tutorial's empty POST", default: "img"),
    .value("default-payload", "NAME", "its payload", default: "logo.png"),
    .value("default-message", "TEXT", "its message", default: "Check this image out!"),
  ]

  static func run(_ arguments: Arguments) async throws {
    let address = try ListenAddress(arguments.required("listen"))
    var configuration = try configuration(arguments)
    let supervision = ServiceSupervision(environment: arguments.environment)
    configuration.listeningSockets = supervision.listeners
    if arguments.list("metrics-allow").contains(where: { $0.hasPrefix("token:") }) {
      arguments.warnOfSecret(in: "metrics-allow")
    }
    try OriginConfiguration.prepareDescriptors()
    // Before anything is made anywhere.
    try DataFolderAdmin.requireSpace(in: configuration.data)
    if configuration.isDemo { SampleFiles.prepareDemo(configuration) }
    let log = try arguments.operatorLog()
    if let warning = exposedEnvironment(arguments.environment) {
      log.log(.warning, "config", warning)
    }
    let signals = Signals()
    let origin = try await Origin(configuration, log: log.log)
    let scheme = configuration.certificates.isEmpty ? "http" : "https"
    let url = "\(scheme)://\(address.text(port: origin.port))"
    let console = configuration.hasConsole ? url + "/console/" : nil
    let app = configuration.app == nil ? nil : url + "/app/"
    let ntfy = try ntfyAddress(arguments, origin).map { "\(scheme)://\($0)" }
    let lines =
      ["richpush: listening on \(url)"] + (ntfy.map { ["richpush: ntfy's API is at \($0)"] } ?? [])
      + (console.map { ["richpush: the console is at \($0)"] } ?? [])
    // People open the console; programs read the first line.
    for line in Terminal.isInteractive ? lines.reversed() : lines { Terminal.print("\(line)") }
    if configuration.isDemo {
      Terminal.print("\(lines: firstSteps(url, console: console, app: app))")
    }
    supervision.sendReady()
    if let interval = supervision.watchdogInterval {
      origin.onTurns(every: interval / 3) { supervision.sendAlive() }
    }
    for await signal in signals.received {
      guard signal == SIGHUP else { break }
      supervision.sendReloading()
      do {
        try await origin.reload()
      } catch { log.log(.error, "config", "reload: \(error.logDescription)") }
      supervision.sendReady()
    }
    supervision.sendStopping()
    await origin.stop()
  }

  /// Where ntfy's API is, without a scheme; nil if it is not served.
  private static func ntfyAddress(
    _ arguments: Arguments, _ origin: Origin
  ) throws(CommandLineError) -> String? {
    guard let text = arguments.string("ntfy-listen") else { return nil }
    guard let port = origin.ntfyPort else { return text.lowercased() }
    return try ListenAddress(text, of: "ntfy-listen").text(port: port)
  }

  /// The configuration that the flags and the environment describe.
  ///
  /// - Throws: An error that names the flag or the variable that is wrong.
  static func configuration(_ arguments: Arguments) throws -> OriginConfiguration {
    let address = try ListenAddress(arguments.required("listen"))
    var configuration = try OriginConfiguration()
    configuration.host = address.host
    configuration.port = address.port
    configuration.data = try arguments.required("data")
    configuration.database = try arguments.database()
    configuration.assets = try arguments.required("assets")
    configuration.mask = RichPush.initialUmask
    let plugins = PluginFolders(arguments)
    configuration.plugins = plugins.own
    configuration.furtherPlugins = Array(plugins.paths.dropFirst())
    configuration.programs = Programs.folder
    configuration.version = RichPush.version
    configuration.accessLog = arguments.string("access-log")
    configuration.logsAudit = arguments.flag("audit-log")
    configuration.settings = arguments.given(
      among: options,
      variables: OriginConfiguration.pushVariables.map(\.name)
        + ObjectStoreSettings.variables.map(\.name) + SignInSettings.variables.map(\.name))
    configuration.origins = Set(arguments.list("cors-origin"))
    configuration.linkSchemes = Set(arguments.list("link-scheme").map { $0.lowercased() })
    configuration.proxies = arguments.list("trusted-proxy")
    configuration.connectionsPerAddress =
      try arguments.integer("connections-per-address", in: 1...1_000_000) ?? 2000
    configuration.sandbox = try arguments.sandbox().rawValue
    configuration.uids = try arguments.userIDs("plugin-uids")
    configuration.network = Set(arguments.list("network"))
    configuration.renditionBytes = (try arguments.integer("rendition-cache") ?? 0) << 20
    configuration.versionDays = try arguments.integer("keep-replaced", in: 0...3650) ?? 30
    configuration.versionBytes = (try arguments.integer("keep-replaced-space") ?? 0) << 20
    try CommandLineError.usage { try configuration.keep(arguments.list("keep")) }
    configuration.objectCacheBytes = (try arguments.integer("objects-cache") ?? 0) << 20
    configuration.isDemo = arguments.flag("demo")
    configuration.hasConsole = !arguments.flag("no-console")
    configuration.approveAbove = try arguments.integer("approve-above", in: 1...1_000_000_000)
    configuration.mostADay = try arguments.integer("most-a-day", in: 1...1000)
    configuration.signUp = try arguments.choice("sign-up")
    configuration.publishAs = arguments.string("publish-as")
    configuration.settle = Double(try arguments.integer("settle", in: 0...60) ?? 2)
    configuration.standard.richType = try arguments.required("default-type")
    configuration.standard.payload = try arguments.required("default-payload")
    configuration.standard.message = try arguments.required("default-message")
    try CommandLineError.usage {
      try usePush(arguments, in: &configuration)
      configuration.objects = try ObjectStoreSettings(
        arguments.string("objects"), environment: arguments.environment)
      try configuration.useCertificates(
        arguments.list("tls-certificate"), keys: arguments.list("tls-key"))
      configuration.user = try arguments.string("user").map(ServerUser.init)
      try arguments.string("public-url").map { try configuration.usePublicURL($0) }
      try arguments.string("quiet-hours").map { try configuration.useQuietHours($0) }
      try configuration.offer(arguments.list("subjects"))
      configuration.compatibility = try CompatibilitySettings(
        arguments.list("compat"), ntfy: ntfyPlace(arguments))
      try configuration.allowMetrics(arguments.list("metrics-allow"))
      configuration.app = try app(arguments)
      configuration.signIn = try signIn(arguments)
      try configuration.check()
    }
    if configuration.isDemo,
      !(configuration.isLoopback && configuration.compatibility.isLoopback)
    {
      throw CommandLineError.usage(
        "--demo accepts any user, so it only listens on 127.0.0.1, [::1] or localhost")
    }
    return configuration
  }

  /// The push services that the flags and the environment describe.
  private static func usePush(
    _ arguments: Arguments, in configuration: inout OriginConfiguration
  ) throws {
    var (services, environment) = (try arguments.required("push"), arguments.environment)
    if let upstream = arguments.string("ntfy-upstream") {
      guard arguments.string("ntfy-listen") != nil else {
        throw CommandLineError.usage("--ntfy-upstream has no effect without --compat ntfy")
      }
      services += ",ntfy"
      environment["RICHPUSH_NTFY_UPSTREAM"] = upstream
    }
    try configuration.usePush(
      services, environment: environment, contact: arguments.string("push-contact"),
      allowed: arguments.list("push-allow"))
  }

  /// Where ntfy's API is to be: at an address, which has a port, or by a host name.
  private static func ntfyPlace(
    _ arguments: Arguments
  ) throws(CommandLineError) -> CompatibilitySettings.Place? {
    guard let text = arguments.string("ntfy-listen") else { return nil }
    guard text.contains(":") else { return .host(text.lowercased()) }
    let address = try ListenAddress(text, of: "ntfy-listen")
    return .address(host: address.host, port: address.port)
  }

  /// How people sign in, as the flags and the environment describe it.
  private static func signIn(_ arguments: Arguments) throws -> SignInSettings {
    var settings = SignInSettings()
    let who = try arguments.required("password-sign-in")
    settings.passwordUser = who == SignInSettings.everybody ? nil : who
    guard let issuer = arguments.string(Option.oidcIssuer.name), !issuer.isEmpty else {
      guard arguments.list("oidc-roles").isEmpty, !arguments.flag("oidc-linked-only") else {
        throw OperatorError(
          "--oidc-roles and --oidc-linked-only have no effect without --oidc-issuer")
      }
      return settings
    }
    settings.name = try arguments.required("oidc-name")
    settings.makesUsers = !arguments.flag("oidc-linked-only")
    try settings.useProvider(
      issuer, clientID: arguments.required("oidc-client-id"), environment: arguments.environment)
    try settings.useClaims(
      scopes: arguments.required("oidc-scopes"), name: arguments.required("oidc-user-claim"),
      groups: arguments.required("oidc-groups-claim"))
    try settings.giveRoles(arguments.list("oidc-roles"))
    return settings
  }

  /// The recipients' app that the flags describe; nil for none.
  private static func app(_ arguments: Arguments) throws -> AppSettings? {
    var app = AppSettings()
    app.name = try arguments.required("app-name")
    app.colour = try arguments.required("app-colour")
    try arguments.string("app-icon").map { try app.useIcon(at: $0) }
    return arguments.flag("no-app") ? nil : app
  }

  /// What to say if the environment is from the packaged service's file, and others can read the secrets there.
  private static func exposedEnvironment(_ environment: [String: String]) -> String? {
    let path = StoreLocation.packageFile
    guard let text = try? String(contentsOf: URL(filePath: path), encoding: .utf8) else {
      return nil
    }
    let inForce = EnvironmentFile(text).environment.filter { environment[$0.key] == $0.value }
    return EnvironmentSecrets(in: inForce).warning(of: path)
  }

  private static func firstSteps(
    _ address: String, console: String?, app: String?
  ) -> String {
    let program = ProcessInfo.processInfo.arguments[0]
    let server = address == "http://127.0.0.1:8080" ? "" : " --server \(address)"
    let pages = [
      console.map { "The console, as admin, admin:      \($0)" },
      app.map { "The app, as alice, alice:          \($0)" },
    ].compactMap { $0.map { $0 + "\n" } }.joined()
    return "\n" + pages + """
      In a second terminal, a phone:     \(program) device --user alice\(server)
      In a third, send it a picture:     curl -u alice:alice -X POST \(address)/api/notifications -d ''
      """
  }
}

extension Arguments {
  /// The log that the flags describe.
  fileprivate func operatorLog() throws(CommandLineError) -> OperatorLog {
    OperatorLog(
      level: try string("log-level", among: OperatorLog.levels) ?? "info",
      format: try choice("log-format") ?? .text, environment: environment)
  }

  /// A range of user IDs such as `60706-60961`.
  fileprivate func userIDs(_ name: String) throws(CommandLineError) -> ClosedRange<Int>? {
    guard let text = string(name) else { return nil }
    let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard ends.count == 2, let first = ends[0], let last = ends[1], first > 0, first <= last,
      last < Int(UInt32.max) - 1
    else {
      throw .usage("--\(name) must be a range of user IDs such as 60706-60961, not '\(text)'")
    }
    return first...last
  }
}

/// The value of `--listen`, or of another flag like it.
struct ListenAddress {
  let host: String
  let port: UInt16

  /// Parses `HOST:PORT`, with an IPv6 address in brackets.
  init(_ text: String, of flag: String = "listen") throws(CommandLineError) {
    guard let colon = text.lastIndex(of: ":"),
      let port = UInt16(text[text.index(after: colon)...])
    else { throw .usage("--\(flag) must be HOST:PORT, such as 127.0.0.1:8080, not '\(text)'") }
    var host = text[..<colon]
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    guard !host.isEmpty else { throw .usage("--\(flag) has no host: '\(text)'") }
    let address = host == "localhost" ? "127.0.0.1" : String(host)
    guard Self.isNumeric(address) else {
      throw .usage("--\(flag) takes a numeric address or localhost, not '\(host)'")
    }
    (self.host, self.port) = (address, port)
  }

  private static func isNumeric(_ host: String) -> Bool {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &found) == 0 else { return false }
    freeaddrinfo(found)
    return true
  }

  /// The address in the form of a URL's authority.
  func text(port: Int) -> String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}

/// Receives SIGTERM, SIGINT and SIGHUP as an asynchronous sequence; ignores SIGPIPE.
struct Signals {
  /// The numbers of the received signals.
  let received: AsyncStream<Int32>
  private let sources: [any DispatchSourceSignal]

  init() {
    signal(SIGPIPE, SIG_IGN)
    let (received, continuation) = AsyncStream.makeStream(of: Int32.self)
    self.received = received
    sources = [SIGTERM, SIGINT, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield(number) }
      source.activate()
      return source
    }
  }
}
