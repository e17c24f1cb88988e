import Origin
import RichPushAPI

/// Sorts the words of a command line into flags, values and operands.
struct ArgumentReader {
  let command: any Command.Type
  private(set) var values: [String: [String]] = [:]
  private(set) var operands: [String] = []

  init(command: any Command.Type) { self.command = command }

  /// Reads the words in order; a value follows its flag as `--name value` or `--name=value`.
  mutating func read(_ words: [String]) throws(CommandLineError) {
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" { return operands += rest }
      guard word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let option = try option(flag: String(parts[0]))
      let value = parts.count == 2 ? String(parts[1]) : nil
      switch (option.kind, value) {
      case (.flag, nil): values[option.name] = ["true"]
      case (.flag, _): throw .usage("--\(option.name) takes no value")
      case (_, let value?): try add(value, to: option)
      case (_, nil):
        guard let next = rest.popFirst() else {
          throw .usage("--\(option.name) needs a value: --\(option.name) \(option.placeholder)")
        }
        try add(next, to: option)
      }
    }
  }

  /// Fills what the words left open, from the environment and then from the defaults.
  mutating func readVariables(_ environment: [String: String]) throws(CommandLineError) {
    for option in command.options where values[option.name] == nil {
      guard let text = environment[option.variable], !text.isEmpty else {
        values[option.name] = option.standard.map { [$0] }
        continue
      }
      switch option.kind {
      case .value: values[option.name] = [text]
      case .list: values[option.name] = text.split(separator: ";").map(String.init)
      case .flag:
        values[option.name] = try Self.truth(text, of: option.variable) ? ["true"] : nil
      }
    }
  }

  /// Compares the operands with those the command names.
  func checkOperands() throws(CommandLineError) {
    let names = command.operands
    let needed = names.filter { !$0.hasPrefix("[") }
    if operands.count < needed.count {
      throw .usage(
        "\(needed[operands.count]) is missing; 'richpush \(command.name) --help' shows an example")
    }
    let isOpen = names.last?.contains("…") ?? false
    if operands.count > names.count, !isOpen {
      throw .usage("'\(operands[names.count])' is one word too many for richpush \(command.name)")
    }
  }

  private mutating func add(_ value: String, to option: Option) throws(CommandLineError) {
    if option.kind == .value, values[option.name] != nil {
      throw .usage("--\(option.name) was given twice")
    }
    values[option.name, default: []].append(value)
  }

  private func option(flag: String) throws(CommandLineError) -> Option {
    if let option = command.options.first(where: { "--" + $0.name == flag }) { return option }
    let known = command.options.map { "--" + $0.name }
    throw .usage(
      "unknown flag \(flag)\(Suggestion.hint(to: flag, among: known)); "
        + "'richpush \(command.name) --help' lists them")
  }

  private static func truth(_ text: String, of variable: String) throws(CommandLineError) -> Bool {
    switch text.lowercased() {
    case "1", "true", "yes", "on": true
    case "0", "false", "no", "off": false
    default: throw .usage("\(variable) is 'yes' or 'no', not '\(text)'")
    }
  }
}
