/// How long each phase of a connection may last, in milliseconds: arithmetic on `Duration` is slow.
struct PhaseTimes {
  let head: Int
  let idle: Int
  /// The time in which ``ServerConfiguration/Limits/transferBytes`` must move.
  let transfer: Int
  /// How often a transfer is looked at.
  let look: Int

  init(_ limits: ServerConfiguration.Limits) {
    head = limits.head.milliseconds
    idle = limits.idle.milliseconds
    transfer = limits.transfer.milliseconds
    look = max(1, transfer / 30)
  }
}
