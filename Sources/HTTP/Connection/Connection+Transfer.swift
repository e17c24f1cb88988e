extension Connection {
  /// Watches a transfer that begins now, instead of giving its phase a fixed time: the other side
  /// owes the bytes of a body, or room for an answer.
  func watch(handing bytes: Int = 0) {
    (monitor, moved) = (TransferMonitor(now: worker.now), bytes)
    setDeadline(worker.times.look)
  }

  /// Whether what is being watched may go on; sets when to look again.
  func passesLook() -> Bool {
    setDeadline(worker.times.look)
    switch phase {
    case .body: return goesOn(moved, least: worker.limits.transferBytes)
    case .answering: return goesOn(taken, least: worker.limits.transferBytes)
    case .streaming(let sink):
      guard !output.isEmpty || sink.backlog > 0 || channel.unsent > 0 else {
        release()
        return true
      }
      // A stream that is over is an answer like any other; one that is open may be slow.
      return goesOn(taken, least: sink.isClosed ? worker.limits.transferBytes : 1)
    case .head, .lingering:
      // The kernel holds the end of an answer until the other side has room for it.
      if channel.unacknowledged > 0 {
        return goesOn(taken, least: worker.limits.transferBytes)
      }
      let isIdle = if case .head = phase { true } else { false }
      let lingering = leavesBytesUnread ? Self.lingering : 0
      hold(isIdle ? max(0, worker.times.idle - worker.times.look) : lingering)
      return true
    default: return true
    }
  }

  private func goesOn(_ moved: Int, least: Int) -> Bool {
    monitor?.goesOn(moved, least: least, now: worker.now, times: worker.times) ?? true
  }

  /// Bytes of the answer that have reached the other side.
  ///
  /// What the kernel has taken does not count: it takes megabytes at once, and then none for minutes
  /// while a slow reader works them off.
  private var taken: Int { moved - output.count - channel.unacknowledged }
}
