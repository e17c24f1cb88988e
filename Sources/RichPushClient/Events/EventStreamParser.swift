/// An incremental parser of server-sent events (WHATWG HTML section 9.2.6).
struct EventStreamParser {
  /// An event, or the delay before the next connection.
  enum Item: Equatable {
    case event(id: String, data: String)
    case retry(milliseconds: Int)
  }

  /// The longest line or event, in bytes.
  static let limit = 1 << 20

  /// The ID of the last complete event.
  private(set) var lastEventID: String
  private var nextEventID: String
  private var line: [UInt8] = []
  private var data: [UInt8] = []
  private var hasData = false
  private var followsReturn = false
  private var isFirstLine = true

  init(lastEventID: String = "") {
    self.lastEventID = lastEventID
    nextEventID = lastEventID
  }

  /// Parses bytes and returns the items that they complete.
  mutating func read(_ bytes: some Sequence<UInt8>) throws(RichPushError) -> [Item] {
    var items: [Item] = []
    for byte in bytes {
      defer { followsReturn = byte == UInt8(ascii: "\r") }
      switch byte {
      case UInt8(ascii: "\n") where followsReturn: continue
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"): items += endOfLine()
      default: line.append(byte)
      }
      if line.count + data.count > Self.limit {
        throw RichPushError(.malformed, "The event stream sent an event of more than a megabyte.")
      }
    }
    return items
  }

  private mutating func endOfLine() -> [Item] {
    defer {
      line.removeAll(keepingCapacity: true)
      isFirstLine = false
    }
    var text = line[...]
    if isFirstLine, text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
    guard !text.isEmpty else { return dispatch() }
    let name = text.prefix { $0 != UInt8(ascii: ":") }
    var value = text.dropFirst(name.count + 1)
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    return field(String(decoding: name, as: UTF8.self), value)
  }

  private mutating func field(_ name: String, _ value: ArraySlice<UInt8>) -> [Item] {
    switch name {
    case "data":
      if hasData { data.append(UInt8(ascii: "\n")) }
      data += value
      hasData = true
    case "id" where !value.contains(0):
      nextEventID = String(decoding: value, as: UTF8.self)
    case "retry":
      let digits = String(decoding: value, as: UTF8.self)
      guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let time = Int(digits) else {
        break
      }
      return [.retry(milliseconds: time)]
    default: break
    }
    return []
  }

  private mutating func dispatch() -> [Item] {
    lastEventID = nextEventID
    guard hasData else { return [] }
    defer {
      data.removeAll(keepingCapacity: true)
      hasData = false
    }
    return [.event(id: lastEventID, data: String(decoding: data, as: UTF8.self))]
  }
}
