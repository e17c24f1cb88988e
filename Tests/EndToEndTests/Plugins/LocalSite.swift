import Foundation
import Glibc
import StandIns
import Synchronization

/// A web server of a few lines on a free port of 127.0.0.1, which says exactly what a test wants.
final class LocalSite: Sendable {
  /// Answers a request.
  typealias Handler = @Sendable (Visitor) -> Void

  let port: Int
  private let listener: CInt
  private let visits = Mutex<[String]>([])

  /// The paths that were asked for, in order.
  var visited: [String] { visits.withLock { $0 } }

  var address: String { "127.0.0.1:\(port)" }

  init(_ handler: @escaping Handler) throws {
    let (listener, port) = try LoopbackSocket.listening(backlog: 16)
    (self.listener, self.port) = (listener, port)
    Thread.detachNewThread { [weak self] in
      while true {
        let peer = accept(listener, nil, nil)
        guard peer >= 0, let self else {
          // Here, so that no other site's listener has its number as long as it is accepted from.
          for descriptor in [peer, listener] { close(descriptor) }
          return
        }
        self.serve(peer, handler)
      }
    }
  }

  deinit { shutdown(listener, CInt(SHUT_RDWR)) }

  private func serve(_ peer: CInt, _ handler: Handler) {
    defer { close(peer) }
    var request: [UInt8] = []
    while !request.contains([13, 10, 13, 10]) {
      var piece = [UInt8](repeating: 0, count: 4096)
      let count = recv(peer, &piece, piece.count, 0)
      guard count > 0 else { return }
      request += piece.prefix(count)
    }
    let head = String(decoding: request, as: UTF8.self)
    // A body that is not read would end the connection before the answer is.
    let length =
      head.firstMatch(of: /\r\n[Cc]ontent-[Ll]ength: (\d+)\r\n/)
      .flatMap { Int($0.1) } ?? 0
    let end = request.firstRange(of: [13, 10, 13, 10])?.upperBound ?? request.count
    while request.count < end + length {
      var piece = [UInt8](repeating: 0, count: 4096)
      let count = recv(peer, &piece, piece.count, 0)
      guard count > 0 else { return }
      request += piece.prefix(count)
    }
    let path = String(head.split(separator: " ", maxSplits: 2)[1])
    visits.withLock { $0.append(path) }
    handler(Visitor(path: path, head: head, peer: peer))
  }
}

/// Somebody who asked a `LocalSite` for a path.
struct Visitor {
  let path: String
  /// The request's line and its header fields, as they came.
  let head: String
  fileprivate let peer: CInt

  /// Sends characters as a byte each, and says whether they went.
  @discardableResult
  func send(_ text: String) -> Bool {
    let bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    return Glibc.send(peer, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
  }

  /// Says nothing until the visitor has gone.
  func waitUntilGone() {
    var byte: UInt8 = 0
    while recv(peer, &byte, 1, 0) > 0 {}
  }
}

/// A folder of the url plugin's in which the operator opened some inner hosts.
struct OpenedFolder: ~Copyable {
  let url: URL

  init(reach: [String]) throws {
    url = FileManager.default.temporaryDirectory.appending(path: "richpush-url-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try JSONSerialization.data(withJSONObject: ["reach": reach])
      .write(to: url.appending(path: "settings.json"))
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
