import Glibc
import PluginHost
import RichPushClient

/// The exit codes of all commands, those of `sysexits.h`; `docs/OPERATIONS.md` lists them for people.
enum ExitCode {
  /// A failure that the codes below do not name, such as a folder that is in use.
  static let failure: Int32 = EXIT_FAILURE
  /// `EX_USAGE`: the command line is wrong.
  static let usage: Int32 = 64
  /// `EX_DATAERR`: the content or the request is refused.
  static let refused: Int32 = 65
  /// `EX_NOINPUT`: what is named does not exist or cannot be read.
  static let notFound: Int32 = 66
  /// `EX_UNAVAILABLE`: the server cannot be reached.
  static let unreachable: Int32 = 69
  /// `EX_SOFTWARE`: a plugin or the server itself failed; trying again is useless before it is mended.
  static let failed: Int32 = 70
  /// `EX_TEMPFAIL`: something is busy or away; the same command may succeed later.
  static let temporary: Int32 = 75
  /// `EX_PROTOCOL`: the response is not one of a richpush server.
  static let malformed: Int32 = 76
  /// `EX_NOPERM`: the user, the password or the role is wrong.
  static let unauthorized: Int32 = 77
  /// `EX_CONFIG`: the configuration file is wrong.
  static let configuration: Int32 = 78

  /// The code for an error that ends a command.
  static func of(_ error: any Error) -> Int32 {
    switch error {
    case let error as CommandLineError: error.exitCode
    case let error as RichPushError: of(error.code)
    case let error as PluginError: of(error.code)
    default: failure
    }
  }

  private static func of(_ code: RichPushError.Code) -> Int32 {
    switch code {
    case .refused: refused
    case .notFound, .unreadable: notFound
    case .unreachable: unreachable
    case .failed: failed
    case .unavailable: temporary
    case .malformed: malformed
    case .unauthorized: unauthorized
    }
  }

  private static func of(_ code: PluginError.Code) -> Int32 {
    switch code {
    case .failed: failed
    case .busy, .timedOut: temporary
    case .noSuchPlugin: notFound
    default: refused
    }
  }
}
