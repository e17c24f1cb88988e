import Foundation
import Synchronization

/// An HTTP/1.1 server: several event loops, each on a thread of its own, that share one port.
package final class Server: Sendable {
  /// The port it listens on.
  package let port: Int

  private let mailboxes: [Mailbox]
  private let threads = DispatchGroup()
  private let admission: Admission
  private let gauge: PreparedGauge
  private let credentials: SharedCredentials?

  /// Binds the port and starts answering.
  ///
  /// - Parameters:
  ///   - configuration: where to listen and what to allow.
  ///   - listeners: sockets that are bound already; nil binds them.
  ///   - responder: what answers.
  ///   - log: told what an operator should know, a line at a time.
  ///   - observer: told of every answer when it is over.
  /// - Throws: `ServerError` when the address cannot be had.
  package init(
    _ configuration: ServerConfiguration, listeners: Listeners? = nil, responder: any Responder,
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
    let gauge = PreparedGauge(descriptors: DescriptorLimit.files(descriptors: descriptors))
    let admission = Admission(configuration)
    let credentials = try configuration.tls.map { SharedCredentials(try TLSCredentials($0)) }
    let listeners = try listeners ?? Listeners.open(configuration)
    var loops: [EventLoop] = []
    for (index, listener) in listeners.descriptors.enumerated() {
      do {
        let worker = try Worker(
          configuration: configuration, responder: responder, admission: admission, gauge: gauge,
          log: log, observer: observer)
        loops.append(
          try EventLoop(listener: listener, worker: worker, credentials: credentials))
      } catch {
        for unused in listeners.descriptors[index...] { close(unused) }
        throw error
      }
    }
    port = Int(listeners.port)
    mailboxes = loops.map(\.worker.mailbox)
    (self.admission, self.gauge, self.credentials) = (admission, gauge, credentials)
    for loop in loops { start(loop) }
  }

  /// Connections that are open now.
  package var openConnections: Int { admission.count }

  /// What the prepared responses take now.
  package var prepared: PreparedFigures { gauge.figures }

  /// Serves another certificate to every connection from now on; those that are open keep theirs.
  ///
  /// - Parameter identity: the new certificate and key.
  /// - Throws: `ServerError` when they cannot be used; the old ones then stay.
  package func reload(_ identity: TLSIdentity) throws {
    guard let credentials else {
      throw ServerError(code: .badCertificate, reason: "The server does not serve HTTPS.")
    }
    credentials.replace(with: try TLSCredentials(identity))
  }

  /// Stops: accepts nothing more, answers what it has begun, closes streams, and then ends.
  ///
  /// - Parameter grace: how long answers may take; what is not finished then gets a 503 or is cut.
  package func stop(grace: Duration) async {
    admission.drain()
    let accepting = DispatchGroup()
    for mailbox in mailboxes {
      accepting.enter()
      mailbox.post(.quiesce(accepting))
    }
    await accepting.isLeft()
    post(.drain)
    await connectionsClose(within: grace)
    post(.end)
    await connectionsClose(within: .seconds(2))
    post(.quit)
    await threads.isLeft()
  }

  private func post(_ letter: Mailbox.Letter) {
    for mailbox in mailboxes { mailbox.post(letter) }
  }

  private func start(_ loop: EventLoop) {
    threads.enter()
    // The loop belongs to its thread from here on.
    nonisolated(unsafe) let loop = loop
    let thread = Thread { [threads] in
      loop.run()
      threads.leave()
    }
    thread.name = "http"
    thread.start()
  }

  private func connectionsClose(within time: Duration) async {
    let (wait, end) = AsyncStream<Never>.makeStream()
    admission.connections.notify(queue: .global()) { end.finish() }
    let patience = Task {
      try? await Task.sleep(for: time)
      end.finish()
    }
    for await _ in wait {}
    patience.cancel()
  }
}

extension DispatchGroup {
  /// Waits until whoever has entered has left.
  fileprivate func isLeft() async {
    await withCheckedContinuation { continuation in
      notify(queue: .global()) { continuation.resume() }
    }
  }
}
