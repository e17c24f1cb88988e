/// Why a request or background work failed: a stable code for programs and a sentence for people.
///
/// Everything below the routes throws it. The routes give each code its HTTP status.
package struct ServiceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The `code` member of a problem (RFC 9457); `docs/API.md` lists them.
  package enum Code: String, Sendable, CaseIterable {
    /// The request does not follow the API: a field, an option or a body that cannot be read.
    case invalidRequest = "bad-request"
    /// A member or parameter that does not exist.
    case unknownField = "unknown-field"
    /// No credentials, or wrong ones.
    case unauthorized
    /// The caller's role, or a link that is not valid, does not allow it.
    case forbidden
    /// Nothing exists under this name or address, or it is not the caller's.
    case notFound = "not-found"
    /// It contradicts what is stored.
    case conflict
    /// What the request requires, such as that there is no such asset yet, is not so.
    case preconditionFailed = "precondition-failed"
    /// A device has fetched the notification; it cannot change.
    case alreadyFetched = "already-fetched"
    /// The link was valid; its time is over.
    case gone
    /// The content is larger than the limit.
    case tooLarge = "content-too-large"
    /// The plugin does not accept content of this type.
    case unsupportedType = "unsupported-media-type"
    /// The content is understood and cannot be used.
    case rejected = "unprocessable-content"
    /// No plugin handles the rich type.
    case unknownRichType = "unknown-rich-type"
    /// The asset that the payload names is refused or not checked yet.
    case assetNotReady = "asset-not-ready"
    /// `to` matches no user and no device.
    case noRecipients = "no-recipients"
    /// The plugin refuses for legal reasons.
    case legallyUnavailable = "unavailable-for-legal-reasons"
    /// The server could not do it; its log says why.
    case internalError = "internal-server-error"
    /// The plugin failed.
    case pluginFailed = "plugin-failed"
    /// The file is still being written; it is checked when it is complete.
    case incomplete
    /// The user has as much under way as one user may have, or has done it too often; try again later.
    case tooManyRequests = "too-many-requests"
    /// Too much waits already; try again after ``ServiceError/retryAfter`` seconds.
    case busy
    /// Something that is needed does not answer now.
    case unavailable = "service-unavailable"
    /// The plugin took longer than it may.
    case pluginTimedOut = "plugin-timed-out"
    /// There is no space left on the server's disk.
    case diskFull = "insufficient-storage"
  }

  /// What happened, for programs.
  package let code: Code
  /// What happened and what to do, for people.
  package let reason: String
  /// The number of seconds after which to try again, if that makes sense.
  package let retryAfter: Int?

  /// What is wrong with each member of the request's body; empty if it is not about members.
  package let faults: [Fault]

  /// What is wrong with a member of a request's body.
  package struct Fault: Sendable, Hashable {
    /// The member's name, such as `expires`.
    package let member: String
    /// What is wrong, for programs.
    package let code: Code
    /// What is wrong and what to do, for people.
    package let reason: String

    /// Creates a fault.
    package init(_ member: String, _ code: Code, _ reason: String) {
      (self.member, self.code, self.reason) = (member, code, reason)
    }
  }

  /// Creates an error.
  package init(_ code: Code, _ reason: String, retryAfter: Int? = nil) {
    self.init(code, reason, retryAfter: retryAfter, faults: [])
  }

  private init(_ code: Code, _ reason: String, retryAfter: Int?, faults: [Fault]) {
    (self.code, self.reason, self.retryAfter) = (code, reason, retryAfter)
    self.faults = faults
  }

  /// Creates the error for one fault of a request.
  package init(_ fault: Fault) {
    self.init(fault.code, fault.reason, retryAfter: nil, faults: [fault])
  }

  /// Creates the error for all faults of a request, with the code of the first one; nil if there are none.
  package init?(_ faults: [Fault]) {
    guard let first = faults.first else { return nil }
    self.init(
      first.code, faults.map(\.reason).joined(separator: " "), retryAfter: nil, faults: faults)
  }

  /// Creates the error for a name that does not exist, with the name that was likely meant, or else all there are.
  ///
  /// `kind` says what it would name, such as `query parameter`.
  package init(unknown kind: String, _ name: String, among known: [String]) {
    self.init(.unknownField, Self.unknown(kind, name, among: known))
  }

  /// Creates the error for members that do not exist, as for one name; nil if all are `known`.
  package init?(members: [String], known: [String]) {
    let unknown = members.filter { !known.contains($0) }.sorted()
    // Each sentence is short, whatever the name; so is what a name is cut to.
    self.init(
      unknown.prefix(10).map { name in
        Fault(
          String(name.prefix(60)), .unknownField, Self.unknown("field", name, among: known))
      })
  }

  private static func unknown(_ kind: String, _ name: String, among known: [String]) -> String {
    let hint =
      Suggestion.word(to: name, among: known).map { " Did you mean \($0.quoted)?" }
      ?? (known.isEmpty ? "" : " There are \(known.joined(separator: ", ")).")
    return "Unknown \(kind) \(name.quoted).\(hint)"
  }

  /// Creates the error for a user who has as many of something, such as uploads, under way as one user may have.
  package init(underWay what: String, _ number: Int) {
    self.init(
      .tooManyRequests, "This user has \(number) \(what) under way, which is the limit; try again.",
      retryAfter: 1)
  }

  /// The reason.
  package var description: String { reason }
}

extension ServiceError.Code {
  /// Whether the content or the request is the reason, so that trying again without a change is useless.
  package var isPermanent: Bool {
    switch self {
    case .internalError, .pluginFailed, .incomplete, .tooManyRequests, .busy, .unavailable,
      .pluginTimedOut, .diskFull:
      false
    default: true
    }
  }
}
