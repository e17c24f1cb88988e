import HTTP
import Media
import PluginHost
import Primitives
import Synchronization

/// Uses the certificates' files again when they have changed.
///
/// It looks at them every second: certbot replaces links, others rename files or write to them, and a disk of another
/// machine tells of nothing.
final class CertificateRenewal: Sendable {
  private struct State {
    /// Those of the files that were read last.
    var facts: [FileFacts?]
    /// Why they cannot be used.
    var failure: String?
    var isLogged = false
  }

  /// How often the files are looked at.
  static let interval = Duration.seconds(1)

  private let configuration: OriginConfiguration
  /// Opens what only root can read, for a server that changed to another user; nil for any other.
  private let launcher: PluginLauncher?
  private let tickets: TLSTicketKeys
  private let monitor: CertificateMonitor
  private let servers: [Server]
  private let log: Log
  private let state: Mutex<State>

  /// Looks for changes since `facts`; `launcher` opens what the server's user cannot read.
  init(
    _ configuration: OriginConfiguration, since facts: [FileFacts?], _ launcher: PluginLauncher,
    _ tickets: TLSTicketKeys, _ monitor: CertificateMonitor, _ servers: [Server], log: Log
  ) {
    self.launcher = configuration.user == nil ? nil : launcher
    (self.configuration, self.tickets, self.monitor) = (configuration, tickets, monitor)
    (self.servers, self.log) = (servers, log)
    state = Mutex(State(facts: facts))
  }

  /// Uses the files if they have changed; those in use stay while one is missing or broken, which is logged once.
  func look() async {
    let opened = await open()
    let mayHaveChanged = state.withLock { $0.failure != nil || $0.facts != opened.facts }
    guard mayHaveChanged else { return }
    do {
      try use(opened)
      let names = configuration.certificates.map(\.certificate).joined(separator: ", ")
      log(.notice, "config", "the TLS certificate is read again: \(names)")
    } catch {
      let sentence = Self.sentence(error)
      let isNew = state.withLock { state in
        // The first time it may be half-written, or only one of two files new.
        let isNew = state.failure == sentence && !state.isLogged
        if state.failure != sentence { (state.failure, state.isLogged) = (sentence, false) }
        if isNew { state.isLogged = true }
        state.facts = opened.facts
        return isNew
      }
      if isNew { log(.error, "config", sentence) }
    }
  }

  /// Uses the files as they are now.
  ///
  /// - Throws: `OperatorError` if they cannot be used; those in use stay.
  func reload() async throws(OperatorError) {
    do { try use(await open()) } catch { throw OperatorError(Self.sentence(error)) }
  }

  private func open() async -> OpenCertificates {
    var opened = OpenCertificates(configuration.certificates)
    if let launcher { await opened.open(asRootBy: launcher) }
    return opened
  }

  private func use(_ opened: OpenCertificates) throws {
    guard let identity = try configuration.identity(of: opened, tickets: tickets) else { return }
    for server in servers { try server.reload(identity) }
    state.withLock { $0 = State(facts: opened.facts) }
    monitor.replace(with: identity.certificates)
  }

  private static func sentence(_ error: any Error) -> String {
    "the TLS certificate in use stays: \(error.logDescription)"
  }
}
