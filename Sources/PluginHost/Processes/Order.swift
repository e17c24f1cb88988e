/// What `richpush-exec` is to run and within what bounds (`Sources/richpush-exec/order.h`).
struct Order {
  var program: String
  var folder: String
  /// Killed after this; nil lets it live.
  var deadline: Duration?
  /// The time between SIGTERM and SIGKILL when it is told to stop.
  var grace = Duration.zero
  var memoryMiB: Int
  var cpuSeconds: Int?
  var fileMiB: Int
  var spaceMiB: Int
  /// The processor time it may use while it rests (``Worker/rest(until:then:)``); nil when that is not told.
  var restTime: Duration?
  /// The plugin's own user and group ID; 0 for the server's.
  var uid = 0
  var sandbox: Sandbox
  /// What it gets however often it is run.
  var environment: [(name: String, value: String)] = []
  /// Whether it is run for each call, with the call's own environment (`serve_calls`).
  var isForCalls = false

  /// What it may reach.
  struct Sandbox {
    var level: SandboxReport.Level
    /// Files and folders.
    var readable: [String]
    /// Its TMPDIR.
    var writable: String
    var network: Bool
  }

  /// A plugin with more descendants than this is a fork bomb.
  static let mostProcesses = 64

  /// What the TMPDIR may hold in all: some files as large as the largest answer.
  static func spaceMiB(for limits: Manifest.Limits) -> Int {
    4 * limits.outputMiB + 64
  }

  /// No order is longer: the kernel takes packets of about 200 KiB, and one variable of 128 KiB.
  static let mostBytes = 160 * 1024

  /// The words, each ended by NUL; nil when they are too long.
  var encoded: [UInt8]? {
    var words = [
      "program=\(program)", "folder=\(folder)", "grace=\(grace.milliseconds)",
      "data=\(memoryMiB << 20)", "memory=\(memoryMiB << 20)", "file-size=\(fileMiB << 20)", "files=256",
      "processes=\(Order.mostProcesses)", "space=\(spaceMiB << 20)",
    ]
    if uid > 0 { words.append("uid=\(uid)") }
    if let deadline { words.append("deadline=\(deadline.milliseconds)") }
    if let restTime { words.append("rest=\(restTime.milliseconds)") }
    if let cpuSeconds { words.append("cpu=\(cpuSeconds)") }
    words += ["sandbox=\(sandbox.level.rawValue)", "write=\(sandbox.writable)"]
    words += sandbox.readable.map { "read=\($0)" }
    if sandbox.network { words.append("network=1") }
    if isForCalls { words.append("calls=1") }
    words.append("--")
    var bytes = Order.encoded(words)
    guard let variables = Order.encoded(environment) else { return nil }
    bytes += variables
    return bytes.count <= Order.mostBytes ? bytes : nil
  }

  /// Words, each ended by NUL.
  static func encoded(_ words: [String]) -> [UInt8] {
    words.flatMap { Array($0.utf8) + [0] }
  }

  /// Variables as words, each ended by NUL; nil when they are too long.
  static func encoded(_ environment: [(name: String, value: String)]) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2048)
    for (name, value) in environment {
      guard name.utf8.count + value.utf8.count < 131_000 else { return nil }
      bytes += name.utf8
      bytes.append(UInt8(ascii: "="))
      bytes += value.utf8
      bytes.append(0)
    }
    return bytes.count <= mostBytes ? bytes : nil
  }
}

extension Duration {
  /// Whole microseconds, at least 0.
  var microseconds: Int {
    let (seconds, attoseconds) = components
    return max(0, Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000))
  }

  /// Whole milliseconds, at least 0.
  var milliseconds: Int {
    let (seconds, attoseconds) = components
    return max(0, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
  }
}
