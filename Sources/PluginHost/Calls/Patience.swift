/// Whether the thread that asks a plugin may wait for its answer itself.
package enum Patience {
  /// Set where the thread is one of those that are there to wait: then a resident worker's answer is
  /// waited for on it, however long it takes, which spares two changes of threads for each call.
  @TaskLocal package static var isEndless = false

  /// More than any answer is waited for in this way.
  static let ofThread = Duration.milliseconds(50)
}
