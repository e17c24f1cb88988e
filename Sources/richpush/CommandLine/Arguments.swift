import FoundationEssentials
import RichPushAPI

/// The flags and operands of a command, completed from the environment and the defaults.
///
/// A flag on the command line has precedence over its variable, and the variable over the default.
struct Arguments: Sendable {
  private var values: [String: [String]] = [:]
  /// The flags on the command line.
  private var typed: Set<String> = []
  /// The words that are neither flags nor their values, in order.
  private(set) var operands: [String] = []
  /// The environment that completes the flags.
  let environment: [String: String]

  /// Parses the words after the command's name; `--` ends the flags.
  init(
    _ words: [String], environment: [String: String] = [:], for command: any Command.Type
  ) throws(CommandLineError) {
    self.environment = environment
    try parse(words, for: command)
    typed = Set(values.keys)
    try addDefaults(of: command.options, environment)
    try checkOperands(of: command)
  }

  /// The second operand, after the action in commands such as `user add NAME`.
  var subject: String? { operands.dropFirst().first }

  /// Whether a flag without a value was given.
  func flag(_ name: String) -> Bool { values[name] != nil }

  /// The value of a flag, its variable or its default.
  func string(_ name: String) -> String? { values[name]?.last }

  /// All values of a flag that may be repeated.
  func list(_ name: String) -> [String] { values[name] ?? [] }

  /// What is set, without defaults: flags of `options`, and `variables` of the environment, by their names.
  func given(among options: [Option], variables: [String]) -> [String: String] {
    var given: [String: String] = [:]
    for option in options {
      let variable = option.hasVariable ? environment[option.variable] ?? "" : ""
      guard isTyped(option.name) || !variable.isEmpty else { continue }
      given["--" + option.name] = list(option.name).joined(separator: ";")
    }
    for name in variables { given[name] = environment[name] }
    return given
  }

  /// Whether the flag is on the command line.
  func isTyped(_ name: String) -> Bool { typed.contains(name) }

  /// Warns that other users see the flag's value in the list of processes, if it is on the command line.
  func warnOfSecret(in name: String) {
    guard isTyped(name) else { return }
    Terminal.printError(
      "--\(name) shows its secret to every user of this machine (ps); "
        + "use the environment variable \(Option.variable(of: name))")
  }

  /// The value of a flag that must not be missing or empty.
  func required(_ name: String) throws(CommandLineError) -> String {
    if let value = string(name), !value.isEmpty { return value }
    throw .usage("--\(name) is missing")
  }

  /// The value of a flag as an integer.
  func integer(
    _ name: String, in range: ClosedRange<Int> = 1...Int(Int32.max)
  ) throws(CommandLineError) -> Int? {
    guard let text = string(name) else { return nil }
    if let number = Int(text), range.contains(number) { return number }
    throw .usage(
      "--\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound), not '\(text)'"
    )
  }

  /// The value of a flag that must be one of `words`.
  func string(_ name: String, among words: [String]) throws(CommandLineError) -> String? {
    guard let text = string(name), !words.contains(text) else { return string(name) }
    throw .usage(
      "--\(name) is \(words.dropLast().joined(separator: ", ")) or \(words.last ?? ""), "
        + "not '\(text)'")
  }

  /// The value of a flag as a case of an enumeration.
  func choice<Choice: CaseIterable & RawRepresentable<String>>(
    _ name: String
  ) throws(CommandLineError) -> Choice? {
    try string(name, among: Choice.allCases.map(\.rawValue)).flatMap { Choice(rawValue: $0) }
  }

  /// The value of a flag as a time: RFC 3339, or a duration from now, such as `90s`, `30m`, `12h` or `7d`.
  func time(_ name: String) throws(CommandLineError) -> Date? {
    guard let text = string(name) else { return nil }
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    if let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
      (1...100_000).contains(number)
    {
      return Date(timeIntervalSinceNow: Double(number) * unit)
    }
    if let date = try? Date(text, strategy: .iso8601) { return date }
    throw .usage(
      "--\(name) is so far from now, such as 90s, 30m, 12h or 7d, or a time such as "
        + "2026-12-31T23:59:59Z, not '\(text)'")
  }

  /// The value of a flag as a time in the past: RFC 3339, or how long ago, such as `90s`, `30m`, `12h` or `7d`.
  func pastTime(_ name: String) throws(CommandLineError) -> Date? {
    guard let time = try time(name) else { return nil }
    // A duration is one from now on.
    let now = Date()
    return time > now ? now - time.timeIntervalSince(now) : time
  }

  /// The value of a flag as the time at which something shall happen: not in the past, apart from a minute that clocks
  /// may differ and typing takes.
  func futureTime(_ name: String) throws(CommandLineError) -> Date? {
    guard let time = try time(name), let text = string(name) else { return nil }
    guard time < Date(timeIntervalSinceNow: -60) else { return time }
    throw .usage("--\(name) is past: '\(text)'; without it, it is sent at once")
  }

  /// Checks that some command reads every `RICHPUSH_…` variable; a misspelled one would have no effect.
  static func checkVariables(
    _ environment: [String: String], known: [String]
  ) throws(CommandLineError) {
    let unknown = environment.keys.filter { $0.hasPrefix("RICHPUSH_") && !known.contains($0) }
    guard let name = unknown.min() else { return }
    throw .usage("unknown environment variable \(name)\(Suggestion.hint(to: name, among: known))")
  }

  /// A value follows its flag as `--name value` or `--name=value`.
  private mutating func parse(
    _ words: [String], for command: any Command.Type
  ) throws(CommandLineError) {
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" { return operands += rest }
      guard word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let option = command.options.first(where: { "--" + $0.name == parts[0] }) else {
        let hint = Suggestion.hint(
          to: String(parts[0]), among: command.options.map { "--" + $0.name })
        throw .usage(
          "unknown flag \(parts[0])\(hint); 'richpush \(command.name) --help' lists them")
      }
      if option.kind == .flag {
        guard parts.count == 1 else { throw .usage("--\(option.name) takes no value") }
        values[option.name] = ["true"]
        continue
      }
      guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
        throw .usage("--\(option.name) needs a value: --\(option.name) \(option.placeholder)")
      }
      if option.kind == .value, values[option.name] != nil {
        throw .usage("--\(option.name) was given twice")
      }
      values[option.name, default: []].append(value)
    }
  }

  private mutating func addDefaults(
    of options: [Option], _ environment: [String: String]
  ) throws(CommandLineError) {
    for option in options where values[option.name] == nil {
      guard option.hasVariable, let text = environment[option.variable], !text.isEmpty else {
        values[option.name] = option.defaultValue.map { [$0] }
        continue
      }
      switch (option.kind, text.lowercased()) {
      case (.value, _): values[option.name] = [text]
      case (.list, _): values[option.name] = text.split(separator: ";").map(String.init)
      case (.flag, "1"), (.flag, "true"), (.flag, "yes"), (.flag, "on"):
        values[option.name] = ["true"]
      case (.flag, "0"), (.flag, "false"), (.flag, "no"), (.flag, "off"): break
      case (.flag, _): throw .usage("\(option.variable) must be 'yes' or 'no', not '\(text)'")
      }
    }
  }

  private mutating func checkOperands(of command: any Command.Type) throws(CommandLineError) {
    let names = command.operands
    let needed = names.filter { !$0.hasPrefix("[") }
    // Of the actions this one changes nothing, and is what somebody wants who names none.
    if operands.isEmpty, needed.first?.split(separator: "|").contains("list") == true {
      operands = ["list"]
    }
    if operands.count < needed.count {
      throw .usage(
        "\(needed[operands.count]) is missing; 'richpush \(command.name) --help' shows an example")
    }
    let isRepeatable = names.last?.contains("…") ?? false
    if operands.count > names.count, !isRepeatable {
      throw .usage("unexpected argument '\(operands[names.count])' of richpush \(command.name)")
    }
  }
}

extension Suggestion {
  /// `" (did you mean 'folder'?)"`, or an empty string if no known word is similar.
  static func hint(to word: String, among known: [String]) -> String {
    self.word(to: word, among: known.sorted()).map { " (did you mean '\($0)'?)" } ?? ""
  }
}
