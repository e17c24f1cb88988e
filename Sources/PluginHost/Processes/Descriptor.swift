import CLinux
import Glibc

/// An open file descriptor of ours, closed with its last reference.
final class Descriptor: Sendable {
  let number: Int32

  /// Takes what `open(2)` and its like return; nil when that is an error.
  init?(_ number: Int32) {
    guard number >= 0 else { return nil }
    self.number = number
  }

  deinit { close(number) }

  /// What a read brought.
  enum Piece {
    case bytes(Int)
    case end
    case notYet
  }

  /// Reads once into `buffer`; an error counts as the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
    piece { Glibc.read(number, buffer.baseAddress, buffer.count) }
  }

  private func piece(_ call: () -> Int) -> Piece {
    while true {
      let count = call()
      if count > 0 { return .bytes(count) }
      if count == 0 { return .end }
      if errno == EAGAIN { return .notYet }
      if errno != EINTR { return .end }
    }
  }

  /// Who answers in so many turns of others on this processor has not to wake the thread.
  private static let yields = 10

  /// Waits until there is something to read, or the end of it; false when the time is over.
  ///
  /// A thread that is in a hurry lets others run a few times before it goes to sleep.
  func hasInput(within time: Duration, isHurried: Bool) -> Bool {
    guard time > .zero else { return false }
    for _ in 0..<(isHurried ? Self.yields : 0) {
      if clinux_wait_for_input(number, 0) == 1 { return true }
      sched_yield()
    }
    return clinux_wait_for_input(number, time.microseconds) == 1
  }

  /// Reads once from a socket and leaves there what it read.
  func peek(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
    piece { recv(number, buffer.baseAddress, buffer.count, Int32(MSG_PEEK | MSG_DONTWAIT)) }
  }

  /// Reads so many bytes that are there, for nobody.
  func skip(_ count: Int) {
    if count == 0 { return }
    withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { _ = read(into: $0) }
  }

  /// Hands over what there is to read without waiting; true when it is the last.
  func drain(_ take: (UnsafeRawBufferPointer) -> Void) -> Bool {
    // Most of it is short: a buffer this small is on the stack.
    if let isAtEnd = drain(1, upTo: 1024, take) { return isAtEnd }
    return drain(64, upTo: 1 << 14, take) ?? false
  }

  /// Reads so many times; nil when there may be more.
  private func drain(
    _ times: Int, upTo size: Int, _ take: (UnsafeRawBufferPointer) -> Void
  ) -> Bool? {
    withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { buffer in
      for _ in 0..<times {
        switch read(into: buffer) {
        case .bytes(let count):
          take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
          if count < buffer.count { return false }  // the end, if this was it, is told again
        case .end: return true
        case .notYet: return false
        }
      }
      return nil
    }
  }

  /// Everything to the end of a file; nil when there is more than `limit` bytes.
  func contents(atMost limit: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    let isWhole = withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
      while case .bytes(let count) = read(into: buffer) {
        guard bytes.count + count <= limit else { return false }
        bytes += buffer[..<count]
      }
      return true
    }
    return isWhole ? bytes : nil
  }

  /// Writes all of `bytes`; false when the kernel refuses some of them.
  func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(number, rest.baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
    return true
  }
}
