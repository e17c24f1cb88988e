import Foundation
import Synchronization

/// An HTTP/1.1 server: several event loops, each with a thread and a socket of its own, on one port.
package final class Server: Sendable {
  /// The port it listens on.
  package let port: Int

  private let queues: [EventLoopQueue]
  private let threads = DispatchGroup()
  private let limiter: ConnectionLimiter
  private let metrics: CacheMetrics
  private let credentials: SharedCredentials?

  /// Listens and begins to serve.
  ///
  /// - Parameters:
  ///   - configuration: where to listen and what to allow.
  ///   - listeners: sockets that listen already; nil opens them.
  ///   - responder: the application.
  ///   - log: receives lines for the operator.
  ///   - observer: receives a record of every response when it is over.
  /// - Throws: `ServerError` if the address cannot be used.
  package init(
    _ configuration: ServerConfiguration, listeners: Listeners? = nil, responder: any Responder,
    log: @escaping @Sendable (String) -> Void, observer: AccessObserver? = nil
  ) throws {
    var configuration = configuration
    let wanted = configuration.limits.connections
    let descriptors = DescriptorLimit.raise()
    let possible = DescriptorLimit.connections(wanted, descriptors: descriptors)
    if possible < wanted {
      log("http: " + DescriptorLimit.notice(ofConnections: possible))
      configuration.limits.connections = possible
    }
    let metrics = CacheMetrics(
      descriptorLimit: DescriptorLimit.sendfileLimit(descriptors: descriptors))
    let limiter = ConnectionLimiter(configuration)
    let credentials = try configuration.tls.map { SharedCredentials(try TLSCredentials($0)) }
    let listeners = try listeners ?? Listeners.open(configuration)
    let loops = try listeners.sockets.map { socket in
      let context = try EventLoopContext(
        configuration: configuration, responder: responder, limiter: limiter,
        metrics: metrics, log: log, observer: observer)
      return try EventLoop(listener: socket, context: context, credentials: credentials)
    }
    port = Int(listeners.port)
    queues = loops.map(\.context.queue)
    (self.limiter, self.metrics, self.credentials) = (limiter, metrics, credentials)
    for loop in loops { start(loop) }
  }

  /// The connections that are open now.
  package var openConnections: Int { limiter.count }

  /// What the caches of mapped files hold now.
  package var cacheMetrics: CacheMetrics.Snapshot { metrics.snapshot }

  /// Uses another certificate for new connections; open ones keep theirs.
  ///
  /// - Parameter identity: the new certificate and key.
  /// - Throws: `ServerError` if they cannot be used; the old ones then remain.
  package func reload(_ identity: TLSIdentity) throws {
    guard let credentials else {
      throw ServerError(code: .badCertificate, reason: "The server does not serve HTTPS.")
    }
    credentials.replace(with: try TLSCredentials(identity))
  }

  // After the grace period, the time for clients to read the last 503s.
  private static let closingTime = Duration.seconds(2)

  /// Stops accepting, finishes the responses that were begun, closes streams, and ends the threads.
  ///
  /// - Parameter grace: how long responses may take; those that are not finished then get a 503 or
  ///   are cut off.
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
    nonisolated(unsafe) let loop = loop  // it belongs to its thread from here on
    let thread = Thread { [threads] in
      loop.run()
      threads.leave()
    }
    thread.name = "http"
    thread.start()
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
