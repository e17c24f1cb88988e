import CLinux
import Glibc

/// A connection's non-blocking socket, with or without TLS.
struct Transport {
  let descriptor: Int32
  let tls: TLSSession?

  /// The result of an operation.
  enum Progress {
    case done(Int)
    /// The operation would block; epoll reports when the socket is ready.
    case blocked
    case failed

    /// The bytes that were transferred; nil if the connection failed.
    var count: Int? {
      switch self {
      case .done(let count): count
      case .blocked: 0
      case .failed: nil
      }
    }
  }

  /// Receives what has arrived; 0 bytes mean that the peer sends no more.
  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Progress {
    if let tls { return tls.receive(into: buffer) }
    return progress { recv(descriptor, buffer.baseAddress, buffer.count, 0) }
  }

  /// Sends up to three pieces of memory with one system call.
  ///
  /// With `hasMore` the kernel waits for the next call before it sends a packet that is not full
  /// (MSG_MORE).
  func send(
    _ head: UnsafeRawBufferPointer, _ end: UnsafeRawBufferPointer = .empty,
    _ body: UnsafeRawBufferPointer = .empty, hasMore: Bool = false
  ) -> Progress {
    if let tls {
      // Copied, so that head and body share a record instead of having one each.
      return tls.send { record in
        var count = 0
        for piece in [head, end, body] {
          let part = UnsafeRawBufferPointer(rebasing: piece.prefix(record.count - count))
          UnsafeMutableRawBufferPointer(rebasing: record[count...]).copyMemory(from: part)
          count += part.count
        }
        return count
      }
    }
    let flags = Int32(MSG_NOSIGNAL) | (hasMore ? Int32(MSG_MORE) : 0)
    if end.isEmpty, body.isEmpty {
      return progress { Glibc.send(descriptor, head.baseAddress, head.count, flags) }
    }
    var vectors = (iovec(head), iovec(end), iovec(body))
    return withUnsafeMutableBytes(of: &vectors) { vectors in
      var message = msghdr()
      message.msg_iov = vectors.assumingMemoryBound(to: iovec.self).baseAddress
      message.msg_iovlen = 3
      return progress { sendmsg(descriptor, &message, flags) }
    }
  }

  /// Has the kernel send a part of an open file (sendfile); not possible over TLS.
  ///
  /// - Returns: Failed if the file ends before the part does.
  func send(file: Int32, _ range: Range<Int>) -> Progress {
    var position = range.lowerBound
    let sent = progress { sendfile(descriptor, file, &position, range.count) }
    // The socket is full, of which epoll reports the end, or the file was truncated, of which it reports nothing.
    if case .done(let count) = sent, count < range.count {
      var status = stat()
      guard count > 0, fstat(file, &status) == 0, status.st_size >= range.upperBound else {
        return .failed
      }
    }
    return sent
  }

  /// Tells the peer, which may still send, that nothing more will be sent.
  ///
  /// - Returns: false if the peer has reset the connection.
  func finish() -> Bool {
    tls?.finish()
    return shutdown(descriptor, Int32(SHUT_WR)) == 0
  }

  /// The bytes in the kernel that the peer has not acknowledged.
  var unacknowledged: Int { queued(UInt(TIOCOUTQ)) }

  /// The part of them that has not been sent, because the peer's receive window is full.
  var unsent: Int { queued(Self.siocoutqnsd) }

  // linux/sockios.h, which Glibc's module map does not export.
  private static let siocoutqnsd: UInt = 0x894B

  private func queued(_ request: UInt) -> Int {
    var count: Int32 = 0
    return ioctl(descriptor, request, &count) == 0 ? Int(count) : 0
  }

  /// Makes close(2) reset the connection and discard what the kernel has buffered for it.
  func abort() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
  }

  private func progress(_ call: () -> Int) -> Progress {
    while true {
      let count = call()
      if count >= 0 { return .done(count) }
      if errno != EINTR { return errno == EAGAIN ? .blocked : .failed }
    }
  }
}

extension UnsafeRawBufferPointer {
  static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}

extension iovec {
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
  }
}
