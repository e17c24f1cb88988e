import CMicroHTTPD
@preconcurrency import Dispatch
import Glibc
import Synchronization

/// Closes a socket only after the other side has had time to read what it was sent.
///
/// Closing a socket with unread bytes resets the connection, and a reset destroys a response that is
/// still on its way (RFC 9112, section 9.6): so a duplicate stays open and drops what still comes.
enum Linger {
  private static let queue = DispatchQueue(label: "http.linger")
  private static let open = Atomic(0)
  private static let limit = 1000
  private static let patience = 2.0

  /// Keeps a duplicate of the descriptor until the other side closes, for two seconds at most.
  static func close(after descriptor: Int32) {
    guard open.load(ordering: .relaxed) < limit else { return }
    let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard duplicate >= 0 else { return }
    shutdown(duplicate, Int32(SHUT_WR))
    open.add(1, ordering: .relaxed)
    let source = DispatchSource.makeReadSource(fileDescriptor: duplicate, queue: queue)
    source.setEventHandler { if !drop(from: duplicate) { source.cancel() } }
    source.setCancelHandler {
      Glibc.close(duplicate)
      open.subtract(1, ordering: .relaxed)
    }
    source.activate()
    queue.asyncAfter(deadline: .now() + patience) { source.cancel() }
  }

  /// Drops what has come; false when nothing will come any more.
  private static func drop(from descriptor: Int32) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
      read(descriptor, buffer.baseAddress, buffer.count) > 0  // it is non-blocking
    }
  }
}
