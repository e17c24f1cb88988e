import CLinux
import Glibc
import Primitives
import Synchronization

/// Handles the events of descriptors that a ``Poller`` watches.
///
/// Its methods run on the poller's thread and must not block.
protocol PollHandler: AnyObject, Sendable {
  /// The descriptor can be read or written, or its other end is closed.
  func descriptorReady(_ descriptor: Int32)
  /// The deadline of a watch has passed.
  func deadlinePassed()
}

/// One thread that waits for the descriptors of all plugins (epoll).
final class Poller: Sendable {
  /// Identifies a watch.
  struct Token: Sendable, Hashable {
    fileprivate let number: UInt64
    fileprivate let descriptor: Int32
  }

  /// The events to wait for.
  enum Interest: Sendable {
    case reading, readingAndWriting
    fileprivate var events: UInt32 {
      EPOLLIN.rawValue | EPOLLRDHUP.rawValue
        | (self == .readingAndWriting ? EPOLLOUT.rawValue : 0)
    }
  }

  private struct Watch {
    let handler: any PollHandler
    let descriptor: Int32
    var deadline: ContinuousClock.Instant?
  }

  private struct State {
    var watches: [UInt64: Watch] = [:]
    var lastNumber: UInt64 = 0
    /// The earliest deadline of all watches, or earlier; the thread sleeps until then.
    var nextDeadline: ContinuousClock.Instant?
    var isClosed = false

    /// Whether the thread must be woken, because it would sleep past the deadline.
    mutating func lower(to deadline: ContinuousClock.Instant?) -> Bool {
      guard let deadline else { return false }
      if let nextDeadline, nextDeadline <= deadline { return false }
      nextDeadline = deadline
      return true
    }
  }

  private let queue: FileDescriptor
  private let wakeUps: FileDescriptor
  private let state = Mutex(State())

  /// Starts the thread; nil if the process is out of descriptors.
  init?() {
    guard let queue = FileDescriptor(owning: epoll_create1(Int32(EPOLL_CLOEXEC))),
      let wakeUps = FileDescriptor(owning: eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
    else { return nil }
    (self.queue, self.wakeUps) = (queue, wakeUps)
    control(EPOLL_CTL_ADD, Token(number: 0, descriptor: wakeUps.number), .reading)
    DetachedThread.start(named: "plugins") { [self] in run() }
  }

  /// Ends the thread and all watches.
  func close() {
    state.withLock {
      $0.isClosed = true
      $0.watches = [:]
    }
    wake()
  }

  /// Calls `handler` whenever `descriptor` is ready, and once when `deadline` has passed.
  func watch(
    _ descriptor: Int32, for interest: Interest = .reading,
    until deadline: ContinuousClock.Instant? = nil, _ handler: any PollHandler
  ) -> Token {
    let (number, mustWake) = state.withLock { state in
      state.lastNumber += 1
      state.watches[state.lastNumber] = Watch(
        handler: handler, descriptor: descriptor, deadline: deadline)
      return (state.lastNumber, state.lower(to: deadline))
    }
    let token = Token(number: number, descriptor: descriptor)
    control(EPOLL_CTL_ADD, token, interest)
    if mustWake { wake() }
    return token
  }

  /// Changes the events that a watch waits for.
  func change(_ token: Token, to interest: Interest) { control(EPOLL_CTL_MOD, token, interest) }

  /// Changes or removes the deadline of a watch.
  func setDeadline(_ deadline: ContinuousClock.Instant?, of token: Token) {
    let mustWake = state.withLock { state in
      state.watches[token.number]?.deadline = deadline
      return state.lower(to: deadline)
    }
    if mustWake { wake() }
  }

  /// Ends a watch; must be called before the descriptor is closed.
  func remove(_ token: Token) {
    guard state.withLock({ $0.watches.removeValue(forKey: token.number) }) != nil else { return }
    control(EPOLL_CTL_DEL, token, .reading)
  }

  private func control(_ operation: Int32, _ token: Token, _ interest: Interest) {
    var event = epoll_event()
    event.events = interest.events
    // The number, not the descriptor: the kernel may give the descriptor's number to another file
    // while an event of the closed one is still in the current batch.
    event.data.u64 = token.number
    epoll_ctl(queue.number, operation, token.descriptor, &event)
  }

  private func wake() { eventfd_write(wakeUps.number, 1) }

  private func run() {
    var events = [epoll_event](repeating: epoll_event(), count: 128)
    while true {
      let (isClosed, next) = state.withLock { ($0.isClosed, $0.nextDeadline) }
      if isClosed { return }
      // One millisecond more, because the rest of a millisecond is cut off.
      let timeout = next.map {
        Int32(clamping: ContinuousClock.now.duration(to: $0).milliseconds + 1)
      }
      let count = epoll_wait(queue.number, &events, Int32(events.count), timeout ?? -1)
      for event in events.prefix(Int(max(count, 0))) { deliver(event.data.u64) }
      if let next, next <= .now { handleDeadlines(at: .now) }
    }
  }

  private func deliver(_ number: UInt64) {
    if number == 0 {
      var count: eventfd_t = 0
      eventfd_read(wakeUps.number, &count)
    } else if let watch = state.withLock({ $0.watches[number] }) {
      watch.handler.descriptorReady(watch.descriptor)
    }
  }

  private func handleDeadlines(at now: ContinuousClock.Instant) {
    let handlers = state.withLock { state in
      let late = state.watches.filter { $0.value.deadline.map { $0 <= now } ?? false }
      for number in late.keys { state.watches[number]?.deadline = nil }
      state.nextDeadline = state.watches.values.compactMap(\.deadline).min()
      return late.values.map(\.handler)
    }
    for handler in handlers { handler.deadlinePassed() }
  }
}

/// A continuation with its result, to be resumed when no lock is held.
///
/// Resuming takes the task's own lock, which a thread that cancels the task holds while the cancellation
/// handler waits for ours.
struct PendingResume<Outcome: Sendable>: Sendable {
  private let continuation: CheckedContinuation<Outcome, Never>
  private let outcome: Outcome

  init(_ continuation: CheckedContinuation<Outcome, Never>, returning outcome: consuming Outcome) {
    (self.continuation, self.outcome) = (continuation, outcome)
  }

  /// Resumes the task.
  consuming func resume() {
    // No copy of the outcome may outlive the resumption: with the last one its spooled file is removed.
    let (continuation, outcome) = (continuation, outcome)
    _ = consume self
    continuation.resume(returning: consume outcome)
  }
}
