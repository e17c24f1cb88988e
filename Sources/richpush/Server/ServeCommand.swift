import Media
import Dispatch
import Foundation
import Origin

/// `richpush serve`: the server, until SIGTERM or SIGINT.
enum ServeCommand: Command {
  static let name = "serve"
  static let summary = "runs the server"
  static let help = """
    Listens for devices, back ends and content teams. The first line on standard output says
    where; the log goes to standard error. SIGTERM finishes what was begun and ends with 0.

      richpush serve --demo
      richpush serve --listen 10.0.0.5:8080 --data /var/lib/richpush --assets /srv/assets

    With --demo any user name works, with the same word as password. So it listens on loopback
    only, answers only to loopback's names and the host of --public-url, and refuses pages of other
    origins. It makes the folders it needs, with sample files. Without it, users come from
    `richpush user add`.

    /metrics is for programs on this machine that connect directly, unless --metrics-allow adds
    others; a token belongs into RICHPUSH_METRICS_ALLOW, where `ps` does not show it.
    """
  static let options: [Option] = [
    .value("listen", "HOST:PORT", "where to listen; port 0 picks one", default: "127.0.0.1:8080"),
    .value("data", "FOLDER", "where the store is kept", default: "var"),
    .value("assets", "FOLDER", "drop folder, one subfolder per rich type", default: "assets"),
    PluginFolders.option,
    .value(
      "push", "LIST",
      "push services: embedded, apns, azure, webhook; docs/PUSH.md names their variables",
      default: "embedded"),
    .value("public-url", "URL", "where phones reach this server: for the addresses in pushes"),
    .value("access-log", "FILE", "a line of JSON for every answer; - is standard output"),
    .list("cors-origin", "ORIGIN", "an origin whose pages may read answers; * means any"),
    .list("trusted-proxy", "ADDRESS", "a proxy whose X-Forwarded-For and -Proto are believed"),
    .list(
      "metrics-allow", "WHO", "who else may read /metrics: an address, 10.0.0.0/8, token:SECRET"),
    .value(
      "connections-per-address", "NUMBER", "connections one address may have open",
      default: "2000"),
    .value("tls-certificate", "FILE", "the certificate with its chain, PEM: serve HTTPS"),
    .value(
      "tls-key", "FILE",
      "its private key (PEM); SIGHUP reloads certificate, key, users and signing keys"),
    .value(
      "sandbox", "LEVEL", "how plugins are isolated: standard, strict (all or nothing) or off",
      default: "standard"),
    .value("user", "NAME", "started by root: the user to run as, once the port and keys are read"),
    .value(
      "plugin-uids", "FIRST-LAST",
      "user IDs for plugins, one each, where the server may change users",
      default: "60706-60961"),
    .list("network", "TYPE", "a rich type whose plugin may open connections, such as url"),
    .value("rendition-cache", "MIB", "the disk space that renditions may take", default: "10240"),
    .value("publish-as", "USER", "send files with a .notify.json, or in outbox/, in this name"),
    .flag("demo", "any user name works, with the same word as password"),
    .value("default-type", "TYPE", "the rich type of the tutorial's empty POST", default: "img"),
    .value("default-payload", "NAME", "its payload", default: "logo.png"),
    .value("default-message", "TEXT", "its message", default: "Check this image out!"),
  ]

  static func run(_ arguments: Arguments) async throws {
    let address = try ListenAddress(arguments.required("listen"))
    var configuration = try OriginConfiguration()
    configuration.host = address.host
    configuration.port = address.port
    configuration.data = try arguments.required("data")
    configuration.assets = try arguments.required("assets")
    configuration.mask = RichPush.mask
    let plugins = PluginFolders(arguments)
    (configuration.plugins, configuration.shippedPlugins) = (plugins.own, plugins.shipped)
    configuration.programs = Programs.folder
    configuration.certificate = arguments.string("tls-certificate")
    configuration.key = arguments.string("tls-key")
    configuration.version = version
    configuration.accessLog = arguments.string("access-log")
    configuration.origins = Set(arguments.list("cors-origin"))
    configuration.proxies = arguments.list("trusted-proxy")
    configuration.connectionsPerAddress =
      try arguments.integer("connections-per-address", in: 1...1_000_000) ?? 2000
    configuration.sandbox = try arguments.required("sandbox")
    guard ["standard", "strict", "off"].contains(configuration.sandbox) else {
      throw CommandLineError.usage("--sandbox is standard, strict or off")
    }
    configuration.uids = try arguments.userIDs("plugin-uids")
    configuration.network = Set(arguments.list("network"))
    configuration.renditionBytes = (try arguments.integer("rendition-cache") ?? 0) << 20
    configuration.isDemo = arguments.flag("demo")
    configuration.publishAs = arguments.string("publish-as")
    configuration.standard.richType = try arguments.required("default-type")
    configuration.standard.payload = try arguments.required("default-payload")
    configuration.standard.message = try arguments.required("default-message")
    do {
      try configuration.usePush(
        arguments.required("push"), environment: ProcessInfo.processInfo.environment)
      configuration.user = try arguments.string("user").map(ServerUser.init)
      try arguments.string("public-url").map { try configuration.usePublicURL($0) }
      try configuration.allowMetrics(arguments.list("metrics-allow"))
      try configuration.check()
    } catch {
      throw CommandLineError.usage(error.logDescription)
    }
    if arguments.list("metrics-allow").contains(where: { $0.hasPrefix("token:") }) {
      arguments.warnOfSecret(in: "metrics-allow")
    }
    if configuration.isDemo, !address.isLoopback {
      throw CommandLineError.usage(
        "--demo accepts any user, so it only listens on 127.0.0.1, [::1] or localhost")
    }
    do { try OriginConfiguration.prepareDescriptors() } catch {
      throw CommandLineError.failed(error.logDescription)
    }
    if configuration.isDemo { bringSamples(configuration) }
    let signals = Signals()
    let origin: Origin
    do {
      origin = try Origin(configuration, log: .standardError)
    } catch {
      throw CommandLineError.failed(error.logDescription)
    }
    let scheme = configuration.certificate == nil ? "http" : "https"
    Terminal.say("richpush: listening on \(scheme)://\(address.shown(port: origin.port))")
    if configuration.isDemo {
      Terminal.say(hint("\(scheme)://\(address.shown(port: origin.port))"))
    }
    for await signal in signals.arrivals {
      guard signal == SIGHUP else { break }
      do {
        try origin.reload(configuration)
      } catch { Terminal.complain("nothing was reloaded: \(error.logDescription)") }
    }
    await origin.stop()
  }

  /// Makes the folders of a demonstration that is started in an empty one: with all samples where there is
  /// no drop folder, and with the picture of the tutorial's call in any case.
  ///
  /// A real server makes none: a disk that is not mounted must not look like an empty folder.
  private static func bringSamples(_ configuration: OriginConfiguration) {
    // Theirs to look into and write to, as if they had made it; and the server's, for what is uploaded.
    let denied = umask(configuration.mask)
    defer { umask(denied) }
    let files = FileManager.default
    let samples = SampleFiles(folder: Programs.samples)
    let picture = "\(configuration.standard.richType)/\(configuration.standard.payload)"
    let isNew = !files.fileExists(atPath: configuration.assets)
    let hasPicture = files.fileExists(atPath: "\(configuration.assets)/\(picture)")
    for place in samples.places where isNew || place == picture {
      report("the sample \(place) is not copied") {
        try samples.copy(place, into: configuration.assets)
      }
    }
    for folder in [configuration.assets, configuration.plugins] {
      report("\(folder) is not made") {
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
      }
    }
    let made: String? = isNew ? "" : hasPicture ? nil : "/" + picture
    if let made { configuration.user?.give(configuration.assets + made) }
  }

  /// Does something without which the server can start, and says why it failed.
  private static func report(_ failure: String, _ body: () throws -> Void) {
    do { try body() } catch { Terminal.complain("\(failure): \(error.logDescription)") }
  }

  private static func hint(_ address: String) -> String {
    let program = ProcessInfo.processInfo.arguments[0]
    let server = address == "http://127.0.0.1:8080" ? "" : " --server \(address)"
    return """

      In a second terminal, a phone:     \(program) device --user alice\(server)
      In a third, send it a picture:     curl -u alice:alice -X POST \(address)/api/notifications -d ''
      """
  }
}

extension Arguments {
  /// A range of user IDs such as `60706-60961`.
  fileprivate func userIDs(_ name: String) throws(CommandLineError) -> ClosedRange<Int>? {
    guard let text = string(name) else { return nil }
    let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard ends.count == 2, let first = ends[0], let last = ends[1], first > 0, first <= last,
      last < Int(UInt32.max) - 1
    else { throw .usage("--\(name) is a range of user IDs such as 60706-60961, not '\(text)'") }
    return first...last
  }
}
