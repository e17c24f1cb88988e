/// The assignments of a file that systemd reads with `EnvironmentFile=` (systemd.exec(5)).
struct EnvironmentFile {
  /// A variable, and the line that sets it.
  struct Assignment: Equatable {
    let name: String
    let value: String
    let line: Int
  }

  /// In the file's order; of several for one name the last is valid.
  private(set) var assignments: [Assignment] = []
  /// The lines that are neither empty, comments nor assignments; systemd ignores them.
  private(set) var strayLines: [Int] = []

  /// The valid assignments.
  var environment: [String: String] {
    Dictionary(assignments.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
  }

  /// The line of the valid assignment of a name.
  func line(of name: String) -> Int? { assignments.last { $0.name == name }?.line }

  /// Whether systemd takes it for a variable's name: it ignores `export NAME`.
  private static func isName(_ text: String) -> Bool {
    text.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil
  }

  private enum State {
    case beforeName, comment, commentEscape, name, beforeValue, value, escape, single, double,
      doubleEscape
  }

  /// Parses the text as systemd's `load_env_file` does, quotes and continued lines included.
  init(_ text: String) {
    var (state, line, start) = (State.beforeName, 1, 1)
    var (name, value, trailingSpace) = ("", "", 0)
    func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
    func isNewline(_ scalar: Unicode.Scalar) -> Bool { scalar == "\n" || scalar == "\r" }
    func append(_ scalar: Unicode.Scalar) {
      value.unicodeScalars.append(scalar)
      trailingSpace = state == .value && isSpace(scalar) ? trailingSpace + 1 : 0
    }
    func finish() {
      state = .beforeName
      guard Self.isName(name) else { return strayLines.append(start) }
      assignments.append(
        Assignment(
          name: name, value: String(value.unicodeScalars.dropLast(trailingSpace)), line: start))
    }
    for scalar in text.unicodeScalars + ["\n"] {
      switch state {
      case .beforeName where scalar == "#" || scalar == ";": state = .comment
      case .beforeName where isSpace(scalar) || isNewline(scalar): break
      case .beforeName:
        (state, start, name, value, trailingSpace) = (.name, line, String(scalar), "", 0)
      case .name where isNewline(scalar):
        strayLines.append(start)
        state = .beforeName
      case .name where scalar == "=":
        while name.last == " " || name.last == "\t" { name.removeLast() }
        state = .beforeValue
      case .name: name.unicodeScalars.append(scalar)
      case .beforeValue where isSpace(scalar): break
      case .beforeValue, .value:
        switch scalar {
        case "\n", "\r": finish()
        case "'" where state == .beforeValue: state = .single
        case "\"" where state == .beforeValue: state = .double
        case "\\": state = .escape
        default:
          state = .value
          append(scalar)
        }
      case .escape:
        if !isNewline(scalar) { append(scalar) }
        state = .value
      case .single: if scalar == "'" { state = .beforeValue } else { append(scalar) }
      case .double where scalar == "\"": state = .beforeValue
      case .double where scalar == "\\": state = .doubleEscape
      case .double: append(scalar)
      case .doubleEscape:
        if !"\"\\`$\n".unicodeScalars.contains(scalar) { append("\\") }
        if scalar != "\n" { append(scalar) }
        state = .double
      case .comment where scalar == "\\": state = .commentEscape
      case .comment: if isNewline(scalar) { state = .beforeName }
      case .commentEscape: state = .comment
      }
      if scalar == "\n" { line += 1 }
    }
  }
}
