package import Dispatch
package import Primitives

/// An HTTP/1.1 server: several event loops on one port, each with its own thread and socket.
package final class Server: Sendable {
  /// The numeric address it listens on.
  package let host: String
  /// The port it listens on.
  package let port: Int

  private let queues: [EventLoopQueue]
  private let threads = DispatchGroup()
  private let limiter: ConnectionLimiter
  private let metrics: CacheMetrics
  private let identity: CurrentTLSIdentity?

  /// Listens and begins to serve.
  ///
  /// - Parameters:
  ///   - configuration: where to listen and what to allow.
  ///   - listeners: the listening sockets; nil opens them.
  ///   - other: a server at another address, whose limits and metrics count this one's connections, too.
  ///   - responder: the application.
  ///   - log: receives lines for the operator.
  ///   - observer: receives a record of every response when it has ended.
  /// - Throws: `ServerError` if the address cannot be used.
  package init(
    _ configuration: ServerConfiguration, listeners: Listeners? = nil, beside other: Server? = nil,
    responder: any Responder, log: Log, observer: AccessObserver? = nil
  ) throws {
    var configuration = configuration
    let wanted = configuration.limits.connections
    let descriptors = DescriptorLimit.raise()
    let possible = DescriptorLimit.connections(wanted, descriptors: descriptors)
    if possible < wanted {
      log(.warning, "http", DescriptorLimit.notice(ofConnections: possible))
      configuration.limits.connections = possible
    }
    let metrics =
      other?.metrics
      ?? CacheMetrics(descriptorLimit: DescriptorLimit.sendfileLimit(descriptors: descriptors))
    let limiter = other?.limiter ?? ConnectionLimiter(configuration)
    let log = log.limited()
    let identity = configuration.tls.map { CurrentTLSIdentity($0) }
    let listeners = try listeners ?? Listeners.open(configuration)
    let loops = try listeners.sockets.map { socket in
      let context = try EventLoopContext(
        configuration: configuration, responder: responder, limiter: limiter,
        metrics: metrics, log: log, observer: observer)
      return try EventLoop(listener: socket, context: context, identity: identity)
    }
    (host, port) = (listeners.host, Int(listeners.port))
    queues = loops.map(\.context.queue)
    (self.limiter, self.metrics, self.identity) = (limiter, metrics, identity)
    for loop in loops { start(loop) }
  }

  /// The connections that are open now, with those of servers that count as this one's.
  package var openConnections: Int { limiter.count }

  /// What the caches of mapped files hold now.
  package var cacheMetrics: CacheMetrics.Snapshot { metrics.snapshot }

  /// Uses another certificate for new connections; open ones keep theirs.
  ///
  /// - Parameter identity: the new certificate and key.
  /// - Throws: `ServerError` if the server does not serve HTTPS.
  package func reload(_ identity: TLSIdentity) throws(ServerError) {
    guard let current = self.identity else {
      throw ServerError(code: .badCertificate, reason: "The server does not serve HTTPS.")
    }
    current.replace(with: identity)
  }

  /// Enters the group for every event loop, which leaves it in its next turn.
  package func turn(_ group: DispatchGroup) {
    for queue in queues {
      group.enter()
      queue.post(.turn(group))
    }
  }

  // After the grace period, the time for clients to read the last 503s.
  private static let closingTime = Duration.seconds(2)

  /// Stops accepting, completes responses that have started, closes streams, and ends the threads.
  ///
  /// - Parameter grace: how long responses may take; after that, pending ones become a 503 and
  ///   those being sent are cut off.
  package func stop(grace: Duration) async {
    limiter.drain()
    let accepting = DispatchGroup()
    for queue in queues {
      accepting.enter()
      queue.post(.stopAccepting(accepting))
    }
    await accepting.finished()
    post(.drain)
    await connectionsClosed(within: grace)
    post(.closeAll)
    await connectionsClosed(within: Self.closingTime)
    post(.quit)
    await threads.finished()
  }

  private func post(_ message: LoopMessage) {
    for queue in queues { queue.post(message) }
  }

  private func start(_ loop: EventLoop) {
    threads.enter()
    nonisolated(unsafe) let loop = loop  // used by its own thread only, from here on
    DetachedThread.start(named: "http") { [threads] in
      loop.run()
      threads.leave()
    }
  }

  /// Returns when all connections are closed, or after `time`.
  private func connectionsClosed(within time: Duration) async {
    let (waiting, end) = AsyncStream<Never>.makeStream()
    limiter.connections.notify(queue: .global()) { end.finish() }
    let timeout = Task {
      try? await Task.sleep(for: time)
      end.finish()
    }
    for await _ in waiting {}
    timeout.cancel()
  }
}

extension DispatchGroup {
  /// Returns when everything that entered the group has left it.
  fileprivate func finished() async {
    await withCheckedContinuation { continuation in
      notify(queue: .global()) { continuation.resume() }
    }
  }
}
