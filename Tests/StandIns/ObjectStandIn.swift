package import Foundation
import Glibc
import Synchronization

/// A bucket in memory on a port of loopback, for the faults that a real object store has rarely.
///
/// It checks no signatures.
package final class ObjectStandIn: Sendable {
  /// What goes wrong with a request.
  package enum Fault: Sendable {
    /// The answer has only this status and this code.
    case status(Int, String)
    /// There is no answer.
    case silence
    /// The answer ends after this number of bytes of its body.
    case truncated(Int)
    /// The first byte of the body is another one.
    case corrupt
    /// The request has its effect, and the connection ends without an answer.
    case lostAnswer
  }

  /// A request: its method, its path with its query, its fields with names in lower case, its body.
  package struct Received: Sendable {
    package let method: String
    package let target: String
    package let fields: [String: String]
    package let body: Data
    /// The path behind `/bucket/`.
    package var key: String {
      target.prefix { $0 != "?" }.split(separator: "/").dropFirst().joined(separator: "/")
    }
  }

  private struct State {
    var objects: [String: (bytes: Data, modified: Date)] = [:]
    var parts: [String: Data] = [:]
    var received: [Received] = []
    var fault: @Sendable (Received, Int) -> Fault? = { _, _ in nil }
    var isStopped = false
  }

  private let state = Mutex(State())
  private let listener: Int32
  package let port: Int

  package init() throws {
    signal(SIGPIPE, SIG_IGN)
    let (listener, port) = try LoopbackSocket.listening(backlog: 128)
    (self.listener, self.port) = (listener, port)
    Thread.detachNewThread { [weak self] in
      while case let connection = accept(listener, nil, nil), connection >= 0 {
        Thread.detachNewThread { [weak self] in
          while let owner = self, owner.serve(connection) {}
          close(connection)
        }
      }
      close(listener)
    }
  }

  deinit {
    // Ends `accept`; its thread closes the descriptor, whose number could otherwise be another's by then.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// The URL for `--objects`.
  package var url: String { "s3://bucket?endpoint=http://127.0.0.1:\(port)" }

  /// All requests so far.
  package var received: [Received] { state.withLock { $0.received } }
  /// The keys there are.
  package var keys: Set<String> { state.withLock { Set($0.objects.keys) } }

  /// Decides what goes wrong; the number counts the requests with the same method and key, from 1.
  package func fail(_ fault: @escaping @Sendable (Received, Int) -> Fault?) {
    state.withLock { $0.fault = fault }
  }

  /// Nothing goes wrong any more.
  package func heal() { fail { _, _ in nil } }

  /// Forgets what was received.
  package func forget() { state.withLock { $0.received = [] } }

  package func bytes(_ key: String) -> Data? { state.withLock { $0.objects[key]?.bytes } }

  /// Stores or removes an object behind the back of its client.
  package func set(_ key: String, _ bytes: Data?, modified: Date = Date()) {
    state.withLock { $0.objects[key] = bytes.map { ($0, modified) } }
  }

  /// Whether there is another request on the connection.
  private func serve(_ connection: Int32) -> Bool {
    guard let request = receive(connection) else { return false }
    let fault = state.withLock { state in
      state.received.append(request)
      let count = state.received.count { $0.method == request.method && $0.key == request.key }
      return state.fault(request, count)
    }
    switch fault {
    case .status(let status, let code):
      return send(connection, status, Data("<Error><Code>\(code)</Code></Error>".utf8))
    case .silence:
      var byte: UInt8 = 0
      _ = recv(connection, &byte, 1, 0)
      return false
    default: break
    }
    var (status, fields, body) = answer(request)
    if case .lostAnswer = fault { return false }
    if case .corrupt = fault, !body.isEmpty { body[0] ^= 1 }
    var limit = Int.max
    if case .truncated(let count) = fault { limit = count }
    return send(connection, status, body, fields, isHead: request.method == "HEAD", limit: limit)
  }

  private func answer(_ request: Received) -> (Int, [String], Data) {
    state.withLock { state in
      let key = request.key
      let query = request.target.split(separator: "?").dropFirst().first.map(String.init) ?? ""
      func stored(_ bytes: Data) -> (Int, [String], Data) {
        state.objects[key] = (bytes, Date())
        return (200, ["ETag: \"tag\""], Data())
      }
      switch request.method {
      case "PUT" where query.contains("partNumber"):
        state.parts[query] = request.body
        return (200, ["ETag: \"\(state.parts.count)\""], Data())
      case "PUT": return stored(request.body)
      case "POST" where query.hasPrefix("uploads"):
        return (200, [], Data("<R><UploadId>an&amp;id</UploadId></R>".utf8))
      case "POST":
        let parts = state.parts.sorted { $0.key < $1.key }
        state.parts = [:]
        return stored(parts.reduce(Data()) { $0 + $1.value })
      case "DELETE" where query.contains("uploadId"):
        state.parts = [:]
        return (204, [], Data())
      case "DELETE":
        state.objects[key] = nil
        return (204, [], Data())
      case _ where key.isEmpty: return (200, [], Data(list(state, query).utf8))
      default:
        guard let object = state.objects[key] else {
          return (404, [], Data("<Error><Code>NoSuchKey</Code></Error>".utf8))
        }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return (200, ["Last-Modified: \(format.string(from: object.modified))"], object.bytes)
      }
    }
  }

  /// Pages of two.
  private func list(_ state: State, _ query: String) -> String {
    let items = query.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
    func value(_ name: String) -> String {
      (items.first { $0[0] == name }?.dropFirst().first).flatMap {
        String($0).removingPercentEncoding
      } ?? ""
    }
    let after = value("continuation-token")
    let keys = state.objects.keys.filter { $0.hasPrefix(value("prefix")) && $0 > after }.sorted()
    let page = keys.prefix(2).map { key in
      let time = state.objects[key]?.modified.formatted(.iso8601) ?? ""
      return "<Contents><Key>\(key)</Key><LastModified>\(time)</LastModified>"
        + "<Size>\(state.objects[key]?.bytes.count ?? 0)</Size></Contents>"
    }
    let more = keys.count > 2 ? "<NextContinuationToken>\(keys[1])</NextContinuationToken>" : ""
    return "<R><IsTruncated>\(keys.count > 2)</IsTruncated>\(page.joined())\(more)</R>"
  }

  private func receive(_ connection: Int32) -> Received? {
    var data = Data()
    let end = Data("\r\n\r\n".utf8)
    while data.range(of: end) == nil { guard append(connection, &data) else { return nil } }
    guard let head = data.range(of: end) else { return nil }
    let lines = String(decoding: data[..<head.lowerBound], as: UTF8.self)
      .components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ")
    let fields = Dictionary(
      lines.dropFirst().map { line in
        let pair = line.split(separator: ":", maxSplits: 1)
        return (pair[0].lowercased(), pair.last?.trimmingCharacters(in: .whitespaces) ?? "")
      }
    ) { $1 }
    let count = fields["content-length"].flatMap { Int($0) } ?? 0
    while data.count < head.upperBound + count {
      guard append(connection, &data) else { return nil }
    }
    return Received(
      method: String(words[0]), target: String(words[1]), fields: fields,
      body: Data(data[head.upperBound...]))
  }

  private func append(_ connection: Int32, _ data: inout Data) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(connection, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    data += buffer[..<count]
    return true
  }

  private func send(
    _ connection: Int32, _ status: Int, _ body: Data, _ fields: [String] = [],
    isHead: Bool = false, limit: Int = .max
  ) -> Bool {
    let head = ["HTTP/1.1 \(status) -", "Content-Length: \(body.count)"] + fields
    var bytes = Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    if !isHead { bytes += body.prefix(limit) }
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(connection, $0.baseAddress, $0.count, 0)
      }
      if count <= 0 { return false }
      sent += count
    }
    return limit == .max
  }
}
