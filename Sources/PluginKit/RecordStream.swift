import Glibc

/// The records that come over a connection.
struct RecordStream {
  private let connection: Descriptor
  private var buffer: [UInt8] = []
  private var start = 0

  init(_ connection: Descriptor) {
    self.connection = connection
  }

  /// The next record; nil when the other side has closed or speaks another version.
  mutating func next() throws -> Record? {
    guard let header = try take(8), header[0] == 1 else { return nil }
    let length = Int(header[4]) << 8 | Int(header[5])
    guard let content = try take(length), try take(Int(header[6])) != nil else { return nil }
    return Record(
      kind: header[1], request: UInt16(header[2]) << 8 | UInt16(header[3]), content: content)
  }

  private mutating func take(_ count: Int) throws -> [UInt8]? {
    while buffer.count - start < count {
      buffer.removeFirst(start)
      start = 0
      let piece = try connection.readOnce(atMost: 65_536)
      if piece.isEmpty { return nil }
      buffer += piece
    }
    defer { start += count }
    return Array(buffer[start..<start + count])
  }
}
