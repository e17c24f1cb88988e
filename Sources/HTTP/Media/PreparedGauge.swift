import Synchronization

/// What the prepared responses of all threads take.
package struct PreparedFigures: Sendable {
  /// Bytes that are mapped; one file counts on every thread that serves it.
  package var bytes = 0
  /// Files that are mapped, without a descriptor.
  package var files = 0
  /// Files that are open as well, for the kernel to send them.
  package var descriptors = 0
  /// Files that had to go so that others could come, since the server began.
  package var evicted = 0

  /// Nothing yet.
  package init() {}
}

/// Adds up what the threads' caches hold.
final class PreparedGauge: Sendable {
  private let mostDescriptors: Int
  private let sum = Mutex(PreparedFigures())

  init(descriptors: Int = 256) { mostDescriptors = descriptors }

  var figures: PreparedFigures { sum.withLock { $0 } }

  func add(_ bytes: Int) {
    sum.withLock { sum in
      sum.files += 1
      sum.bytes += bytes
    }
  }

  /// Counts one more descriptor; false when there are enough.
  func openDescriptor() -> Bool {
    sum.withLock { sum in
      guard sum.descriptors < mostDescriptors else { return false }
      sum.descriptors += 1
      return true
    }
  }

  func closeDescriptor() { sum.withLock { $0.descriptors -= 1 } }

  func drop(_ files: Int, _ bytes: Int) {
    sum.withLock { sum in
      sum.files -= files
      sum.bytes -= bytes
      sum.evicted += files
    }
  }
}
