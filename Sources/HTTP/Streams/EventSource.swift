/// Where the events of a stream come from.
package protocol EventSource: Sendable {
  /// Called once, on the thread of an event loop, when the stream begins: keep the sink, send to it, do not block.
  func open(_ sink: EventSink)
}

/// One server-sent event (WHATWG HTML, section 9.2).
package struct ServerSentEvent: Sendable {
  package var id: String?
  package var name: String?
  package var data: String
  /// How long a client waits before it connects again.
  package var retry: Duration?

  package init(id: String? = nil, name: String? = nil, data: String, retry: Duration? = nil) {
    self.id = id
    self.name = name
    self.data = data
    self.retry = retry
  }

  /// The event as it stands in the stream.
  package var bytes: [UInt8] {
    var text = ""
    if let id { text += "id: \(Self.oneLine(id))\n" }
    if let name { text += "event: \(Self.oneLine(name))\n" }
    if let retry { text += "retry: \(retry.milliseconds)\n" }
    for line in data.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      text += "data: \(line)\n"
    }
    return Array("\(text)\n".utf8)
  }

  private static func oneLine(_ text: String) -> String {
    String(text.map { $0.isNewline || $0 == "\0" ? " " : $0 })
  }
}
