/// `richpush manual`: prints a manual page.
enum ManualCommand: Command {
  static let name = "manual"
  static let summary = "prints the manual page of richpush or of a command"
  static let help = """
      richpush manual > richpush.1
      richpush manual serve > richpush-serve.1

    The pages are written in mdoc(7), for man(1); the Debian package installs them.
    """
  static let options: [Option] = []
  static let operands = ["[COMMAND]"]

  static func run(_ arguments: Arguments) async throws {
    let page = try arguments.operands.first.map {
      ManualPage.text(of: try RichPush.command(named: $0))
    }
    Terminal.print("\(lines: page ?? ManualPage.text(of: RichPush.commands))")
  }
}

/// The manual pages in mdoc(7).
private enum ManualPage {
  /// richpush(1), with a list of the commands.
  static func text(of commands: [any Command.Type]) -> String {
    let items = commands.map { command in
      ".It Xr richpush-\(command.name) 1\n\(escaped(command.summary))"
    }
    return """
      \(head("richpush", "rich push notifications from your own server"))
      .Sh SYNOPSIS
      .Nm
      .Ar command
      .Op Fl -flags
      .Op Ar operands
      .Sh DESCRIPTION
      .Nm
      sends pictures, sounds, films and links to phones.
      A push carries the message and an ID; the phone fetches the content from the server in one
      request, sized for its screen.
      .Pp
      The commands are:
      .Bl -tag -width Ds
      \(items.joined(separator: "\n"))
      .El
      .Pp
      .Nm Cm help Ar command
      explains a command, and
      .Nm Fl -version
      prints the version.
      \(environment)
      \(exitStatus)
      .Sh SEE ALSO
      .Pa /usr/share/doc/richpush
      """
  }

  /// The page of a command, such as richpush-serve(1).
  static func text(of command: any Command.Type) -> String {
    let operands = command.operands.map { operand in
      operand.hasPrefix("[")
        ? ".Op Ar \(escaped(String(operand.dropFirst().dropLast())))" : ".Ar \(escaped(operand))"
    }
    let flags = command.options.map { option in
      ".It Fl -\(option.name)\(option.kind == .flag ? "" : " Ar \(escaped(option.placeholder))")\n"
        + sentences(HelpPage.explanation(of: option))
    }
    return """
      \(head("richpush-\(command.name)", command.summary))
      .Sh SYNOPSIS
      .Nm richpush \(command.name)
      \((command.options.isEmpty ? [] : [".Op Fl -flags"]) .joined())
      \(operands.joined(separator: "\n"))
      .Sh DESCRIPTION
      \(body(command.help))
      \(flags.isEmpty ? "" : ".Pp\nThe flags are:\n.Bl -tag -width Ds\n\(flags.joined(separator: "\n"))\n.El")
      \(environment)
      \(exitStatus)
      .Sh SEE ALSO
      .Xr richpush 1
      """.split(separator: "\n").joined(separator: "\n")
  }

  private static func head(_ name: String, _ summary: String) -> String {
    """
    .Dd \(RichPush.versionDate)
    .Dt \(name.uppercased()) 1
    .Os
    .Sh NAME
    .Nm \(name)
    .Nd \(escaped(summary))
    """
  }

  private static let environment = """
    .Sh ENVIRONMENT
    Every flag has a variable, which is read if the flag is not given:
    .Ev RICHPUSH_PUBLIC_URL
    for
    .Fl -public-url .
    The flags of a notification's message have none.
    The values of a flag that may be repeated are separated by semicolons.
    """

  private static let exitStatus = """
    .Sh EXIT STATUS
    0 on success, 64 if the command line is wrong, and another number if the command fails.
    """

  /// A help text: indented lines as they are, the others as paragraphs.
  private static func body(_ help: String) -> String {
    var lines: [String] = []
    var isLiteral = false
    for line in help.split(separator: "\n", omittingEmptySubsequences: false) {
      let isIndented = line.hasPrefix("  ")
      if isIndented != isLiteral, !line.isEmpty {
        lines.append(isIndented ? ".Bd -literal -offset indent" : ".Ed")
        isLiteral = isIndented
      }
      if line.isEmpty {
        if !isLiteral { lines.append(".Pp") }
      } else {
        lines.append(isIndented ? escaped(String(line.dropFirst(2))) : sentences(String(line)))
      }
    }
    if isLiteral { lines.append(".Ed") }
    return lines.joined(separator: "\n")
      .replacing(".Pp\n.Bd", with: ".Bd").replacing(".Ed\n.Pp", with: ".Ed")
  }

  /// Each sentence on a line of its own, as mdoc(7) wants it.
  private static func sentences(_ text: String) -> String {
    text.replacing(". ", with: ".\n").split(separator: "\n").map { escaped(String($0)) }
      .joined(separator: "\n")
  }

  private static func escaped(_ text: String) -> String {
    let text = text.replacing("\\", with: "\\e")
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }
}
