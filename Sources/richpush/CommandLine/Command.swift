/// One word of the command line, such as `serve` in `richpush serve`.
protocol Command {
  /// The word itself.
  static var name: String { get }
  /// What it does, in one line of the program's help page.
  static var summary: String { get }
  /// What somebody who uses it for the first time wants to read, with an example.
  static var help: String { get }
  /// Its flags; `--help` is understood by every command.
  static var options: [Option] { get }
  /// The names of its operands: `NAME` must be there, `[NAME]` may be, `NAME…` may be repeated.
  static var operands: [String] { get }

  /// Does the work; a `CommandLineError` ends the program with its sentence and its exit code.
  static func run(_ arguments: Arguments) async throws
}

extension Command {
  static var operands: [String] { [] }
}
