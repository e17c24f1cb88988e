import Foundation
import Glibc
import StandIns
import Synchronization

/// A server that a test writes itself: every request meets a closure and the raw connection.
final class StandIn: Sendable {
  /// What a client asked for.
  struct Request: Sendable {
    let method: String
    let target: String
    let fields: [String: String]
    let body: String
  }

  /// The way back to the client, closed when the closure returns.
  struct Connection: Sendable {
    fileprivate let socket: Int32

    func send(_ text: String) {
      let bytes = Array(text.utf8)
      _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    func answer(_ status: Int, _ fields: [String] = [], _ body: String = "") {
      let head = ["HTTP/1.1 \(status) Status", "Content-Length: \(body.utf8.count)"] + fields
      send((head + ["Connection: close"]).joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    func waitUntilClosed() {
      var byte: UInt8 = 0
      while recv(socket, &byte, 1, 0) > 0 {}
    }
  }

  let endpoint: URL
  private let listener: Int32
  private let diary = Diary()

  /// The requests so far.
  var requests: [Request] { diary.requests.withLock { $0 } }

  init(_ answer: @escaping @Sendable (Request, Connection) -> Void) throws {
    let (listener, port) = try LoopbackSocket.listening(backlog: 16)
    guard let url = URL(string: "http://127.0.0.1:\(port)") else {
      throw RichPushTestError.noSocket
    }
    endpoint = url
    self.listener = listener
    let diary = diary
    Thread.detachNewThread {
      while case let socket = accept(listener, nil, nil), socket >= 0 {
        let connection = Connection(socket: socket)
        Thread.detachNewThread {
          defer { close(socket) }
          guard let request = Self.request(from: socket) else { return }
          diary.requests.withLock { $0.append(request) }
          answer(request, connection)
        }
      }
      close(listener)
    }
  }

  deinit {
    // Ends `accept`; its thread closes the descriptor, whose number could otherwise be another's by then.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private static func request(from socket: Int32) -> Request? {
    var text = ""
    while true {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = recv(socket, &bytes, bytes.count, 0)
      guard count > 0 else { return nil }
      text += String(decoding: bytes[..<count], as: UTF8.self)
      guard let end = text.range(of: "\r\n\r\n") else { continue }
      let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
      let fields = lines.dropFirst().map { $0.components(separatedBy: ": ") }
      let table = Dictionary(
        fields.map { ($0[0].lowercased(), $0[1...].joined(separator: ": ")) }
      ) { $1 }
      let body = String(text[end.upperBound...])
      guard body.utf8.count >= Int(table["content-length"] ?? "0") ?? 0 else { continue }
      let words = lines[0].components(separatedBy: " ")
      return Request(method: words[0], target: words[1], fields: table, body: body)
    }
  }
}

private final class Diary: Sendable {
  let requests = Mutex<[StandIn.Request]>([])
}

enum RichPushTestError: Error {
  case noSocket
}
