import Primitives
import RichPushAPI
import Dispatch
import FoundationEssentials
import Glibc
import HTTP
import Synchronization

/// A line of JSON for every response, written by a thread of its own.
///
/// An HTTP thread only appends the record to a list. If the disk cannot keep up, lines are dropped, and
/// a line gives their number.
final class AccessLog: Sendable {
  private struct Waiting {
    var lines: [Entry] = []
    var dropped = 0
    var isPlanned = false
  }

  private struct Entry: Sendable {
    let exchange: AccessRecord
    let time: Date
  }

  private let path: String
  private let waiting = Mutex(Waiting())
  private let descriptor: Mutex<Int32>
  private let queue = DispatchQueue(label: "richpush.access")
  private static let capacity = 50_000
  private static let pause = 0.05

  /// Opens the file for appending; `-` is standard output.
  init(path: String) throws(ConfigurationError) {
    self.path = path
    descriptor = Mutex(try Self.open(path))
  }

  /// Opens the file again, since it may have been renamed (logrotate).
  func reopen() throws {
    guard path != "-" else { return }
    let fresh = try Self.open(path)
    let old = descriptor.withLock { descriptor in
      defer { descriptor = fresh }
      return descriptor
    }
    close(old)
  }

  /// Records a response; called on an HTTP thread.
  func note(_ exchange: AccessRecord) {
    let entry = Entry(exchange: exchange, time: Date())
    let isFirst = waiting.withLock { waiting in
      guard waiting.lines.count < Self.capacity else {
        waiting.dropped += 1
        return false
      }
      waiting.lines.append(entry)
      defer { waiting.isPlanned = true }
      return !waiting.isPlanned
    }
    if isFirst { queue.asyncAfter(deadline: .now() + Self.pause) { self.write() } }
  }

  /// Writes what has not been written, before the server ends.
  func flush() { queue.sync { write() } }

  private func write() {
    let (lines, dropped) = waiting.withLock { waiting in
      defer { waiting = Waiting() }
      return (waiting.lines, waiting.dropped)
    }
    var text = ""
    for line in lines { Self.append(line, to: &text) }
    if dropped > 0 { text += "{\"dropped\":\(dropped)}\n" }
    descriptor.withLock { descriptor in
      text.withUTF8 { bytes in
        var rest = UnsafeRawBufferPointer(bytes)
        while !rest.isEmpty {
          let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
          guard count > 0 || errno == EINTR else { return }
          rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(max(0, count)))
        }
      }
    }
  }

  private static func append(_ entry: Entry, to text: inout String) {
    let exchange = entry.exchange
    let time = entry.time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    text += "{\"time\":\"\(time)\",\"id\":\(JSONText.quoted(exchange.id))"
    text += ",\"client\":\(JSONText.quoted(exchange.request?.peer ?? exchange.peer))"
    if let request = exchange.request {
      text +=
        ",\"method\":\"\(request.method)\",\"target\":\(JSONText.quoted(request.loggedTarget))"
      if let agent = request.fields["User-Agent"] {
        text += ",\"userAgent\":\(JSONText.quoted(agent))"
      }
    }
    text += ",\"route\":\(JSONText.quoted(exchange.route)),\"status\":\(exchange.status)"
    text += ",\"bytes\":\(exchange.bytes),\"seconds\":\(exchange.seconds)"
    text += ",\"complete\":\(exchange.isComplete)}\n"
  }

  private static func open(_ path: String) throws(ConfigurationError) -> Int32 {
    if path == "-" { return STDOUT_FILENO }
    let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ConfigurationError("--access-log: \(path): \(String(cString: strerror(errno)))")
    }
    return descriptor
  }
}

extension HTTP.Request {
  /// The target without a signature, with which a reader of the log could fetch media.
  ///
  /// Of a link as this server makes it, only the signature is removed. Any other target that may hold
  /// one, in whatever spelling, is removed as a whole.
  var loggedTarget: String {
    let address = /\/media\/[0-9]+\/[A-Za-z0-9._;=-]+\?expires=[0-9]+&key=[0-9]+&signature=/
    if let match = target.prefixMatch(of: address) { return match.output + "-" }
    let isMedia = segments.first { !$0.isEmpty }?.lowercased() == "media"
    return isMedia || Self.holdsSignature(target) ? "/media/-" : target
  }

  private static func holdsSignature(_ target: String) -> Bool {
    var text = target
    for _ in 0..<4 {
      if text.lowercased().contains("signature=") { return true }
      let decoded = text.replacing(/%([0-7][0-9A-Fa-f])/) { escape in
        UInt8(escape.1, radix: 16).map { String(Unicode.Scalar($0)) } ?? ""
      }
      if decoded == text { return false }
      text = decoded
    }
    return true
  }
}
