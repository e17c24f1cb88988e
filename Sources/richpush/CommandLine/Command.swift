import Media

/// A command, such as `serve` in `richpush serve`.
protocol Command {
  /// The word on the command line.
  static var name: String { get }
  /// What it does, in one line of the program's help page.
  static var summary: String { get }
  /// An explanation for first-time users, with an example.
  static var help: String { get }
  /// Its flags, without `--help`, which every command has.
  static var options: [Option] { get }
  /// The names of its operands: `NAME` is required, `[NAME]` optional, `NAME…` repeatable.
  static var operands: [String] { get }

  /// Runs the command; an error ends the program with its description and exit code.
  static func run(_ arguments: Arguments) async throws
}

extension Command {
  static var operands: [String] { [] }
}

/// A flag of a command, and its environment variable.
struct Option: Sendable {
  /// Whether the flag has a value, and whether it may be repeated.
  enum Kind: Sendable {
    case flag
    case value
    case list
  }

  let name: String
  let kind: Kind
  /// The name of the value on the help page, such as `FILE`.
  var placeholder = ""
  let explanation: String
  var defaultValue: String?
  /// Whether a variable completes it: not if it says what to send.
  var hasVariable = true

  /// The variable that is read if the flag is not given: `RICHPUSH_MAX_AGE` for `--max-age`.
  var variable: String { Self.variable(of: name) }

  /// The variable of the flag `name`.
  static func variable(of name: String) -> String {
    "RICHPUSH_" + name.uppercased().replacing("-", with: "_")
  }

  /// A flag without a value, such as `--demo`.
  static func flag(_ name: String, _ explanation: String) -> Option {
    Option(name: name, kind: .flag, explanation: explanation)
  }

  /// A flag with a value, such as `--user NAME`.
  static func value(
    _ name: String, _ placeholder: String, _ explanation: String, default value: String? = nil
  ) -> Option {
    Option(
      name: name, kind: .value, placeholder: placeholder, explanation: explanation,
      defaultValue: value)
  }

  /// A flag that may be repeated; its variable separates the values by `;`.
  static func list(_ name: String, _ placeholder: String, _ explanation: String) -> Option {
    Option(name: name, kind: .list, placeholder: placeholder, explanation: explanation)
  }

  /// The same, read from the command line only.
  var withoutVariable: Option {
    var option = self
    option.hasVariable = false
    return option
  }

  /// The flag of all commands that read or write content.
  static let objects = value(
    "objects", "URL",
    "keep content in s3://bucket?endpoint=https://host&region=name (docs/SCALING.md)")
  /// The flag of all commands that open the data folder, without which it is looked for (``StoreLocation``).
  static let data = value(
    "data", "FOLDER", "where the store is; else var if it is one, or that of the packaged service")

  /// The flag of all commands that use the records.
  static let database = value(
    "database", "URL", "postgres://…: the records are there, not in --data (docs/SCALING.md)")

  /// The flag of all commands that know where people sign in.
  static let oidcIssuer = value(
    "oidc-issuer", "URL", "people sign in at this provider of OpenID Connect (docs/OPERATIONS.md)")
}

/// Why a command failed.
struct CommandLineError: Error, CustomStringConvertible {
  /// What happened and what to do, for the user.
  let description: String
  /// The exit code, as in `sysexits.h`.
  let exitCode: Int32

  /// The command line is wrong: `EX_USAGE`.
  static func usage(_ reason: String) -> CommandLineError {
    failed(reason, exitCode: ExitCode.usage)
  }

  /// The command line is right, but the command failed.
  static func failed(_ reason: String, exitCode: Int32 = ExitCode.failure) -> CommandLineError {
    CommandLineError(description: reason, exitCode: exitCode)
  }

  /// Runs `body`; any error that it throws is reported as a wrong command line.
  @discardableResult
  static func usage<Result>(_ body: () throws -> Result) throws(CommandLineError) -> Result {
    do { return try body() } catch { throw .usage(error.logDescription) }
  }
}
