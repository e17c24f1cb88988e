/// The frames that a server sends over a WebSocket (RFC 6455, section 5): whole messages, without a mask.
package enum WebSocketFrame {
  /// A message of text in UTF-8.
  package static func text(_ text: String) -> [UInt8] { frame(.text, Array(text.utf8)) }

  static let ping = frame(.ping, [])

  static func pong(_ payload: [UInt8]) -> [UInt8] { frame(.pong, payload) }

  /// The last frame; without a code it says nothing about the reason.
  static func close(_ code: UInt16?) -> [UInt8] {
    frame(.close, code.map { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] } ?? [])
  }

  /// What a frame is (section 5.2).
  enum Opcode: UInt8 {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue >= 8 }
  }

  /// The bit that marks the last frame of a message.
  static let final: UInt8 = 0x80
  /// The lengths from which they have two and eight bytes of their own.
  static let (long, longest) = (126, 1 << 16)

  private static func frame(_ opcode: Opcode, _ payload: [UInt8]) -> [UInt8] {
    let count = payload.count
    var bytes = [final | opcode.rawValue]
    switch count {
    case ..<long: bytes.append(UInt8(count))
    case ..<longest:
      bytes += [126] + (0..<2).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
    default:
      bytes += [127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
    }
    return bytes + payload
  }
}

extension StreamForm {
  /// Frames of a WebSocket; a client that is there answers the heartbeat.
  package static let webSocket = StreamForm(
    mediaType: "", end: WebSocketFrame.close(1001)
  ) { WebSocketFrame.ping }
}
