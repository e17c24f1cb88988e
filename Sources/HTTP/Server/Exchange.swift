/// A request and what became of it, for access logs and measurements.
package struct Exchange: Sendable {
  /// The request; nil when its head was refused before it became one.
  package let request: Request?
  /// The address of the other side.
  package let peer: String
  /// The status that was sent.
  package let status: Int
  /// The size of the body in bytes; 0 for a stream.
  package let bytes: Int
  /// From the end of the head to the end of the answer.
  package let duration: Duration
  /// Whether the whole answer was handed to the network.
  package let isComplete: Bool
}
