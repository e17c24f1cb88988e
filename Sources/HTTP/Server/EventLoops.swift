import Glibc

/// The event loops that accept, and those that only finish what they have.
struct EventLoops: Sendable {
  private var configuration: ServerConfiguration
  private let makeWorker: @Sendable () -> Worker
  private var accepting: [Daemon] = []
  private var finishing: [Daemon] = []

  init(configuration: ServerConfiguration, makeWorker: @escaping @Sendable () -> Worker) {
    self.configuration = configuration
    self.makeWorker = makeWorker
  }

  /// Starts a loop on each of the sockets, or on none.
  mutating func start(on listeners: [Int32]) throws(ServerError) {
    var started: [Daemon] = []
    for (index, listener) in listeners.enumerated() {
      do throws(ServerError) {
        started.append(
          try Daemon(listener: listener, worker: makeWorker(), configuration: configuration))
      } catch {
        for rest in listeners[(index + 1)...] { close(rest) }
        for daemon in started { daemon.stop() }
        throw error
      }
    }
    accepting = started
  }

  /// Lets new loops with another certificate take over the sockets.
  mutating func renew(_ identity: TLSIdentity) throws(ServerError) {
    guard configuration.tls != nil else {
      throw ServerError(code: .badCertificate, reason: "The server does not serve HTTPS.")
    }
    let retiring = accepting
    let old = configuration.tls
    configuration.tls = identity
    do throws(ServerError) {
      try start(on: retiring.map { $0.duplicateListener() })
    } catch {
      configuration.tls = old
      throw error
    }
    for daemon in retiring { daemon.quiesce() }
    finishing.removeAll { daemon in
      let isDone = daemon.openConnections == 0
      if isDone { daemon.stop() }
      return isDone
    }
    finishing += retiring
  }

  func quiesce() { for daemon in accepting { daemon.quiesce() } }

  mutating func stop() {
    for daemon in accepting + finishing { daemon.stop() }
    accepting = []
    finishing = []
  }
}
