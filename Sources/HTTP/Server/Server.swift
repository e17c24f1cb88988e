import Dispatch
import Synchronization

/// An HTTP server over libmicrohttpd: several single-thread event loops that share one port.
package final class Server: Sendable {
  /// The port it listens on.
  package let port: Int

  private let loops: Mutex<EventLoops>
  private let connections: OpenConnections
  private let gauge: PreparedGauge
  /// A dispatch source may be used from any thread.
  private nonisolated(unsafe) let clock: any DispatchSourceTimer

  /// Binds the port and starts answering.
  ///
  /// - Parameters:
  ///   - configuration: where to listen and what to allow.
  ///   - responder: what answers.
  ///   - log: told what an operator should know, a line at a time.
  ///   - observer: told of every answer when it is over.
  /// - Throws: `ServerError` when the address cannot be had.
  package init(
    _ configuration: ServerConfiguration, responder: any Responder,
    log: @escaping @Sendable (String) -> Void, observer: Observer? = nil
  ) throws {
    var configuration = configuration
    let wanted = configuration.limits.connections
    let descriptors = DescriptorLimit.raise()
    let most = DescriptorLimit.connections(wanted, descriptors: descriptors)
    if most < wanted {
      log("http: at most \(most) connections, for want of descriptors (ulimit -n)")
      configuration.limits.connections = most
    }
    let listeners = try Listeners.open(configuration)
    let connections = OpenConnections(configuration)
    let gauge = PreparedGauge(descriptors: DescriptorLimit.files(descriptors: descriptors))
    var loops = EventLoops(configuration: configuration) { [configuration] in
      Worker(
        configuration: configuration, responder: responder, connections: connections,
        gauge: gauge, log: log, observer: observer)
    }
    try loops.start(on: listeners.descriptors)
    port = Int(listeners.port)
    self.loops = Mutex(loops)
    (self.connections, self.gauge) = (connections, gauge)
    clock = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "http.deadlines"))
    clock.schedule(deadline: .now(), repeating: .milliseconds(100), leeway: .milliseconds(20))
    clock.setEventHandler { connections.tick(Ticks.now) }
    clock.activate()
  }

  /// Connections that are open now.
  package var openConnections: Int { connections.count }

  /// What the prepared responses take now.
  package var prepared: PreparedFigures { gauge.figures }

  /// Serves another certificate to every connection from now on; those that are open keep theirs.
  ///
  /// - Parameter identity: the new certificate and key.
  /// - Throws: `ServerError` when they cannot be used; the old ones then stay.
  package func reload(_ identity: TLSIdentity) throws {
    try loops.withLock { loops throws(ServerError) in try loops.renew(identity) }
  }

  /// Stops: accepts nothing more, answers what it has begun, closes streams, and then ends.
  ///
  /// - Parameter grace: how long answers may take; what is not finished then gets a 503 or is cut.
  package func stop(grace: Duration) async {
    loops.withLock { $0.quiesce() }
    connections.drain()
    await connectionsClose(within: grace)
    connections.end()
    await connectionsClose(within: .seconds(2))
    clock.cancel()
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        self.loops.withLock { $0.stop() }
        continuation.resume()
      }
    }
  }

  private func connectionsClose(within time: Duration) async {
    let end = ContinuousClock.now + time
    while connections.count > 0, ContinuousClock.now < end {
      try? await Task.sleep(for: .milliseconds(5))
    }
  }
}
