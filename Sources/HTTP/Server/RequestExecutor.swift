import Primitives

extension BlockingExecutor {
  /// The threads on which all responders work, beside the event loops.
  ///
  /// Requests that come together are handed over together, and so are their responses: the cooperative pool
  /// would wake a thread for each.
  static let requests = BlockingExecutor(threads: Processors.count)

  /// The threads that save bodies to files and remove these; each body has one of them at a time.
  static let bodies = BlockingExecutor(threads: 16)

  /// The threads that open files to be sent.
  static let files = BlockingExecutor(threads: 8)
}
