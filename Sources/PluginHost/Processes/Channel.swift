import CLinux
import Glibc
import Primitives

/// A pipe or socket between the host and a process of a plugin.
struct ProcessChannel {
  /// The host's end; it never blocks.
  let ours: FileDescriptor
  /// The end for the process.
  let theirs: FileDescriptor

  /// A pipe that the process writes and the host reads; nil if no descriptors are left.
  static func pipe() -> ProcessChannel? {
    var ends: [Int32] = [-1, -1]
    return clinux_pipe(&ends) == 0 ? ProcessChannel(ends) : nil
  }

  /// A pair of connected Unix sockets, for bytes (`SOCK_STREAM`) or packets (`SOCK_SEQPACKET`); nil if no
  /// descriptors are left.
  static func sockets(_ type: __socket_type) -> ProcessChannel? {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(type.rawValue | SOCK_CLOEXEC.rawValue)
    return socketpair(AF_UNIX, kind, 0, &ends) == 0 ? ProcessChannel(ends) : nil
  }

  private init?(_ ends: [Int32]) {
    guard let ours = FileDescriptor(owning: ends[0]), let theirs = FileDescriptor(owning: ends[1])
    else { return nil }
    _ = fcntl(ours.number, F_SETFL, O_NONBLOCK)
    (self.ours, self.theirs) = (ours, theirs)
  }

  /// A standard input that holds `body`; nil if no descriptors are left.
  static func input(_ body: [UInt8] = []) -> FileDescriptor? {
    if body.isEmpty { return try? FileDescriptor("/dev/null", O_RDONLY) }
    // A file in memory rather than a pipe, into which the host would have to write while the plugin reads.
    guard let file = FileDescriptor(owning: clinux_memory_file("body")),
      (try? file.write(body)) != nil,
      lseek(file.number, 0, SEEK_SET) == 0, clinux_seal(file.number) == 0
    else { return nil }
    return file
  }
}

/// The Unix socket called `socket` in a process's folder.
enum UnixSocket {
  /// A listening socket, for the process; it blocks.
  static func listener(in folder: String) -> FileDescriptor? {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard let socket = FileDescriptor(owning: socket(AF_UNIX, kind, 0)),
      (try? UnixSocketAddress(name, in: folder).bind(socket)) != nil,
      listen(socket.number, backlog) == 0
    else { return nil }
    return socket
  }

  /// A non-blocking connection to it; nil if no process listens.
  static func connection(in folder: String) -> FileDescriptor? {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    guard let socket = FileDescriptor(owning: socket(AF_UNIX, kind, 0)),
      (try? UnixSocketAddress(name, in: folder).connect(socket)) != nil
    else { return nil }
    return socket
  }

  /// One is used at a time; the others are left over from calls that were cancelled.
  private static let backlog: Int32 = 64
  private static let name = "socket"
}

extension FileDescriptor {
  /// The result of a read that does not wait.
  enum ReadOutcome {
    case bytes(Int)
    /// The end of the file, or an error.
    case end
    case wouldBlock
  }

  /// Reads once from a non-blocking descriptor.
  func readNow(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome {
    outcome { Glibc.read(number, buffer.baseAddress, buffer.count) }
  }

  /// Reads once from a socket without consuming what is read.
  func peek(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome {
    outcome { recv(number, buffer.baseAddress, buffer.count, Int32(MSG_PEEK | MSG_DONTWAIT)) }
  }

  private func outcome(_ call: () -> Int) -> ReadOutcome {
    do throws(Errno) {
      let count = try Self.retrying(call)
      return count == 0 ? .end : .bytes(count)
    } catch {
      return error.rawValue == EAGAIN ? .wouldBlock : .end
    }
  }

  /// Consumes bytes that were peeked at.
  func skip(_ count: Int) {
    if count == 0 { return }
    withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { _ = readNow(into: $0) }
  }

  /// Passes on everything that can be read without waiting; true at the end of the file.
  func drain(_ body: (UnsafeRawBufferPointer) -> Void) -> Bool {
    // Most answers are short: a buffer this small is on the stack.
    if let isAtEnd = drain(reads: 1, bufferSize: 1024, body) { return isAtEnd }
    // At most a MiB at a time, so that one plugin cannot keep the thread of all.
    return drain(reads: 64, bufferSize: 1 << 14, body) ?? false
  }

  /// Nil if there may be more.
  private func drain(
    reads: Int, bufferSize: Int, _ body: (UnsafeRawBufferPointer) -> Void
  ) -> Bool? {
    withUnsafeTemporaryAllocation(byteCount: bufferSize, alignment: 16) { buffer in
      for _ in 0..<reads {
        switch readNow(into: buffer) {
        case .bytes(let count):
          body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
          if count < buffer.count { return false }  // if this was the end, poll reports it again
        case .end: return true
        case .wouldBlock: return false
        }
      }
      return nil
    }
  }

  /// A plugin that answers while the thread has yielded so often spares it going to sleep and waking up.
  private static let yields = 10

  /// Waits until something can be read, or the end is reached; false after `timeout`.
  ///
  /// If it `yieldsFirst`, it yields the processor a few times before it sleeps.
  func waitForInput(timeout: Duration, yieldsFirst: Bool = false) -> Bool {
    guard timeout > .zero else { return false }
    for _ in 0..<(yieldsFirst ? Self.yields : 0) {
      if clinux_wait_for_input(number, 0) == 1 { return true }
      sched_yield()
    }
    return clinux_wait_for_input(number, timeout.microseconds) == 1
  }
}
