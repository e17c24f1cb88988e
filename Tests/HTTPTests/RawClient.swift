import Glibc
import StandIns

/// An HTTP client that sends exactly the bytes of a test.
final class RawClient {
  struct Reply {
    var status = 0
    var head = ""
    var fields: [String: String] = [:]
    var body: [UInt8] = []
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  private let descriptor: Int32
  private var received: [UInt8] = []
  private(set) var tls: TLSChannel?
  /// Whether the connection has ended with a reset, which destroys what is on its way.
  private(set) var wasReset = false
  /// Whether nothing arrived for too long, though the connection has not ended.
  private var isSilent = false

  /// A connected client; the kernel buffers about so many bytes that it has not read.
  init(_ port: Int, keeping receiveBuffer: Int32? = nil) {
    descriptor = (try? LoopbackSocket.connected(to: port, keeping: receiveBuffer)) ?? -1
  }

  /// A client over TLS; nil if the handshake fails.
  convenience init?(
    _ port: Int, tls priorities: String, resuming session: [UInt8] = [], protocols: [String] = [],
    keeping receiveBuffer: Int32? = nil
  ) {
    self.init(port, keeping: receiveBuffer)
    let tls = TLSChannel(
      descriptor, priorities: priorities, resuming: session, protocols: protocols)
    guard tls.handshake() else { return nil }
    self.tls = tls
  }

  deinit { close(descriptor) }

  /// The server certificate in DER.
  var certificate: [UInt8] { tls?.certificate ?? [] }

  /// Sends a text; false if the server receives no more.
  @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes {
        tls?.send($0) ?? Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }

  /// Sends without waiting until nothing is taken for a second; returns how many bytes were.
  func sendWhileTaken(_ bytes: [UInt8]) -> Int {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        let rest = UnsafeRawBufferPointer(rebasing: $0[sent...])
        return Glibc.send(
          descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      }
      if count > 0 { sent += count }
      guard count <= 0 else { continue }
      var socket = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard errno == EAGAIN, poll(&socket, 1, 1000) > 0 else { break }
    }
    return sent
  }

  /// Finishes sending; it can still receive.
  func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Sends a request and reads the answer.
  func ask(_ method: String, _ target: String, _ fields: String..., body: String = "") -> Reply {
    let lines = (["Host: test"] + fields).map { $0 + "\r\n" }.joined()
    let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
    send("\(method) \(target) HTTP/1.1\r\n\(lines)\(length)\r\n\(body)")
    return reply(hasBody: method != "HEAD")
  }

  /// Reads one answer; its status is 0 when the connection ended before one came.
  func reply(hasBody: Bool = true) -> Reply {
    var reply = Reply()
    guard let head = take(through: "\r\n\r\n") else { return reply }
    let lines = head.split(separator: "\r\n")
    reply.head = head
    reply.status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    for line in lines.dropFirst() {
      let colon = line.firstIndex(of: ":") ?? line.endIndex
      let value = line[colon...].dropFirst().trimmingPrefix { $0 == " " }
      reply.fields[line[..<colon].lowercased()] = String(value)
    }
    guard hasBody, reply.status != 304, reply.status != 204, reply.status >= 200 else {
      return reply
    }
    if reply.fields["transfer-encoding"] == "chunked" {
      while let piece = chunk(), !piece.isEmpty { reply.body += piece }
    } else {
      reply.body = take(Int(reply.fields["content-length"] ?? "0") ?? 0) ?? []
    }
    return reply
  }

  /// Reads one chunk of a chunked body: empty at its end, nil when the connection ended.
  func chunk() -> [UInt8]? {
    guard let line = take(through: "\r\n"), let size = Int(line.dropLast(1), radix: 16),
      let piece = take(size + 2)
    else { return nil }
    return piece.dropLast(2)
  }

  /// Reads at most so many of the received bytes and returns how many there were.
  func read(_ most: Int) -> Int {
    if received.isEmpty, !fill(most) { return 0 }
    let count = min(most, received.count)
    received.removeFirst(count)
    return count
  }

  /// Reads until the server closes.
  func rest() -> [UInt8] {
    while fill() {}
    defer { received = [] }
    return received
  }

  /// Changes this side's keys again and again, and sends nothing with them; false if the connection ends meanwhile.
  func canChangeKeys(times: Int) -> Bool {
    (0..<times).allSatisfy { _ in tls?.changeKeys() == true && !isHungUp }
  }

  /// Changes this side's keys, in one packet with a request.
  func changeKeys(andSend text: String) {
    hold(1)
    tls?.changeKeys()
    send(text)
    hold(0)
  }

  /// Tells the other side of all that was read, for which the kernel would take its time (TCP_QUICKACK).
  func acknowledge() {
    var isQuick: Int32 = 1
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, &isQuick, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Holds back what is sent, or sends it (TCP_CORK).
  private func hold(_ isHeld: Int32) {
    var isHeld = isHeld
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_CORK, &isHeld, socklen_t(MemoryLayout<Int32>.size))
  }

  // poll.h, which Glibc's module map does not export.
  private static let pollrdhup: Int16 = 0x2000

  /// Whether the other side has closed, though what it sent may not be read yet.
  var isHungUp: Bool {
    var event = pollfd(fd: descriptor, events: Self.pollrdhup, revents: 0)
    return poll(&event, 1, 0) == 1
  }

  /// Waits until something has arrived that was not read; false after ten seconds.
  func waitsForInput() -> Bool {
    var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&event, 1, 10_000) == 1
  }

  /// Whether something has arrived that was not read.
  var hasInput: Bool {
    var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&event, 1, 0) == 1
  }

  /// Whether the other side has closed, after everything it sent was read.
  func isClosed() -> Bool { received.isEmpty && !fill() && !isSilent }

  private func take(through end: String) -> String? {
    let end = Array(end.utf8)
    var from = 0
    while true {
      if let found = received[from...].firstRange(of: end) {
        defer { received.removeFirst(found.upperBound) }
        return String(decoding: received[..<found.upperBound], as: UTF8.self)
      }
      from = max(0, received.count - end.count)
      guard fill() else { return nil }
    }
  }

  /// Reads so many bytes; nil if the connection ends before.
  func take(_ count: Int) -> [UInt8]? {
    while received.count < count { guard fill() else { return nil } }
    defer { received.removeFirst(count) }
    return Array(received.prefix(count))
  }

  private func fill(_ most: Int = 65_536) -> Bool {
    var piece = [UInt8](repeating: 0, count: most)
    var count: Int
    // It is interrupted if the process is stopped and continued meanwhile.
    repeat {
      count = piece.withUnsafeMutableBytes {
        tls?.receive(into: $0) ?? recv(descriptor, $0.baseAddress, $0.count, 0)
      }
    } while tls == nil ? count < 0 && errno == EINTR : count == TLSChannel.interruption
    if count < 0, errno == ECONNRESET { wasReset = true }
    isSilent = tls == nil ? count < 0 && errno == EAGAIN : count == TLSChannel.silence
    guard count > 0 else { return false }
    received += piece.prefix(count)
    return true
  }
}
