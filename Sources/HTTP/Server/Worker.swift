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
  let observe: (@Sendable (Exchange) -> Void)?
  let prepared: PreparedCache
  let knownHeads: KnownHeads
  private var serial = UInt64.random(in: .min ... .max)

  init(
    configuration: ServerConfiguration, responder: any Responder, connections: OpenConnections,
    gauge: PreparedGauge, log: @escaping @Sendable (String) -> Void,
    observe: (@Sendable (Exchange) -> Void)?
  ) {
    self.responder = responder
    limits = configuration.limits
    times = PhaseTimes(configuration.limits)
    isSecure = configuration.tls != nil
    forwarding = Forwarding(trusted: configuration.trustedProxies)
    crossOrigin = CrossOrigin(configuration.origins)
    self.connections = connections
    self.log = log
    self.observe = observe
    knownHeads = KnownHeads(lifetime: limits.lease)
    prepared = PreparedCache(
      bytes: limits.preparedBytes, files: limits.preparedFiles, gauge: gauge)
  }

  /// A number that names a request; they look unlike each other (Weyl's sequence).
  func nextSerial() -> UInt64 {
    serial &+= 0x9E37_79B9_7F4A_7C15
    return serial
  }
}
