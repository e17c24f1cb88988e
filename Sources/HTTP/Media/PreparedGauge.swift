import Synchronization

/// What the prepared responses of all threads take.
package struct PreparedFigures: Sendable {
  /// Bytes that are mapped; one file counts on every thread that serves it.
  package var bytes = 0
  /// Files that are mapped; none of them holds a descriptor.
  package var files = 0
  /// Files that had to go so that others could come, since the server began.
  package var evicted = 0

  /// Nothing yet.
  package init() {}
}

/// Adds up what the threads' caches hold.
final class PreparedGauge: Sendable {
  private let sum = Mutex(PreparedFigures())

  var figures: PreparedFigures { sum.withLock { $0 } }

  func add(_ bytes: Int) {
    sum.withLock { sum in
      sum.files += 1
      sum.bytes += bytes
    }
  }

  func drop(_ files: Int, _ bytes: Int) {
    sum.withLock { sum in
      sum.files -= files
      sum.bytes -= bytes
      sum.evicted += files
    }
  }
}
