/// A request and what became of it, for access logs and measurements.
package struct Exchange: Sendable {
  /// The request; nil when its head was refused before it became one.
  package let request: Request?
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
