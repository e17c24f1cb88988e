/// The texts that `--help` prints.
enum HelpPage {
  /// The page of `richpush --help`: purpose, commands, first steps.
  static func text(of commands: [any Command.Type]) -> String {
    """
    richpush sends pictures, sounds, films and links to phones. A push carries the message and an ID;
    the phone fetches the content from here in one request, sized for its screen.

    Usage: richpush COMMAND [flags]

    Commands:
    \(columns(commands.map { ($0.name, $0.summary) }))

    To see it work, in two terminals:
      richpush serve --demo
      richpush device --user alice
    and in a third:
      richpush notify --to alice --type img --payload logo.png "Look at this"

    'richpush COMMAND --help' explains a command. Every flag has an environment variable, such as
    RICHPUSH_SERVER for --server, but those of a notification's message have none. Exit code 64 means
    that the command line is wrong.
    """
  }

  /// The page of `richpush COMMAND --help`: usage, explanation, flags.
  static func text(of command: any Command.Type) -> String {
    let words = ["richpush", command.name] + (command.options.isEmpty ? [] : ["[flags]"])
    let flags = command.options.map { (syntax(of: $0), explanation(of: $0)) }
    return """
      richpush \(command.name): \(command.summary)

      Usage: \((words + command.operands).joined(separator: " "))

      \(command.help)\(flags.isEmpty ? "" : "\n\nFlags:\n" + columns(flags))
      """
  }

  private static func syntax(of option: Option) -> String {
    option.kind == .flag ? "--\(option.name)" : "--\(option.name) \(option.placeholder)"
  }

  /// What a flag does, whether it may be repeated, and its default.
  static func explanation(of option: Option) -> String {
    let repetition = option.kind == .list ? "; may be repeated" : ""
    return option.explanation + repetition + (option.defaultValue.map { " (default \($0))" } ?? "")
  }

  private static func columns(_ rows: [(left: String, right: String)]) -> String {
    let width = rows.map(\.left.count).max() ?? 0
    return rows.map { row in
      "  " + row.left + String(repeating: " ", count: width - row.left.count + 2) + row.right
    }.joined(separator: "\n")
  }
}
