/// How a plugin's process ended, as its supervisor reports (`Sources/richpush-exec/supervise.h`).
enum Ending: Sendable, Hashable {
  case exited(Int)
  case killed(signal: Int)
  /// It was killed at its deadline.
  case late
  /// It was killed because it had more processes than it may.
  case tooManyProcesses
  /// It was killed because its TMPDIR held more than it may.
  case tooMuchSpace
  /// It was killed because its processes together held more memory than it may.
  case tooMuchMemory
  /// It was killed because it worked on while it had no call.
  case tooMuchTime
  /// It was stopped because the host said so.
  case stopped
  /// It never ran: the `errno` and the step that failed.
  case failed(Int, step: String)
  /// Its supervisor is gone.
  case lost

  /// The end of a sentence that begins with the plugin.
  var sentence: String {
    switch self {
    case .exited(let status): "exited with status \(status)"
    case .killed(let signal): "was killed by signal \(signal)"
    case .late: "was killed at its deadline"
    case .tooManyProcesses: "had more than \(Order.mostProcesses) processes"
    case .tooMuchSpace: "filled its TMPDIR beyond the limit"
    case .tooMuchMemory: "held more memory than its limit"
    case .tooMuchTime: "used more processor time without a call than one may take"
    case .stopped: "was stopped"
    case .failed(let code, let step): "could not be started: \(step), errno \(code)"
    case .lost: "lost its supervisor"
    }
  }

  /// Reads the report.
  init(report: [UInt8]) {
    let words = String(decoding: report, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count >= 4, let value = Int(words[1]) else {
      self = .lost
      return
    }
    switch words[0] {
    case "exited": self = .exited(value)
    case "killed": self = .killed(signal: value)
    case "late": self = .late
    case "stopped": self = .stopped
    case "greedy":
      let kinds: [Int: Ending] = [1: .tooManyProcesses, 2: .tooMuchSpace, 3: .tooMuchTime, 4: .tooMuchMemory]
      self = kinds[value] ?? .lost
    case "failed": self = .failed(value, step: words.count > 4 ? String(words[4]) : "order")
    default: self = .lost
    }
  }
}
