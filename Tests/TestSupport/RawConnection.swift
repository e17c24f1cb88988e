import Dispatch
import Glibc
import StandIns
import Synchronization

/// A connection on which a test writes the very bytes that a client sends.
package final class RawConnection: Sendable {
  package struct Answer: Sendable {
    /// 0 if the connection ended, or was silent for too long, before an answer was complete.
    package var status = 0
    package var fields: [String: String] = [:]
    package var text = ""
  }

  private struct Input {
    var bytes: [UInt8] = []
    var isSilent = false
  }

  private let descriptor: Int32
  private let input = Mutex(Input())

  /// Connects from an address of loopback: 127.0.0.0 and so much.
  package init(port: Int, from address: UInt32) {
    descriptor = (try? LoopbackSocket.connected(to: port, from: address)) ?? -1
  }

  deinit { close(descriptor) }

  /// Sends as much as the other side takes.
  package func send(_ text: String) {
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
  package func answer(hasBody: Bool = true) async -> Answer {
    await receiving { receive, input in
      let end = Array("\r\n\r\n".utf8)
      while input.bytes.firstRange(of: end) == nil {
        guard receive(&input) else { return Answer() }
      }
      guard let headEnd = input.bytes.firstRange(of: end) else { return Answer() }
      let lines = String(decoding: input.bytes[..<headEnd.lowerBound], as: UTF8.self)
        .split(separator: "\r\n")
      var answer = Answer()
      answer.status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      for line in lines.dropFirst() {
        let parts = line.split(separator: ": ", maxSplits: 1)
        answer.fields[parts[0].lowercased()] = String(parts.last ?? "")
      }
      input.bytes.removeSubrange(..<headEnd.upperBound)
      let length =
        hasBody && answer.status != 304 ? Int(answer.fields["content-length"] ?? "0") ?? 0 : 0
      while input.bytes.count < length { guard receive(&input) else { return Answer() } }
      answer.text = String(decoding: input.bytes.prefix(length), as: UTF8.self)
      input.bytes.removeFirst(length)
      return answer
    }
  }

  /// Whether the other side closes in the orderly way, whatever it sends before.
  package func isClosed() async -> Bool {
    await receiving { receive, input in
      while receive(&input) {}
      return !input.isSilent
    }
  }

  /// Closes this side.
  package func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Receives on a thread of its own: those of Swift's pool run the server.
  private func receiving<R: Sendable>(
    _ body: @escaping @Sendable (_ receive: (inout Input) -> Bool, inout Input) -> R
  ) async -> R {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [self] in
        let result = input.withLock { input in body({ receive(into: &$0) }, &input) }
        continuation.resume(returning: result)
      }
    }
  }

  private func receive(into input: inout Input) -> Bool {
    var piece = [UInt8](repeating: 0, count: 65_536)
    var count: Int
    // It is interrupted if the process is stopped and continued meanwhile.
    repeat { count = recv(descriptor, &piece, piece.count, 0) } while count < 0 && errno == EINTR
    input.isSilent = count < 0
    guard count > 0 else { return false }
    input.bytes += piece.prefix(count)
    return true
  }
}
