import CLinux
import Dispatch
import Glibc
import Synchronization

/// Names a request of an event loop's for other threads, also when its connection has gone.
struct Ticket: Sendable {
  let descriptor: Int32
  let serial: UInt64
}

/// What other threads tell an event loop, which is woken by it.
final class Mailbox: Sendable {
  enum Letter: Sendable {
    /// How a request is to be answered is decided.
    case decision(Ticket, Answer)
    /// The answer to a request is there.
    case answer(Ticket, Response)
    /// A stream has something to send.
    case events(Ticket)
    /// Accept no more, and leave the group then.
    case quiesce(DispatchGroup)
    /// Close what is idle, and everything else after its answer.
    case drain
    /// End everything: what is being worked on is answered with 503.
    case end
    /// End the thread.
    case quit
  }

  /// Readable while there are letters (eventfd).
  let descriptor: Int32
  private let letters = Mutex<[Letter]>([])

  init() throws(ServerError) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else { throw .noDescriptor }
  }

  deinit { close(descriptor) }

  func post(_ letter: Letter) {
    let wasEmpty = letters.withLock { letters in
      letters.append(letter)
      return letters.count == 1
    }
    if wasEmpty { eventfd_write(descriptor, 1) }
  }

  /// Takes all letters out.
  func empty() -> [Letter] {
    var count: UInt64 = 0
    eventfd_read(descriptor, &count)
    return letters.withLock { letters in
      defer { letters = [] }
      return letters
    }
  }
}
