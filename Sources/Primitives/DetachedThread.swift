import Glibc

/// A thread of its own, for code that may block.
package enum DetachedThread {
  private final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      (self.name, self.body) = (name, body)
    }

    /// What pthread_setname_np(3) does, which the Glibc module does not show.
    func setName() {
      let descriptor = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return }
      _ = write(descriptor, name, name.utf8.count)
      close(descriptor)
    }
  }

  /// Starts a thread, which ends when `body` returns; the system's tools show its name (at most 15 bytes).
  package static func start(named name: String, _ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Start(name, body)).toOpaque()
    let error = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
        start.setName()
        start.body()
        return nil
      }, context)
    precondition(error == 0, "pthread_create: \(Errno(rawValue: error))")
    pthread_detach(thread)
  }
}
