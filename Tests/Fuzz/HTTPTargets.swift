// Compiled into the module HTTP by Tests/Fuzz/http.sh, for libFuzzer.
import FoundationEssentials
import Glibc

/// What libFuzzer calls; the environment variable FUZZ_TARGET chooses what is tried.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  FuzzTarget.chosen.run(UnsafeRawBufferPointer(start: start, count: count))
  return 0
}

enum FuzzTarget: String {
  case head, chunks, fields

  static let chosen =
    getenv("FUZZ_TARGET").flatMap { FuzzTarget(rawValue: String(cString: $0)) } ?? .head

  func run(_ bytes: UnsafeRawBufferPointer) {
    switch self {
    case .head: readHead(bytes)
    case .chunks:
      let whole = content(of: bytes, piece: bytes.count)
      precondition(whole == content(of: bytes, piece: 1), "it depends on how the bytes come")
      precondition(whole.content.count <= bytes.count)
    case .fields: readFields(String(decoding: bytes, as: UTF8.self))
    }
  }

  private func readHead(_ bytes: UnsafeRawBufferPointer) {
    guard case .head(let head) = RequestHead.read(bytes) else { return }
    precondition(head.size <= bytes.count)
    for size in [head.size - 1, head.size / 2] {
      guard case .incomplete = RequestHead.read(.init(rebasing: bytes[..<size])) else {
        preconditionFailure("the beginning of a head is something else")
      }
    }
    let method = String(decoding: head.method, as: UTF8.self)
    let fields = head.fields
    let body = fields.flatMap {
      try? Guard.check(method: method, version: head.version, fields: $0)
    }
    if let fields, let body {
      _ = try? Request(
        method, String(decoding: head.target, as: UTF8.self), fields: fields, body: body)
    }
    guard let plain = PlainHead(head) else { return }
    guard let fields, let body else { preconditionFailure("what is plain is not allowed") }
    precondition(method == "GET" && body == .none)
    precondition(fields.count(of: "Host") == 1)
    let validator = plain.validator.map { String(decoding: $0, as: UTF8.self) }
    precondition(validator == fields["If-None-Match"])
  }

  private struct Content: Equatable {
    var content: [UInt8] = []
    var used = 0
    var isComplete = false
    var isRefused = false
  }

  private func content(of bytes: UnsafeRawBufferPointer, piece: Int) -> Content {
    var (chunks, result) = (ChunkedBody(), Content())
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

  private func readFields(_ text: String) {
    for line in text.split(separator: "\n") {
      let line = String(line)
      for size in [0, 1, 1000] {
        guard case .parts(let parts) = ByteRanges(line, size: size) else { continue }
        precondition(parts.allSatisfy { !$0.isEmpty && $0.upperBound <= size })
      }
      if let date = HTTPDate.date(line) { precondition(HTTPDate.date(HTTPDate.text(date)) == date) }
      _ = try? Target(line)
      _ = Address.canonical(line[...])
    }
  }
}
