/// How long each phase of a connection may last, in milliseconds: arithmetic on `Duration` is slow.
struct PhaseTimes {
  let head: Int
  let idle: Int
  private let transfer: Int
  private let bytesPerSecond: Int

  init(_ limits: ServerConfiguration.Limits) {
    head = limits.head.milliseconds
    idle = limits.idle.milliseconds
    transfer = limits.transfer.milliseconds
    bytesPerSecond = max(1, limits.bytesPerSecond)
  }

  /// For so many bytes to come or to go.
  func transfer(of bytes: Int) -> Int { transfer + bytes / bytesPerSecond * 1000 }
}
