/// What the connections of one HTTP thread share; nothing in it needs a lock.
final class Worker {
  let responder: any Responder
  let limits: ServerConfiguration.Limits
  let isSecure: Bool
  let connections: OpenConnections
  let log: @Sendable (String) -> Void
  let prepared: PreparedCache

  init(
    configuration: ServerConfiguration, responder: any Responder, connections: OpenConnections,
    log: @escaping @Sendable (String) -> Void
  ) {
    self.responder = responder
    limits = configuration.limits
    isSecure = configuration.tls != nil
    self.connections = connections
    self.log = log
    prepared = PreparedCache(bytes: limits.preparedBytes, files: limits.preparedFiles)
  }
}
