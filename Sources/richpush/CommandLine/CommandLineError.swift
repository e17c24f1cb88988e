import Glibc

/// Why the program ends without having done what it was asked for.
struct CommandLineError: Error, CustomStringConvertible {
  /// A sentence the person at the keyboard can act on.
  let reason: String

  var description: String { reason }
  /// The exit code, after `sysexits.h`.
  let exitCode: Int32

  /// The command line cannot be understood: `EX_USAGE`, 64.
  static func usage(_ reason: String) -> CommandLineError {
    CommandLineError(reason: reason, exitCode: 64)
  }

  /// The work was tried and failed.
  static func failed(_ reason: String, exitCode: Int32 = EXIT_FAILURE) -> CommandLineError {
    CommandLineError(reason: reason, exitCode: exitCode)
  }
}
