/// Who is told of every answer when it is over, on an HTTP thread.
package struct Observer: Sendable {
  /// Whether it looks at the request, which costs time where the answer stands already.
  let readsRequest: Bool
  let note: @Sendable (Exchange) -> Void

  /// An observer, which must not block.
  package init(readsRequest: Bool, note: @escaping @Sendable (Exchange) -> Void) {
    (self.readsRequest, self.note) = (readsRequest, note)
  }
}

/// A request and what became of it, for access logs and measurements.
package struct Exchange: Sendable {
  /// The request; nil when its head was refused before it became one, and for a standing answer whose
  /// observer does not ask for it.
  package let request: Request?
  /// Its method; empty when nobody knows it.
  package let method: String
  /// Its name, as its answer had it.
  package var id: String { request?.givenID ?? Request.name(serial) }
  let serial: UInt64
  /// What the responder calls the place it was for.
  package let route: String
  /// The address of the other side.
  package let peer: String
  /// The status that was sent.
  package let status: Int
  /// The size of the body in bytes; 0 for a stream.
  package let bytes: Int
  /// From the end of the head to the end of the answer.
  package let nanoseconds: Int
  /// The same in seconds.
  package var seconds: Double { Double(nanoseconds) / 1e9 }
  /// Whether the whole answer was handed to the network.
  package let isComplete: Bool
}
