/// What the connections of one HTTP thread share; nothing in it needs a lock.
final class Worker {
  let responder: any Responder
  let limits: ServerConfiguration.Limits
  let times: PhaseTimes
  let isSecure: Bool
  let forwarding: Forwarding
  let crossOrigin: CrossOrigin?
  let connections: OpenConnections
  let log: @Sendable (String) -> Void
  let observer: Observer?
  let prepared: PreparedCache
  /// Connections of this thread.
  var open = 0
  private var serial = UInt64.random(in: .min ... .max)

  init(
    configuration: ServerConfiguration, responder: any Responder, connections: OpenConnections,
    gauge: PreparedGauge, log: @escaping @Sendable (String) -> Void,
    observer: Observer?
  ) {
    self.responder = responder
    limits = configuration.limits
    times = PhaseTimes(configuration.limits)
    isSecure = configuration.tls != nil
    forwarding = Forwarding(trusted: configuration.trustedProxies)
    crossOrigin = CrossOrigin(configuration.origins)
    self.connections = connections
    self.log = log
    self.observer = observer
    prepared = PreparedCache(
      bytes: limits.preparedBytes, files: limits.preparedFiles, gauge: gauge)
  }

  /// Whether a file should be sent by the kernel (sendfile) instead of being copied from memory: a copy
  /// is the quicker only as long as all that are under way stay in the processor's caches.
  func streams(_ size: Int) -> Bool {
    size >= Self.large && size * open >= Self.muchAtOnce && !isSecure
  }

  private static let large = 64 << 10
  private static let muchAtOnce = 32 << 20

  /// A number that names a request; they look unlike each other (Weyl's sequence).
  func nextSerial() -> UInt64 {
    serial &+= 0x9E37_79B9_7F4A_7C15
    return serial
  }
}
