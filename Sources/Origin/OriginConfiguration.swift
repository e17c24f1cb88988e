import FoundationEssentials
import Glibc
import HTTP
package import Media
import PluginHost
import Primitives
import Push
import RichPushAPI
import Store

/// The options of `richpush serve`.
package struct OriginConfiguration: Sendable {
  /// The name or address to listen on.
  package var host = "127.0.0.1"
  /// The port to listen on; 0 picks one.
  package var port: UInt16 = 8080
  /// The folder with the store: tables, blobs, renditions.
  package var data = "var"
  /// The URL of a PostgreSQL database, which has the tables of all nodes; nil for one in ``data``.
  package var database: String?
  /// The drop folder.
  package var assets = "assets"
  /// The permissions that new files and folders in the drop folder must not have (umask(2)).
  package var mask: UInt32 = 0o022
  /// The folder with the plugins.
  package var plugins = "plugins"
  /// More folders with plugins, for rich types that the ones before do not have.
  package var furtherPlugins: [String] = []
  /// The folder of `richpush-exec` and the built-in plugins' executables.
  package var programs = "."
  /// The files of the TLS certificates, for different kinds of keys; none for plain HTTP.
  package internal(set) var certificates: [CertificateFiles] = []
  /// The public URL of this server, such as `https://push.example`, for links in pushes.
  package private(set) var publicURL: String?
  /// Sockets that listen already (systemd's socket activation), instead of ``host`` and ``port``.
  package var listeningSockets: [Int32] = []
  /// The version of the program, for `/metrics`.
  package var version = ""
  /// The file of the access log; `-` is standard output, nil for none.
  package var accessLog: String?
  /// Whether the operator's log has the entries of the audit log as well.
  package var logsAudit = false
  /// What is set by flags and variables, by their names: only which of it has changed is recorded.
  package var settings: [String: String] = [:]
  /// Origins whose pages may read responses (CORS); `*` means all.
  package var origins: Set<String> = []
  /// The schemes that links in notifications may have beside `https`, in lower case.
  package var linkSchemes: Set<String> = []
  /// The proxies whose X-Forwarded fields are believed: numeric addresses.
  package var proxies: [String] = []
  /// The most open connections of one address.
  package var connectionsPerAddress = 2000
  /// How plugins are isolated: `standard`, `strict` or `off`.
  package var sandbox = "standard"
  /// The user that the server changes to once it listens; nil keeps the one that started it.
  package var user: ServerUser?
  /// The user IDs for plugins; nil for the default range.
  package var uids: ClosedRange<Int>?
  /// The rich types whose plugins may use the network, if their manifests request it.
  package var network: Set<String> = []
  /// The most bytes of renditions on the disk.
  package var renditionBytes = 10 << 30
  /// How long replaced and removed assets can be brought back, in days.
  package var versionDays = 30
  /// The most bytes of what only they have.
  package var versionBytes = 2 << 30
  /// How long records are kept at most, in seconds.
  private(set) var ages: [KeptKind: TimeInterval] = [:]
  /// The object store that has the content; nil if the data folder has it.
  package var objects: ObjectStoreSettings?
  /// The most bytes of blobs on the disk, if there is an object store.
  package var objectCacheBytes = 10 << 30
  /// Demo mode: any user name is accepted with the same word as password; only on loopback.
  package var isDemo = false
  /// The recipients' app at `/app/`, to which `/` leads; nil for none.
  package var app: AppSettings?
  /// Whether `/console/` has the console, to which `/` leads those who are signed in there, and everybody without ``app``.
  package var hasConsole = false
  /// What people can choose to get.
  package var subjects: [Subject] = []
  /// Whether people can add themselves as users, who get only ``subjects``; nil if not.
  package var signUp: SignUp?
  /// How people sign in.
  package var signIn = SignInSettings()
  /// To how many people a notification may be sent without another publisher's approval; nil for any number.
  package var approveAbove: Int?
  /// What holds for all pushes that are not urgent.
  var rules = SendingRules()
  /// How many notifications a person is pushed in 24 hours at most, but for urgent ones; nil for any number.
  package var mostADay: Int? {
    get { rules.mostADay }
    set { rules.mostADay = newValue }
  }
  /// The APIs of other programs that are served, too.
  package var compatibility = CompatibilitySettings()
  /// The user in whose name dropped files are published; nil disables publishing them.
  package var publishAs: String?
  /// How long a dropped file is unchanged before it is published, in seconds.
  package var settle = 2.0
  /// The notification that the tutorial's POST without a body creates.
  package var standard = Standard()

  /// A tag of devices that people can choose, with its name for them.
  package struct Subject: Sendable, Equatable {
    package let tag: String
    package let name: String

    /// A subject.
    package init(tag: String, name: String) { (self.tag, self.name) = (tag, name) }
  }

  /// When the subjects begin of those who add themselves.
  package enum SignUp: String, Sendable, CaseIterable {
    /// At once.
    case open
    /// When an admin has approved.
    case approval
  }

  /// The content of that notification; the defaults are the tutorial's.
  package struct Standard: Sendable {
    package var message = "Check this image out!"
    package var richType = "img"
    package var payload = "logo.png"
  }

  /// The names of the push services, as a list for people.
  package static let pushServices = PushServices.names.joined(separator: ", ")

  /// The environment variables that ``usePush(_:environment:contact:allowed:)`` reads.
  package static let pushVariables = PushConfiguration.variables.map { name, explanation in
    let isSecret = name.hasSuffix("_SECRET") || name.hasSuffix("_STRING")
    return (name: name, explanation: explanation, isSecret: isSecret)
  }

  /// The push services.
  private(set) var push: PushConfiguration
  /// The files with the credentials of the push services.
  private(set) var pushFiles: [String] = []

  /// Uses the push services in a list such as `embedded,apns`.
  ///
  /// For Web Push, `contact` is where services reach the operator, and `allowed` has the hosts and ports whose
  /// addresses need not be public. Set ``isDemo`` before.
  ///
  /// - Throws: an error that names a missing or invalid environment variable or option.
  package mutating func usePush(
    _ list: String, environment: [String: String], contact: String? = nil, allowed: [String] = []
  ) throws {
    push = try PushConfiguration(list, environment: environment) {
      [isDemo] () throws(PushError) in
      try WebPushSettings(contact: contact, allowed: allowed, isDemo: isDemo)
    }
    pushFiles = PushConfiguration.variables.map(\.name).filter { $0.hasSuffix("_FILE") }
      .compactMap { environment[$0] }
  }

  /// Sets the public URL of this server, with a proxy's path if there is one.
  ///
  /// - Throws: `OperatorError` if it is not a URL.
  package mutating func usePublicURL(_ text: String) throws {
    let address = text.hasSuffix("/") ? String(text.dropLast()) : text
    guard let url = URL(string: address), ["http", "https"].contains(url.scheme),
      url.host?.isEmpty == false, url.query == nil, url.fragment == nil, url.user == nil
    else {
      throw OperatorError("--public-url must be a URL such as https://push.example, not \(text)")
    }
    publicURL = address
  }

  /// Sets the hours in which no push is sent that is not urgent, written `22:00-07:00`.
  ///
  /// - Throws: `OperatorError` if they are none.
  package mutating func useQuietHours(_ text: String) throws(OperatorError) {
    let ends = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard ends.count == 2, let (from, until) = QuietHours(from: ends[0], until: ends[1]).minutes,
      let period = QuietPeriod(from: from, until: until)
    else {
      throw OperatorError(
        "--quiet-hours must be two different times of a day, such as 22:00-07:00, not \(text)")
    }
    rules.quietPeriod = period
  }

  /// Records that may be removed when they are old.
  enum KeptKind: String, CaseIterable, Sendable { case notifications, receipts, audit }

  /// Sets how long records are kept at most, each written `kind=age`, with a comma between two in one text; an age is such
  /// as `12h`, `90d` or `1y`.
  ///
  /// - Throws: `OperatorError` for an invalid one.
  package mutating func keep(_ texts: [String]) throws(OperatorError) {
    let units: [Character: TimeInterval] = ["h": 3600, "d": 86_400, "y": 365 * 86_400]
    for text in texts.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
      let parts = text.split(separator: "=", omittingEmptySubsequences: false)
      guard parts.count == 2, let kind = KeptKind(rawValue: String(parts[0])),
        let unit = parts[1].last.flatMap({ units[$0] }), let number = Int(parts[1].dropLast()),
        (1...10_000).contains(number)
      else {
        let kinds = KeptKind.allCases.map(\.rawValue).joined(separator: ", ")
        throw OperatorError(
          "--keep must be one of \(kinds) with an age, such as receipts=90d or 1y, not \(text)"
        )
      }
      ages[kind] = Double(number) * unit
    }
  }

  /// Offers subjects, each written `tag=Name`, with a comma between two in one text.
  ///
  /// - Throws: `OperatorError` for an invalid one.
  package mutating func offer(_ subjects: [String]) throws(OperatorError) {
    let all = subjects.flatMap { $0.split(separator: ",") }
    guard all.count <= 50 else { throw OperatorError("--subjects must be at most 50") }
    for text in all {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map(String.init)
      guard let first = parts.first, let tag = try? Tag(first), !tag.isReserved else {
        throw OperatorError("--subjects must be tags with names, such as news=News, not \(text)")
      }
      let name = parts.count == 2 ? parts[1] : first
      guard (1...64).contains(name.utf8.count) else {
        throw OperatorError("--subjects \(first): a name has from 1 to 64 bytes")
      }
      guard !self.subjects.contains(where: { $0.tag == first }) else {
        throw OperatorError("--subjects names \(first) twice")
      }
      self.subjects.append(Subject(tag: first, name: name))
    }
  }

  /// Who may read `/metrics`.
  private(set) var metricsAccess: MetricsAccess

  /// Allows clients on other machines to read `/metrics`: addresses, networks such as `10.0.0.0/8`,
  /// and bearer tokens written `token:SECRET`.
  ///
  /// - Throws: `OperatorError` if an entry is none of these.
  package mutating func allowMetrics(_ entries: [String]) throws {
    metricsAccess = try MetricsAccess(entries)
  }

  /// Raises the limit of open files as far as possible.
  ///
  /// - Throws: an error that says so if it is too low for a server.
  package static func prepareDescriptors() throws { try DescriptorLimit.requireEnough() }

  /// The defaults: the current folder, and port 8080 of loopback.
  package init() throws {
    push = try PushConfiguration(EmbeddedGateway.name, environment: [:])
    metricsAccess = try MetricsAccess()
  }
}

extension OriginConfiguration {
  /// The configuration of the plugin host.
  func plugins(log: Log) -> PluginConfiguration {
    var configuration = PluginConfiguration(
      folder: plugins, executables: programs, launcher: programs + "/richpush-exec",
      temporaryFolder: data + "/tmp")
    configuration.scratchFolder = data + "/scratch"
    configuration.furtherFolders = furtherPlugins
    configuration.uids = uids ?? PluginConfiguration.defaultUIDs
    configuration.user = user.map { ($0.id, $0.group) }
    configuration.rootFiles =
      user == nil ? [] : certificates.flatMap { [$0.certificate, $0.key] }
    configuration.sandbox = SandboxReport.Level(rawValue: sandbox) ?? .standard
    configuration.network = network
    configuration.secretPaths = secretPaths
    configuration.log = log
    return configuration
  }

  /// Files and folders that no plugin may read.
  // The data folder's entries are listed because they may be links to another disk.
  private var secretPaths: [String] {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: data)) ?? []
    return [data, assets] + entries.filter { $0 != "scratch" }.map { "\(data)/\($0)" } + pushFiles
      + (objects?.files ?? []) + signIn.files
      + certificates.flatMap { [$0.certificate, $0.key] } + (accessLog.map { [$0] } ?? [])
  }

  /// Logs which protections of the sandbox this kernel does not support.
  ///
  /// - Throws: `OperatorError` if the level is strict and one is missing, or if plugins could read secrets.
  func checkSandbox(of host: PluginHost, log: Log) throws {
    let (level, gaps) = (host.sandboxReport.level, host.sandboxGaps)
    if level == .strict, !gaps.isEmpty {
      throw OperatorError(
        "--sandbox strict: \(gaps.joined(separator: " ")) Use --sandbox standard to run anyway")
    }
    log(
      .notice, "sandbox",
      "\(level.rawValue)\(gaps.isEmpty ? ", complete on this kernel" : "")")
    for gap in gaps { log(.warning, "sandbox", gap) }
    for plugin in host.plugins() where plugin.problem == nil {
      log(
        .info, "sandbox", "\(plugin.richType): \(host.confinement(of: plugin))")
    }
    if level == .off { return }
    if let (path, folder) = host.firstReadable(of: secretPaths) {
      throw OperatorError(
        """
        plugins may read \(folder), which contains \(path): move it to another folder, such as \
        /var/lib/richpush or /srv
        """)
    }
  }

  /// What is kept, and for how long.
  var retention: Retention {
    var retention = Retention()
    retention.renditionBytes = renditionBytes
    retention.cachedBlobBytes = objectCacheBytes
    retention.versionAge = Double(versionDays) * 86400
    retention.versionBytes = versionBytes
    retention.notificationAge = ages[.notifications]
    retention.receiptAge = ages[.receipts]
    if let age = ages[.audit] { retention.auditAge = age }
    return retention
  }

  /// Checks the options before anything is opened.
  ///
  /// - Throws: `OperatorError` for an invalid option.
  package func check() throws {
    var server = ServerConfiguration()
    for proxy in proxies where !server.trust(proxy) {
      throw OperatorError(
        "--trusted-proxy must be a numeric address such as 10.0.0.2, or a network such as 10.0.0.0/24 "
          + "(with only zeros behind the prefix), not \(proxy)")
    }
    for origin in origins where !["*", "null"].contains(origin) && !Self.isOrigin(origin) {
      throw OperatorError(
        "--cors-origin must be * or an origin such as https://app.example, not \(origin)")
    }
    try app?.check()
    try signIn.check(publicURL: publicURL, isDemo: isDemo)
    // Opening the database's files as assets ends SQLite's locks in this process, and a recipient could be sent any of
    // them.
    guard !data.realPath.isInside(assets.realPath) else {
      throw OperatorError(
        "the data folder \(data) is in the drop folder \(assets), where all files are assets: move one of them "
          + "(--data, --assets)")
    }
    guard signUp == nil || !subjects.isEmpty else {
      throw OperatorError(
        "--sign-up needs --subjects, such as news=News: people can choose nothing else")
    }
    for scheme in linkSchemes.sorted() { try Self.check(linkScheme: scheme) }
    for type in network where !Plugin.isValidName(type) {
      throw OperatorError("--network must be a rich type such as url, not \(type)")
    }
    guard Plugin.isValidName(standard.richType) else {
      throw OperatorError(
        "--default-type must be a rich type such as img, not \(standard.richType)")
    }
  }

  /// Schemes whose URLs run a program or read files where somebody opens them.
  private static let unsafeSchemes: Set<String> = [
    "about", "blob", "data", "file", "filesystem", "javascript", "vbscript", "view-source",
  ]

  /// - Throws: `OperatorError` if it is no scheme (RFC 3986, section 3.1), or links must not have it.
  private static func check(linkScheme scheme: String) throws(OperatorError) {
    let isScheme =
      scheme.first.map { $0.isASCII && $0.isLetter } ?? false
      && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    guard isScheme else {
      throw OperatorError(
        "--link-scheme must be the scheme of an app's links, such as myapp for myapp://orders, not "
          + scheme)
    }
    guard !unsafeSchemes.contains(scheme) else {
      throw OperatorError(
        "--link-scheme must not be \(scheme): such a link can run scripts or read files of the "
          + "person who opens it")
    }
  }

  /// Whether a browser could send the text as `Origin`: a scheme, a host and optionally a port.
  private static func isOrigin(_ text: String) -> Bool {
    guard let url = URL(string: text), url.scheme != nil, url.host?.isEmpty == false else {
      return false
    }
    return url.path.isEmpty && url.query == nil && url.fragment == nil && url.user == nil
  }

  /// The configuration of the HTTP server.
  func server(_ identity: TLSIdentity?) -> ServerConfiguration {
    var server = ServerConfiguration(host: host, port: port, tls: identity)
    server.listeningSockets = listeningSockets
    server.allowedOrigins = origins
    // In demo mode passwords can be guessed, so pages in a browser must not send requests.
    if isDemo {
      server.allowedHosts = Set(publicHost.map { [$0] } ?? [])
      if case .host(let name)? = compatibility.ntfy { server.allowedHosts?.insert(name) }
    }
    server.limits.connectionsPerAddress = connectionsPerAddress
    for proxy in proxies { _ = server.trust(proxy) }
    return server
  }

  /// The configuration of the server that only ntfy's API has, like that of the other one; nil if there is none.
  func ntfyServer(like server: ServerConfiguration) -> ServerConfiguration? {
    guard case .address(let host, let port)? = compatibility.ntfy else { return nil }
    var own = server
    (own.host, own.port, own.listeningSockets) = (host, port, [])
    return own
  }

  /// The host of the public address, with its port if it has one.
  private var publicHost: String? {
    publicURL?.split(separator: "/").dropFirst().first.map(String.init)
  }

  /// Logs what the operator has probably forgotten.
  ///
  /// - Throws: `OperatorError` if the only user with a password is no admin with one.
  func warn(of store: Store, log: Log) async throws {
    if certificates.isEmpty, proxies.isEmpty, !isLoopback {
      log(
        .warning, "config",
        """
        passwords are sent over the network unencrypted: use --tls-certificate and --tls-key, or a \
        proxy (--trusted-proxy)
        """)
    }
    if geteuid() == 0, user == nil, !isDemo {
      log(
        .warning, "config",
        "the server runs as root; use --user NAME to change to another user once it listens")
    }
    for sentence in warnings { log(.warning, "config", sentence) }
    if access(assets + "/.", F_OK) != 0 {
      log(
        .warning, "config",
        "there is no folder \(assets): create it to drop files, or use --assets for another"
      )
    }
    if let access = try? await store.databaseAccess() { warn(of: access, log) }
    let users = try await store.accounts.users()
    if !isDemo, users.isEmpty {
      let first = signIn.passwordUser.map { "\($0) --role admin" } ?? "NAME --role publisher"
      log(.notice, "config", "no users yet; add one: richpush user add \(first)")
    }
    try signIn.checkPasswordUser(among: users)
  }

  private func warn(of access: DatabaseAccess, _ log: Log) {
    if access.isPublic {
      log(
        .warning, "store",
        """
        every role of the PostgreSQL server may connect to the database \(access.database), so it can hear what \
        nodes tell each other and take their locks: REVOKE CONNECT ON DATABASE \(access.database) FROM PUBLIC
        """)
    } else if !access.roles.isEmpty {
      log(
        .notice, "store",
        """
        other roles may connect to the database \(access.database), so they can hear what nodes tell each other \
        and take their locks: \(access.roles.joined(separator: ", "))
        """)
    }
  }

  /// Logs when the object store of a store is away, and what else it does not do.
  ///
  /// - Throws: `OperatorError` if it does not accept the key, or has no such bucket. One that is away is
  ///   expected back.
  func monitorObjects(of store: Store, log: Log) async throws {
    guard let objects = store.objects else { return }
    objects.onAbsence.add { error in
      if let error {
        log(.error, "objects", "\(error.reason); only what is cached is served")
      } else {
        log(.notice, "objects", "the object store is back")
      }
    }
    objects.onFailure.add { log(.error, "objects", $0.reason) }
    do throws(StoreError) { try await objects.checkConfiguration() } catch {
      throw OperatorError("--objects: \(error.reason)")
    }
  }

  /// Logs which configured rich types have no plugin: one may be added later, but usually the name is
  /// misspelled.
  func warn(ofTypesMissingIn plugins: [Plugin], log: Log) {
    guard !plugins.isEmpty else {
      return log(
        .warning, "config",
        "there are no plugins in \(self.plugins); create one with richpush plugin new TYPE")
    }
    let known = plugins.map(\.richType)
    let named = network.sorted().map { ("--network", $0) } + [("--default-type", standard.richType)]
    for (flag, type) in named where !known.contains(type) {
      log(
        .warning, "config",
        "\(flag) \(type): there is no plugin of that name; there are: \(known.joined(separator: ", "))"
      )
    }
    for plugin in plugins where network.contains(plugin.richType) && !plugin.manifest.network {
      log(
        .warning, "config",
        "--network \(plugin.richType) has no effect: its plugin.json does not request the network"
      )
    }
  }

  /// Whether only this machine can connect.
  package var isLoopback: Bool { IPAddress.isLoopback(host) }
}
