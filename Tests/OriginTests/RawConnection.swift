import Glibc

/// A connection on which a test writes the very bytes that a client sends.
final class RawConnection {
  struct Answer {
    /// 0 when the connection ended, or was silent for too long, before an answer came.
    var status = 0
    var fields: [String: String] = [:]
    var text = ""
  }

  private let descriptor: Int32
  private var received: [UInt8] = []
  private var isSilent = false

  /// Connects from an address of loopback: 127.0.0.0 and so much.
  init(port: Int, from address: UInt32) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var patience = timeval(tv_sec: 15, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    Self.with(0x7F00_0000 + address, 0) { _ = bind(descriptor, $0, $1) }
    Self.with(0x7F00_0001, UInt16(port)) { _ = connect(descriptor, $0, $1) }
  }

  deinit { close(descriptor) }

  /// Sends as much as the other side takes.
  func send(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return }
      rest = rest.dropFirst(sent)
    }
  }

  /// The next answer; of a stream only the head.
  func answer(hasBody: Bool = true) -> Answer {
    let end = Array("\r\n\r\n".utf8)
    while received.firstRange(of: end) == nil { guard fill() else { return Answer() } }
    guard let headEnd = received.firstRange(of: end) else { return Answer() }
    let lines = String(decoding: received[..<headEnd.lowerBound], as: UTF8.self)
      .split(separator: "\r\n")
    var answer = Answer()
    answer.status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    for line in lines.dropFirst() {
      let parts = line.split(separator: ": ", maxSplits: 1)
      answer.fields[parts[0].lowercased()] = String(parts.last ?? "")
    }
    received.removeSubrange(..<headEnd.upperBound)
    let length = hasBody ? Int(answer.fields["content-length"] ?? "0") ?? 0 : 0
    while received.count < length { guard fill() else { return Answer() } }
    answer.text = String(decoding: received.prefix(length), as: UTF8.self)
    received.removeFirst(length)
    return answer
  }

  /// Whether the other side has closed in the orderly way, whatever came before.
  func isClosed() -> Bool {
    while fill() {}
    return !isSilent
  }

  /// Whether the stream that is being received ends, before it has said many more times that it lives.
  func hasEnded() -> Bool {
    for _ in 0..<4 {
      if received.firstRange(of: Array("\r\n0\r\n\r\n".utf8)) != nil { return true }
      guard fill() else { return !isSilent }
    }
    return false
  }

  /// Closes this side.
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private func fill() -> Bool {
    var piece = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &piece, piece.count, 0)
    isSilent = count < 0
    guard count > 0 else { return false }
    received += piece.prefix(count)
    return true
  }

  private static func with(
    _ host: UInt32, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Void
  ) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = host.bigEndian
    withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
