/// A connection to a resident worker, between its requests.
struct Connection: Sendable {
  let socket: Descriptor
  /// Whether a request was answered over it.
  var hasServed = false
  /// How many bytes of the last answer were read and lie in the socket still.
  ///
  /// Whoever takes bytes out of a Unix socket wakes the process that sent them, even when it waits for
  /// the next request and not for room. So they stay until that is about to be sent, and it wakes once
  /// for both.
  var unread = 0

  /// No more are left there.
  static let mostUnread = 1023

  /// Takes out what was left there; false when the worker has said more since, or let go.
  func isReady() -> Bool {
    guard hasServed else { return true }
    return withUnsafeTemporaryAllocation(byteCount: Self.mostUnread + 1, alignment: 16) { buffer in
      switch socket.read(into: buffer) {
      case .bytes(let count): count == unread
      case .notYet: unread == 0
      case .end: false
      }
    }
  }
}
