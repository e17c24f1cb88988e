// Compiled into the module HTTP by http.sh, for libFuzzer.
import FoundationEssentials

let targets: [String: @Sendable ([UInt8]) -> Void] = [
  "head": { bytes in bytes.withUnsafeBytes { HTTPTargets.readHead($0) } },
  "chunks": { bytes in
    let (whole, pieces) = bytes.withUnsafeBytes { bytes in
      (HTTPTargets.content(of: bytes, piece: bytes.count), HTTPTargets.content(of: bytes, piece: 1))
    }
    precondition(whole == pieces, "the result depends on the size of the pieces")
    precondition(whole.content.count <= bytes.count)
  },
  "fields": { HTTPTargets.readFields(String(decoding: $0, as: UTF8.self)) },
  "query": { HTTPTargets.readQuery($0) },
  "frames": { bytes in
    let whole = HTTPTargets.events(of: bytes, piece: bytes.count)
    precondition(
      whole == HTTPTargets.events(of: bytes, piece: 1),
      "the result depends on the size of the pieces")
    for (index, event) in whole.enumerated() {
      switch event {
      case .ping(let payload): precondition(payload.count <= 125)
      case .close: precondition(index == whole.count - 1, "something follows the end")
      }
    }
  },
]

private enum HTTPTargets {
  /// What a WebSocket's reader makes of bytes that arrive in pieces.
  static func events(of bytes: [UInt8], piece: Int) -> [WebSocketReader.Event] {
    let reader = WebSocketReader()
    return stride(from: 0, to: bytes.count, by: max(1, piece)).flatMap { start in
      bytes[start..<min(bytes.count, start + piece)].withUnsafeBytes { reader.read($0) }
    }
  }

  static func readHead(_ bytes: UnsafeRawBufferPointer) {
    guard let head = try? RequestHead.parse(bytes) else { return }
    precondition(head.size <= bytes.count)
    for size in [head.size - 1, head.size / 2] {
      do {
        let head = try RequestHead.parse(.init(rebasing: bytes[..<size]))
        precondition(head == nil, "the beginning of a head is a head")
      } catch { preconditionFailure("the beginning of a head is rejected") }
    }
    let method = String(decoding: head.method, as: UTF8.self)
    let fields = try? head.fields()
    let body = fields.flatMap {
      try? RequestValidator.validate(method: method, version: head.version, fields: $0)
    }
    if let fields, let body {
      _ = try? Request(
        method, String(decoding: head.target, as: UTF8.self), fields: fields, body: body)
    }
    guard let plain = SimpleRequestHead(head) else { return }
    guard let fields, let body else { preconditionFailure("what is plain is not allowed") }
    precondition(method == "GET" && body == .none)
    precondition(fields.count(of: "Host") == 1)
    let validator = plain.ifNoneMatch.map { String(decoding: $0, as: UTF8.self) }
    precondition(validator == fields["If-None-Match"])
  }

  struct Content: Equatable {
    var content: [UInt8] = []
    var used = 0
    var isComplete = false
    var isRefused = false
  }

  static func content(of bytes: UnsafeRawBufferPointer, piece: Int) -> Content {
    var (chunks, result) = (ChunkedDecoder(), Content())
    do {
      while result.used < bytes.count, !chunks.isComplete {
        let left = bytes[result.used..<min(bytes.count, result.used + piece)]
        let (used, piece) = try chunks.next(UnsafeRawBufferPointer(rebasing: left))
        result.content += UnsafeRawBufferPointer(rebasing: left)[piece]
        result.used += used
      }
    } catch {
      (result.isRefused, result.used) = (true, 0)
    }
    result.isComplete = chunks.isComplete
    return result
  }

  static func readFields(_ text: String) {
    for line in text.split(separator: "\n") {
      let line = String(line)
      for size in [0, 1, 1000] {
        guard case .parts(let parts) = ByteRanges(line, size: size) else { continue }
        precondition(parts.allSatisfy { !$0.isEmpty && $0.upperBound <= size })
      }
      if let date = HTTPDate.date(line) { precondition(HTTPDate.date(HTTPDate.text(date)) == date) }
      _ = try? RequestTarget(line)
      _ = IPAddress.canonical(line[...])
    }
  }

  /// A query's pairs, encoded again, are the same pairs; other bytes are refused before the query is decoded.
  static func readQuery(_ bytes: [UInt8]) {
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }), let query = Query(encoded: bytes.span)
    else { return }
    let encoded = query.items.map { item in
      [item.name, item.value].map { text in
        text.utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      }.joined(separator: "=")
    }.joined(separator: "&")
    let again = Query(encoded: Array(encoded.utf8).span)?.items ?? []
    precondition(query.items.elementsEqual(again) { $0 == $1 })
  }
}
