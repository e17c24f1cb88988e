import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One connection to the event stream: its answer, then its bytes as they arrive.
///
/// Letting go of the last reference closes it.
final class EventConnection: Sendable {
  /// What comes over a connection, in order.
  enum Part: Sendable {
    case answer(status: Int, error: RichPushError?)
    case bytes(Data)
  }

  /// A connection that is silent for longer than three heartbeats counts as broken, in seconds.
  static let patience = 45
  /// A reader that falls this many pieces behind is cut off; it reconnects and loses nothing.
  static let backlog = 1024

  private let transfer: EventTransfer
  private let parts: AsyncThrowingStream<Part, any Error>

  /// Connects.
  init(_ request: URLRequest) {
    let (parts, continuation) = AsyncThrowingStream.makeStream(
      of: Part.self, throwing: (any Error).self, bufferingPolicy: .bufferingOldest(Self.backlog))
    self.parts = parts
    transfer = EventTransfer(request, to: continuation)
  }

  /// The next part; nil when the connection has ended, an error when it broke.
  func next() async throws -> Part? {
    var iterator = parts.makeAsyncIterator()
    return try await iterator.next()
  }

  deinit { transfer.cancel() }
}
