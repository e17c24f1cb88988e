import CLinux
import Glibc
import Foundation
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

  private struct Watch {
    let watcher: any Watcher
    let descriptor: Int32
    var deadline: ContinuousClock.Instant?
  }

  private struct State {
    var watches: [UInt64: Watch] = [:]
    var last: UInt64 = 0
    var isAsleep = false
    var isClosed = false
  }

  /// How late a deadline may be noticed.
  private static let tick: Int32 = 50

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
    control(EPOLL_CTL_ADD, alarm.number, EPOLLIN.rawValue, 0)
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

  /// Calls `watcher` whenever `descriptor` has something to read, or can be written if `isOutput`.
  func watch(
    _ descriptor: Int32, isOutput: Bool = false, until deadline: ContinuousClock.Instant? = nil,
    _ watcher: any Watcher
  ) -> Ticket {
    let (number, isAsleep) = state.withLock { state in
      state.last += 1
      state.watches[state.last] = Watch(
        watcher: watcher, descriptor: descriptor, deadline: deadline)
      return (state.last, state.isAsleep && deadline != nil)
    }
    let events = (isOutput ? EPOLLOUT.rawValue : EPOLLIN.rawValue) | EPOLLRDHUP.rawValue
    control(EPOLL_CTL_ADD, descriptor, events, number)
    if isAsleep { wake() }
    return Ticket(number: number, descriptor: descriptor)
  }

  /// Ends a watch; call it before the descriptor is closed.
  func forget(_ ticket: Ticket) {
    guard state.withLock({ $0.watches.removeValue(forKey: ticket.number) }) != nil else { return }
    control(EPOLL_CTL_DEL, ticket.descriptor, 0, 0)
  }

  private func control(_ operation: Int32, _ descriptor: Int32, _ events: UInt32, _ number: UInt64)
  {
    var event = epoll_event()
    event.events = events
    event.data.u64 = number
    epoll_ctl(queue.number, operation, descriptor, &event)
  }

  private func wake() {
    eventfd_write(alarm.number, 1)
  }

  private func run() {
    var events = [epoll_event](repeating: epoll_event(), count: 128)
    var nextCheck = ContinuousClock.now
    while true {
      let (isClosed, isIdle) = state.withLock { state in
        state.isAsleep = !state.watches.values.contains { $0.deadline != nil }
        return (state.isClosed, state.isAsleep)
      }
      if isClosed { return }
      let count = epoll_wait(queue.number, &events, Int32(events.count), isIdle ? -1 : Poller.tick)
      for event in events.prefix(Int(max(count, 0))) { deliver(event.data.u64) }
      guard !isIdle, ContinuousClock.now >= nextCheck else { continue }
      expire(at: .now)
      nextCheck = .now + .milliseconds(Int(Poller.tick))
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
      return late.values.map(\.watcher)
    }
    for watcher in late { watcher.expired() }
  }
}
