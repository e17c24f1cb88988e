import RichPushClient

extension RichPushError {
  /// The exit code, after `sysexits.h`, so that a script can tell a wrong password from a busy server.
  var exitCode: Int32 {
    switch code {
    case .refused: 65  // EX_DATAERR
    case .notFound, .unreadable: 66  // EX_NOINPUT
    case .unreachable: 69  // EX_UNAVAILABLE
    case .unavailable: 75  // EX_TEMPFAIL
    case .malformed: 76  // EX_PROTOCOL
    case .unauthorized: 77  // EX_NOPERM
    }
  }
}
