/// A file with what the store has of a user.
package enum PersonalFile: String, CaseIterable, Sendable {
  case profile, attributes, devices, sessions
  case accessTokens = "access-tokens"
  case identities, notifications, replies, sent, drafts, segments, changes, approvals, audit

  /// Whether it has a line for each record, since there may be any number; otherwise it is a list.
  package var isLines: Bool {
    switch self {
    case .notifications, .replies, .sent, .changes, .approvals, .audit: true
    case .profile, .attributes, .devices, .sessions, .accessTokens, .identities, .drafts, .segments:
      false
    }
  }
}

/// Some records of a ``PersonalFile``.
package struct PersonalPage: Sendable {
  /// The records, each as a JSON object.
  package internal(set) var records: [String] = []
  /// The content of notifications that nobody but the user has sent or was sent.
  package internal(set) var media: [(blob: Blob, type: String?)] = []
  /// After which number the next page begins; nil if this is the last one.
  package internal(set) var next: Int?
}

/// What the store has of a user, for that user to read: no hashes and no tokens.
package protocol PersonalData: Sendable {
  /// Records of a file whose numbers are larger than `after`, some at once.
  func personalRecords(
    in file: PersonalFile, of user: UserID, after: Int
  ) async throws -> PersonalPage
}
