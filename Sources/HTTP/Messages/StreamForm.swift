/// How a stream is sent, whatever it tells.
package struct StreamForm: Sendable {
  /// The media type; empty if the stream is no content of HTTP's.
  package let mediaType: String
  /// What is sent when the stream has been quiet for long.
  package let heartbeat: @Sendable () -> [UInt8]
  /// What asks the client to connect again soon, because the server shuts down.
  package let farewell: [UInt8]
  /// What ends the stream.
  package let end: [UInt8]
  /// Whether it ends only when somebody wants it to; otherwise it is sent to its end when the server shuts down.
  package let isEndless: Bool

  /// A form; `farewell`, `end` and what `heartbeat` returns may be empty.
  package init(
    mediaType: String, farewell: [UInt8] = [], end: [UInt8] = [], isEndless: Bool = true,
    heartbeat: @escaping @Sendable () -> [UInt8]
  ) {
    (self.mediaType, self.heartbeat) = (mediaType, heartbeat)
    (self.farewell, self.end, self.isEndless) = (farewell, end, isEndless)
  }

  /// Server-sent events (WHATWG HTML, section 9.2).
  package static let serverSentEvents = StreamForm(
    mediaType: "text/event-stream", farewell: Array("retry: 1000\n\n".utf8)
  ) { Array(":\n\n".utf8) }
}
