import Foundation
import Testing
import StandIns

/// A connection on which a test writes the very bytes a client sends.
final class RawConnection {
  /// An answer, taken apart no further than needed.
  struct Answer {
    let status: Int
    let fields: [String: String]
    let body: [UInt8]
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  private let socket: Int32
  private var received: [UInt8] = []

  init(port: Int) throws {
    socket = try LoopbackSocket.connected(to: port)
  }

  deinit { close(socket) }

  /// Sends bytes; false when the server has closed.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Whether something came that was not read yet.
  var hasInput: Bool {
    var wish = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&wish, 1, 0) > 0
  }

  /// Sends a head, to which Host and the empty line are added, and a body; gives the answer.
  func exchange(_ head: String, body: [UInt8] = [], isHead: Bool = false) throws -> Answer {
    send(Array((head + "Host: 127.0.0.1\r\n\r\n").utf8) + body)
    return try answer(isHead: isHead)
  }

  /// Sends a head, to which Host and the empty line are added, and a body; gives all that comes until the
  /// server closes.
  func bytes(_ head: String, body: [UInt8] = []) throws -> [UInt8] {
    send(Array((head + "Host: 127.0.0.1\r\n\r\n").utf8) + body)
    return rest()
  }

  /// Whether the server answers on this connection, instead of closing it.
  func isServed() throws -> Bool {
    send(Array("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
    var first: UInt8 = 0
    guard recv(socket, &first, 1, Int32(MSG_PEEK)) > 0 else { return false }
    return try answer().status == 200
  }

  /// All that comes until the server closes, or until these bytes.
  func rest(until end: String? = nil) -> [UInt8] {
    let end = end.map { Array($0.utf8) }
    var piece = [UInt8](repeating: 0, count: 65_536)
    while end.map({ received.suffix($0.count) != $0[...] }) ?? true,
      case let count = recv(socket, &piece, piece.count, 0), count > 0
    {
      received += piece[..<count]
    }
    return received
  }

  /// The next answer on this connection; one to `HEAD` has no body.
  func answer(isHead: Bool = false) throws -> Answer {
    let end = Array("\r\n\r\n".utf8)
    while received.firstRange(of: end) == nil { try receive() }
    let headEnd = try #require(received.firstRange(of: end))
    let lines = String(decoding: received[..<headEnd.lowerBound], as: UTF8.self)
      .components(separatedBy: "\r\n")
    let status = try #require(lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) })
    let pairs = lines.dropFirst().map { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (parts[0].lowercased(), parts.last?.trimmingCharacters(in: .whitespaces) ?? "")
    }
    let fields = Dictionary(pairs) { "\($0), \($1)" }
    let told = try #require(
      status == 204 ? 0 : Int(fields["content-length"] ?? ""), "no Content-Length: \(lines)")
    let length = status == 304 || isHead ? 0 : told
    received.removeSubrange(..<headEnd.upperBound)
    while received.count < length { try receive() }
    defer { received.removeSubrange(..<length) }
    return Answer(status: status, fields: fields, body: Array(received[..<length]))
  }

  private func receive() throws {
    var piece = [UInt8](repeating: 0, count: 65_536)
    let count = recv(socket, &piece, piece.count, 0)
    try #require(count > 0, "the server closed after \(String(decoding: received, as: UTF8.self))")
    received += piece[..<count]
  }
}
