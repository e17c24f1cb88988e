/// Why a server cannot start or cannot use a new certificate.
package struct ServerError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it is.
  package enum Code: Sendable { case addressInUse, cannotListen, cannotStart, badCertificate }

  package let code: Code
  /// A sentence a person can act on.
  package let reason: String

  package var description: String { reason }

  static let noDescriptor = ServerError(
    code: .cannotStart,
    reason: "The HTTP server cannot start: the open-file limit (ulimit -n) is reached.")
}
