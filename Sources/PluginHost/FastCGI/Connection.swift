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

  /// What can be done with it.
  enum Readiness {
    case ready
    /// The worker let go of it.
    case closed
    /// The worker wrote more since its last answer.
    case spoken
  }

  /// Takes out what was left there.
  func readiness() -> Readiness {
    guard hasServed else { return .ready }
    return withUnsafeTemporaryAllocation(byteCount: Self.mostUnread + 1, alignment: 16) { buffer in
      switch socket.read(into: buffer) {
      case .bytes(let count): count == unread ? .ready : .spoken
      case .notYet: unread == 0 ? .ready : .closed
      case .end: .closed
      }
    }
  }
}
