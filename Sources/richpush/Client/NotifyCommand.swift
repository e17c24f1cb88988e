/// `richpush notify`: a publisher's one-liner.
enum NotifyCommand: Command {
  static let name = "notify"
  static let summary = "sends a notification to users"
  static let help = "It is being built."
  static let options: [Option] = [
    .list("to", "USER", "who gets it")
  ]
  static let operands = ["[MESSAGE]"]

  static func run(_ arguments: Arguments) async throws {
    throw CommandLineError.failed("notify is being built")
  }
}
