import Origin
import RichPushAPI

/// What was typed after a command, with the environment and the defaults behind it.
///
/// A flag on the command line wins over its variable, and the variable over the default.
struct Arguments: Sendable {
  private let values: [String: [String]]
  /// The flags that stood on the command line itself.
  private let typed: Set<String>
  /// The words that are neither flags nor their values, in order.
  let operands: [String]

  /// Reads the words after the command's name; `--` ends the flags.
  init(
    _ words: [String], environment: [String: String] = [:], for command: any Command.Type
  ) throws(CommandLineError) {
    var reader = ArgumentReader(command: command)
    try reader.read(words)
    typed = Set(reader.values.keys)
    try reader.readVariables(environment)
    try reader.checkOperands()
    values = reader.values
    operands = reader.operands
  }

  /// Whether a flag without a value was given.
  func flag(_ name: String) -> Bool { values[name] != nil }

  /// The value of a flag, its variable or its default.
  func string(_ name: String) -> String? { values[name]?.last }

  /// All values of a flag that may be repeated.
  func list(_ name: String) -> [String] { values[name] ?? [] }

  /// Whether a flag stood on the command line itself, and not in its variable.
  func isTyped(_ name: String) -> Bool { typed.contains(name) }

  /// Says on standard error that a flag's value is visible in the list of processes, if it is.
  func warnOfSecret(in name: String) {
    guard isTyped(name) else { return }
    Terminal.complain(
      "--\(name) shows its secret to every user of this machine (ps); "
        + "use the environment variable \(Option.variable(of: name))")
  }

  /// The value of a flag the command cannot do without.
  func required(_ name: String) throws(CommandLineError) -> String {
    if let value = string(name), !value.isEmpty { return value }
    throw .usage("--\(name) is missing")
  }

  /// The value of a flag as a whole number within a range.
  func integer(
    _ name: String, in range: ClosedRange<Int> = 1...Int(Int32.max)
  ) throws(CommandLineError) -> Int? {
    guard let text = string(name) else { return nil }
    if let number = Int(text), range.contains(number) { return number }
    throw .usage(
      "--\(name) is a whole number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
  }

  /// Refuses a `RICHPUSH_…` variable that no command reads: it is a typing error nobody would see.
  static func refuseUnknownVariables(
    in environment: [String: String], among options: [Option], and others: [String]
  ) throws(CommandLineError) {
    let known = Set(options.map(\.variable) + others)
    let unknown = environment.keys.filter { $0.hasPrefix("RICHPUSH_") && !known.contains($0) }
    guard let name = unknown.min() else { return }
    throw .usage(
      "unknown environment variable \(name)\(Suggestion.hint(to: name, among: known.sorted()))")
  }
}
