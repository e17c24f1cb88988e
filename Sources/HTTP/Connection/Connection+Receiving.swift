import Glibc

extension Connection {
  /// Understands what has come, or receives more of it; false when there is nothing to be had now.
  func receive() -> Bool {
    if !rest.isEmpty, !isStarved {
      let held = rest
      rest = []
      held.withUnsafeBytes { understand($0) }
      return true
    }
    guard mayReceive else { return false }
    let room = room
    switch channel.receive(into: room) {
    case .failed: close()
    case .done(0): close()
    case .blocked:
      mayReceive = false
      return false
    case .done(let count):
      // Less than there was room for is all there is, unless an end follows.
      if count < room.count, !hasEnded, channel.tls == nil { mayReceive = false }
      received(UnsafeRawBufferPointer(rebasing: room[..<count]))
    }
    return true
  }

  /// Where to receive: little room while a head is awaited, since what follows the head may have to
  /// be kept for as long as the request is being worked on.
  private var room: UnsafeMutableRawBufferPointer {
    guard case .head = phase else { return worker.buffer }
    return UnsafeMutableRawBufferPointer(rebasing: worker.buffer[..<Self.headRoom])
  }

  private static let headRoom = 16 << 10

  private func received(_ bytes: UnsafeRawBufferPointer) {
    guard !rest.isEmpty else { return understand(bytes) }
    let held = rest + bytes
    rest = []
    held.withUnsafeBytes { understand($0) }
  }

  /// Reads as much as it can, and keeps what it cannot.
  private func understand(_ bytes: UnsafeRawBufferPointer) {
    var position = 0
    while position < bytes.count {
      let left = UnsafeRawBufferPointer(rebasing: bytes[position...])
      switch phase {
      case .head:
        let used = readHead(left)
        if used == 0 { return keep(left, isStarved: true) }
        position += used
      case .body(let body): position += read(left, of: body)
      case .lingering, .over: return
      case .shakingHands, .deciding, .waiting, .answering, .streaming:
        return keep(left, isStarved: false)
      }
    }
  }

  private func keep(_ bytes: UnsafeRawBufferPointer, isStarved: Bool) {
    rest = Array(bytes)
    self.isStarved = isStarved
  }

  /// Reads a head and acts on it; how many bytes it has, 0 when more must come.
  private func readHead(_ bytes: UnsafeRawBufferPointer) -> Int {
    if bytes.starts(with: "\r\n".utf8) { return 2 }  // as RFC 9112, section 2.2, advises
    switch RequestHead.read(bytes) {
    case .head(let head):
      isStarved = false
      begin(head)
      return head.size
    case .incomplete:
      if !isStarved { hold(worker.times.head) }
      return 0
    case .refused(let status):
      name()
      wantsHeadOnly = bytes.starts(with: "HEAD ".utf8)
      refuse(Guard.unreadable(status).response)
      return bytes.count
    }
  }

  private func read(_ bytes: UnsafeRawBufferPointer, of body: IncomingBody) -> Int {
    do throws(Refusal) {
      let used = try body.take(bytes)
      if body.isComplete { finish(body) }
      return used
    } catch {
      refuse(error.response)
      return bytes.count
    }
  }
}
