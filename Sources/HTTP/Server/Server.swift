import CMicroHTTPD
import Dispatch
import Glibc

/// An HTTP server over libmicrohttpd: several single-thread event loops that share one port.
package final class Server: Sendable {
  /// The port it listens on.
  package let port: Int

  private let daemons: [Daemon]
  private let connections: OpenConnections
  /// A dispatch source may be used from any thread.
  private nonisolated(unsafe) let clock: any DispatchSourceTimer

  /// Binds the port and starts answering.
  ///
  /// - Parameters:
  ///   - configuration: where to listen and what to allow.
  ///   - responder: what answers.
  ///   - log: told what an operator should know, a line at a time.
  /// - Throws: `ServerError` when the address cannot be had or the certificate is no good.
  package init(
    _ configuration: ServerConfiguration, responder: any Responder,
    log: @escaping @Sendable (String) -> Void
  ) throws {
    let listeners = try Listeners.open(configuration)
    let connections = OpenConnections(limits: configuration.limits)
    var daemons: [Daemon] = []
    for listener in listeners.descriptors {
      let worker = Worker(
        configuration: configuration, responder: responder, connections: connections, log: log)
      daemons.append(
        try Daemon(listener: listener, worker: worker, configuration: configuration))
    }
    port = Int(listeners.port)
    self.daemons = daemons
    self.connections = connections
    clock = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "http.deadlines"))
    clock.schedule(deadline: .now(), repeating: .milliseconds(100), leeway: .milliseconds(20))
    clock.setEventHandler { connections.tick(Ticks.now) }
    clock.activate()
  }

  /// Connections that are open now.
  package var openConnections: Int { connections.count }

  /// Stops: accepts nothing more, answers what it has begun, closes streams, and then ends.
  ///
  /// - Parameter grace: how long answers may take; what is not finished then gets a 503 or is cut.
  package func stop(grace: Duration) async {
    for daemon in daemons { daemon.quiesce() }
    connections.drain()
    await connectionsClose(within: grace)
    connections.end()
    await connectionsClose(within: .seconds(2))
    clock.cancel()
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [daemons] in
        for daemon in daemons { daemon.stop() }
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
