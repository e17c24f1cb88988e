/// A process of a plugin's that stays between calls: a worker, or what starts one-shot processes.
protocol Resident: AnyObject, Sendable {
  /// Whether it still runs, as far as is known.
  var isAlive: Bool { get }
  /// How many calls it was given.
  var requests: Int { get }
  /// Whether another takes its place when it has ended, though no call needs one.
  var isReplaced: Bool { get }
  /// Where calls may write; emptied after each.
  var scratch: ScratchFolder { get }
  /// Calls `action` when no call was given to it until `deadline`.
  func rest(until deadline: ContinuousClock.Instant, then action: @escaping @Sendable () -> Void)
  /// Calls `action` when it has ended, whatever the cause.
  func whenEnded(_ action: @escaping @Sendable () -> Void)
  /// Lets it end by itself.
  func retire()
}
