import CCurl
import Glibc

/// What libcurl's callbacks fill while a transfer runs, all on the thread that runs it.
final class Receiver {
  var answer = Answer()
  /// The last address that was refused, in words.
  private(set) var refused: String?

  private let limit: Int
  private let isOpened: Bool

  init(limit: Int, isOpened: Bool) {
    self.limit = limit
    self.isOpened = isOpened
  }

  /// The receiver behind a callback's context.
  private static func of(_ context: UnsafeMutableRawPointer?) -> Receiver? {
    context.map { Unmanaged<Receiver>.fromOpaque($0).takeUnretainedValue() }
  }

  /// One line of the header (CURLOPT_HEADERFUNCTION).
  static let onHeader: ccurl_receiver = { bytes, size, count, context in
    let line = String(
      decoding: UnsafeRawBufferPointer(start: bytes, count: size * count), as: UTF8.self)
    Receiver.of(context)?.take(line)
    return size * count
  }

  /// A piece of the body (CURLOPT_WRITEFUNCTION); fewer bytes taken than given end the transfer.
  static let onBody: ccurl_receiver = { bytes, size, count, context in
    guard let receiver = Receiver.of(context) else { return 0 }
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    let room = receiver.limit - receiver.answer.body.count
    receiver.answer.body += piece.prefix(room)
    receiver.answer.isCut = piece.count > room
    return min(room, piece.count)
  }

  /// A socket for an address that may be connected to (CURLOPT_OPENSOCKETFUNCTION).
  static let onSocket: curl_opensocket_callback = { context, _, address in
    guard let receiver = Receiver.of(context), let address else { return -1 }
    var peer = address.pointee
    let isAllowed = withUnsafePointer(to: &peer.addr) {
      receiver.isOpened || AddressPolicy.isPublic($0)
    }
    guard isAllowed else {
      receiver.refused = "an address that is not public"
      return -1
    }
    return socket(peer.family, peer.socktype | CInt(SOCK_CLOEXEC.rawValue), peer.protocol)
  }

  private func take(_ line: String) {
    if line.hasPrefix("HTTP/") {  // an interim answer (1xx) came before
      answer = Answer()
      return
    }
    let parts = line.split(separator: ":", maxSplits: 1)
    guard parts.count == 2 else { return }
    let value = parts[1].drop { $0 == " " || $0 == "\t" }.prefix { !$0.isNewline }
    switch parts[0].lowercased() {
    case "content-type": answer.contentType = String(value)
    case "location": answer.location = String(value)
    default: break
    }
  }
}
