/// Why a server cannot start or take new certificates.
package struct ServerError: Error, Sendable, CustomStringConvertible {
  package enum Code: Sendable { case addressInUse, cannotListen, cannotStart, badCertificate }

  package let code: Code
  /// A sentence a person can act on.
  package let reason: String

  package var description: String { reason }

  static let noDescriptor = ServerError(
    code: .cannotStart,
    reason: "The HTTP server cannot start: it can open no more files (ulimit -n).")
}
