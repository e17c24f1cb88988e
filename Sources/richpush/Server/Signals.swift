import Dispatch
import Foundation

/// SIGTERM, SIGINT and SIGHUP as something to wait for; SIGPIPE is ignored.
struct Signals {
  /// The numbers of the signals that came.
  let arrivals: AsyncStream<Int32>
  private let sources: [any DispatchSourceSignal]

  init() {
    signal(SIGPIPE, SIG_IGN)
    let (arrivals, continuation) = AsyncStream.makeStream(of: Int32.self)
    self.arrivals = arrivals
    sources = [SIGTERM, SIGINT, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield(number) }
      source.activate()
      return source
    }
  }
}
