/// What the connections of one HTTP thread share; nothing in it needs a lock.
final class Worker {
  let responder: any Responder
  let limits: ServerConfiguration.Limits
  let times: PhaseTimes
  let isSecure: Bool
  let connections: OpenConnections
  let log: @Sendable (String) -> Void
  let observe: (@Sendable (Exchange) -> Void)?
  let prepared: PreparedCache

  init(
    configuration: ServerConfiguration, responder: any Responder, connections: OpenConnections,
    log: @escaping @Sendable (String) -> Void, observe: (@Sendable (Exchange) -> Void)?
  ) {
    self.responder = responder
    limits = configuration.limits
    times = PhaseTimes(configuration.limits)
    isSecure = configuration.tls != nil
    self.connections = connections
    self.log = log
    self.observe = observe
    prepared = PreparedCache(bytes: limits.preparedBytes, files: limits.preparedFiles)
  }
}
