import Dispatch
import Foundation

/// SIGTERM and SIGINT as something to wait for; SIGPIPE is ignored.
struct Signals {
  private let arrivals: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  init() {
    signal(SIGPIPE, SIG_IGN)
    let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
    self.arrivals = arrivals
    sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield() }
      source.activate()
      return source
    }
  }

  /// Waits for one.
  func next() async {
    for await _ in arrivals { return }
  }
}
