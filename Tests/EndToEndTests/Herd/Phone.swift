import Foundation
import Testing
import StandIns

/// One phone of many: it asks on a connection that it keeps, and reads no more than it must.
final class Phone {
  private let socket: Int32
  private let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: room)
  private static let room = 1 << 16
  private var asked = ContinuousClock.now
  private var hasBody = true

  /// What came back, and how long that took.
  struct Answer {
    let status: Int
    let time: Duration
  }

  init(port: Int) throws {
    socket = try LoopbackSocket.connected(to: port)
  }

  deinit {
    close(socket)
    buffer.deallocate()
  }

  /// Sends a request for `target` by `user`, whose password is the name.
  func ask(_ target: String, _ user: String, method: String = "GET", fields: String = "") throws {
    let key = Data("\(user):\(user)".utf8).base64EncodedString()
    let head =
      "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic \(key)\r\n\(fields)\r\n"
    hasBody = method != "HEAD"
    asked = .now
    let sent = head.utf8CString.withUnsafeBytes {
      send(socket, $0.baseAddress, $0.count - 1, Int32(MSG_NOSIGNAL))
    }
    try #require(sent == head.utf8.count)
  }

  /// Reads the answer to the request.
  func answer() throws -> Answer {
    var size = 0
    var end: UnsafeMutablePointer<CChar>?
    while end == nil {
      size += try receive(behind: size)
      buffer[size] = 0
      end = strstr(buffer, "\r\n\r\n")
    }
    let head = try #require(end) - buffer + 4
    let status = Int(atoi(buffer + 9))
    var left = 0
    if hasBody, status != 304, status != 204 {
      left = atol(try #require(strstr(buffer, "Content-Length: ")) + 16) - (size - head)
    }
    while left > 0 { left -= try receive(behind: 0) }
    return Answer(status: status, time: .now - asked)
  }

  private func receive(behind size: Int) throws -> Int {
    let count = recv(socket, buffer + size, Self.room - 1 - size, 0)
    try #require(count > 0, "the server closed")
    return count
  }
}

/// Runs the body for every number on threads of its own, each with a number of them.
func onThreads(_ threads: Int, each body: @escaping @Sendable (Int) throws -> Void) async throws {
  try await withThrowingTaskGroup { group in
    for number in 0..<threads {
      group.addTask {
        try await withCheckedThrowingContinuation { continuation in
          // Blocking must not hold one of Swift's few threads.
          Thread.detachNewThread { continuation.resume(with: Result { try body(number) }) }
        }
      }
    }
    try await group.waitForAll()
  }
}
