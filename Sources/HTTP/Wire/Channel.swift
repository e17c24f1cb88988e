import CLinux
import Glibc

/// The way to the other side: a non-blocking socket, with or without TLS.
struct Channel {
  let descriptor: Int32
  let tls: TLSSession?

  /// What came of a step; `blocked` means that epoll will tell when to go on.
  enum Progress {
    case done(Int)
    case blocked
    case failed

    /// How many bytes have gone; nil when the connection has failed.
    var count: Int? {
      switch self {
      case .done(let count): count
      case .blocked: 0
      case .failed: nil
      }
    }
  }

  /// Receives what has come; 0 bytes are its end.
  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Progress {
    if let tls { return tls.receive(into: buffer) }
    return progress { recv(descriptor, buffer.baseAddress, buffer.count, 0) }
  }

  /// Sends up to three pieces of memory at once.
  func send(
    _ head: UnsafeRawBufferPointer, _ end: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer,
    isMoreToCome: Bool = false
  ) -> Progress {
    if let tls { return tls.send(head, end, body) }
    var vectors = (iovec(head), iovec(end), iovec(body))
    let flags = Int32(MSG_NOSIGNAL) | (isMoreToCome ? Int32(MSG_MORE) : 0)
    return withUnsafeMutableBytes(of: &vectors) { vectors in
      var message = msghdr()
      message.msg_iov = vectors.assumingMemoryBound(to: iovec.self).baseAddress
      message.msg_iovlen = 3
      return progress { sendmsg(descriptor, &message, flags) }
    }
  }

  /// Has the kernel send a part of a file (sendfile); never over TLS.
  func send(_ file: OpenFile, _ range: Range<Int>) -> Progress {
    var position = range.lowerBound
    let sent = progress { sendfile(descriptor, file.descriptor, &position, range.count) }
    if case .done(0) = sent { return .failed }  // the file has been cut short
    return sent
  }

  /// Says that nothing more will be sent.
  func finish() {
    tls?.finish()
    shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Bytes that the kernel holds because the other side has not acknowledged them.
  var unacknowledged: Int { queued(UInt(TIOCOUTQ)) }

  /// Bytes of these that have not even been sent (SIOCOUTQNSD), since the other side has no room.
  var unsent: Int { queued(0x894B) }

  private func queued(_ request: UInt) -> Int {
    var count: Int32 = 0
    return ioctl(descriptor, request, &count) == 0 ? Int(count) : 0
  }

  /// Has the connection reset when it is closed, so that the kernel keeps nothing for it.
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
  fileprivate init(_ bytes: UnsafeRawBufferPointer) {
    self.init(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
  }
}
