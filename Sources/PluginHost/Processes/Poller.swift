import CLinux
import Foundation
import Glibc
import Synchronization

/// Something that wants to know when its descriptors can be read or written.
protocol Watcher: AnyObject, Sendable {
  /// Called on the poller's thread; must not block.
  func ready(_ descriptor: Int32)
  /// Called on the poller's thread when the time given with a descriptor is over.
  func expired()
}

/// One thread that waits for the descriptors of all plugins (epoll).
final class Poller: Sendable {
  /// What `watch` returns and `forget` takes.
  struct Ticket: Sendable, Hashable {
    fileprivate let number: UInt64
    fileprivate let descriptor: Int32
  }

  /// What a descriptor is watched for.
  enum Direction: Sendable {
    case input, both
    fileprivate var events: UInt32 {
      EPOLLIN.rawValue | EPOLLRDHUP.rawValue | (self == .both ? EPOLLOUT.rawValue : 0)
    }
  }

  private struct Watch {
    let watcher: any Watcher
    let descriptor: Int32
    var deadline: ContinuousClock.Instant?
  }

  private struct State {
    var watches: [UInt64: Watch] = [:]
    var last: UInt64 = 0
    /// No deadline is earlier; the thread sleeps no longer than to here.
    var nextDeadline: ContinuousClock.Instant?
    var isClosed = false

    /// Whether the thread must be told to sleep less.
    mutating func hasten(to deadline: ContinuousClock.Instant?) -> Bool {
      guard let deadline else { return false }
      if let nextDeadline, nextDeadline <= deadline { return false }
      nextDeadline = deadline
      return true
    }
  }

  private let queue: Descriptor
  private let alarm: Descriptor
  private let state = Mutex(State())

  /// Starts the thread; nil when the process is out of descriptors.
  init?() {
    guard let queue = Descriptor(epoll_create1(Int32(EPOLL_CLOEXEC))),
      let alarm = Descriptor(eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
    else { return nil }
    self.queue = queue
    self.alarm = alarm
    control(EPOLL_CTL_ADD, Ticket(number: 0, descriptor: alarm.number), .input)
    let thread = Thread { [self] in run() }
    thread.name = "plugins"
    thread.start()
  }

  /// Ends the thread; what is still watched is forgotten.
  func close() {
    state.withLock {
      $0.isClosed = true
      $0.watches = [:]
    }
    wake()
  }

  /// Calls `watcher` whenever `descriptor` is ready, and once when `deadline` has passed.
  func watch(
    _ descriptor: Int32, for direction: Direction = .input,
    until deadline: ContinuousClock.Instant? = nil, _ watcher: any Watcher
  ) -> Ticket {
    let (number, isHurried) = state.withLock { state in
      state.last += 1
      state.watches[state.last] = Watch(
        watcher: watcher, descriptor: descriptor, deadline: deadline)
      return (state.last, state.hasten(to: deadline))
    }
    let ticket = Ticket(number: number, descriptor: descriptor)
    control(EPOLL_CTL_ADD, ticket, direction)
    if isHurried { wake() }
    return ticket
  }

  /// Watches a descriptor for something else.
  func change(_ ticket: Ticket, to direction: Direction) {
    control(EPOLL_CTL_MOD, ticket, direction)
  }

  /// Sets another deadline, or none.
  func postpone(_ ticket: Ticket, until deadline: ContinuousClock.Instant?) {
    let isHurried = state.withLock { state in
      state.watches[ticket.number]?.deadline = deadline
      return state.hasten(to: deadline)
    }
    if isHurried { wake() }
  }

  /// Ends a watch; call it before the descriptor is closed.
  func forget(_ ticket: Ticket) {
    guard state.withLock({ $0.watches.removeValue(forKey: ticket.number) }) != nil else { return }
    control(EPOLL_CTL_DEL, ticket, .input)
  }

  private func control(_ operation: Int32, _ ticket: Ticket, _ direction: Direction) {
    var event = epoll_event()
    event.events = direction.events
    event.data.u64 = ticket.number
    epoll_ctl(queue.number, operation, ticket.descriptor, &event)
  }

  private func wake() {
    eventfd_write(alarm.number, 1)
  }

  private func run() {
    var events = [epoll_event](repeating: epoll_event(), count: 128)
    while true {
      let (isClosed, next) = state.withLock { ($0.isClosed, $0.nextDeadline) }
      if isClosed { return }
      let pause = next.map {
        Int32(clamping: (ContinuousClock.now.duration(to: $0)).milliseconds + 1)
      }
      let count = epoll_wait(queue.number, &events, Int32(events.count), pause ?? -1)
      for event in events.prefix(Int(max(count, 0))) { deliver(event.data.u64) }
      if let next, next <= .now { expire(at: .now) }
    }
  }

  private func deliver(_ number: UInt64) {
    if number == 0 {
      var count: eventfd_t = 0
      eventfd_read(alarm.number, &count)
    } else if let watch = state.withLock({ $0.watches[number] }) {
      watch.watcher.ready(watch.descriptor)
    }
  }

  private func expire(at now: ContinuousClock.Instant) {
    let late = state.withLock { state in
      let late = state.watches.filter { $0.value.deadline.map { $0 <= now } ?? false }
      for number in late.keys { state.watches[number]?.deadline = nil }
      state.nextDeadline = state.watches.values.compactMap(\.deadline).min()
      return late.values.map(\.watcher)
    }
    for watcher in late { watcher.expired() }
  }
}
