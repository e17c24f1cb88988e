/// Reads what the client of a WebSocket sends (RFC 6455, section 5), in pieces of any size.
///
/// The server has no use for messages, so their content is passed over. What breaks a rule ends the connection.
final class WebSocketReader {
  /// What must be answered.
  enum Event: Equatable {
    case ping([UInt8])
    /// The client closes, or has to: the code of the answer.
    case close(UInt16?)
  }

  /// The longest frame of a message.
  static let longest = 64 << 10
  private static let longestControl = 125

  /// The beginning of a frame.
  struct Head: Equatable {
    let opcode: WebSocketFrame.Opcode
    let isFinal: Bool
    let mask: [UInt8]
    let length: Int
  }

  /// Why no more is read: the code of the close frame.
  struct Violation: Error, CustomStringConvertible {
    let code: UInt16

    var description: String {
      "The client of a WebSocket broke a rule, for which the code is \(code)."
    }
  }

  private var head: [UInt8] = []
  private var current: (head: Head, left: Int)?
  /// The content of a control frame.
  private var payload: [UInt8] = []
  private var isInsideMessage = false
  private var isOver = false

  /// Reads what has arrived; after the client's close frame, or an error, nothing more.
  func read(_ bytes: UnsafeRawBufferPointer) -> [Event] {
    var (events, rest) = ([Event](), bytes[...])
    do throws(Violation) {
      while !isOver {
        if let frame = current {
          let taken = rest.prefix(frame.left)
          if frame.head.opcode.isControl { payload += taken }
          rest = rest.dropFirst(taken.count)
          current?.left -= taken.count
          guard taken.count == frame.left else { break }
          current = nil
          if let event = try event(of: frame.head) { events.append(event) }
        } else {
          guard let byte = rest.popFirst() else { break }
          head.append(byte)
          guard let next = try Self.head(head) else { continue }
          try begin(next)
        }
      }
    } catch {
      isOver = true
      events.append(.close(error.code))
    }
    return events
  }

  private func begin(_ next: Head) throws(Violation) {
    if !next.opcode.isControl {
      guard (next.opcode == .continuation) == isInsideMessage else { throw Violation(code: 1002) }
      isInsideMessage = !next.isFinal
    }
    (head, payload, current) = ([], [], (next, next.length))
  }

  /// What a frame that is complete asks for.
  private func event(of head: Head) throws(Violation) -> Event? {
    guard head.opcode == .ping || head.opcode == .close else { return nil }
    let content = payload.enumerated().map { index, byte in byte ^ head.mask[index % 4] }
    guard head.opcode == .close else { return .ping(content) }
    isOver = true
    if content.isEmpty { return .close(nil) }
    guard content.count >= 2, String(validating: content.dropFirst(2), as: UTF8.self) != nil else {
      throw Violation(code: 1002)
    }
    let code = UInt16(content[0]) << 8 | UInt16(content[1])
    guard Self.mayBeSent(code) else { throw Violation(code: 1002) }
    return .close(code)
  }

  /// Whether a close frame may have the code (section 7.4).
  private static func mayBeSent(_ code: UInt16) -> Bool {
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }

  /// The beginning of a frame; nil if there must be more of it.
  static func head(_ bytes: [UInt8]) throws(Violation) -> Head? {
    guard bytes.count >= 2 else { return nil }
    let (isFinal, short) = (bytes[0] & WebSocketFrame.final != 0, Int(bytes[1] & 0x7F))
    // No extension was agreed on, and clients mask.
    guard bytes[0] & 0x70 == 0, bytes[1] & 0x80 != 0,
      let opcode = WebSocketFrame.Opcode(rawValue: bytes[0] & 0x0F),
      !opcode.isControl || isFinal && short <= longestControl
    else { throw Violation(code: 1002) }
    let lengthBytes = short == 126 ? 2 : short == 127 ? 8 : 0
    guard bytes.count >= 2 + lengthBytes + 4 else { return nil }
    var length = UInt64(short)
    if lengthBytes > 0 {
      length = bytes[2..<2 + lengthBytes].reduce(0) { $0 << 8 | UInt64($1) }
      // In as few bytes as possible.
      guard length >= (lengthBytes == 2 ? WebSocketFrame.long : WebSocketFrame.longest) else {
        throw Violation(code: 1002)
      }
    }
    guard length <= longest else { throw Violation(code: 1009) }
    return Head(
      opcode: opcode, isFinal: isFinal, mask: Array(bytes[(2 + lengthBytes)...]),
      length: Int(length))
  }
}
