import Push
import RichPushAPI
import Store

extension Announcement {
  /// What the placeholders of a draft stand for.
  struct Values: Sendable {
    /// By recipient; nil if there are no placeholders.
    var stored: RecipientValues?
    /// The users who were left out, in ascending order, each with a placeholder that they have no value for.
    var skipped: [(user: UserID, name: String)] = []
    /// All recipients, in ascending order, if that is known: to sort a million takes half a second.
    var recipients: [UserID]?

    /// The message with the shortest and the longest values, in each of its languages.
    func variants(of draft: Draft) -> [NotificationMessage] {
      guard draft.form != .legacy else { return [draft.message] }
      let messages = draft.message.localizations
      let longest = stored?.longest ?? [:]
      return messages.map { $0.personalized(with: [:]) }
        + (longest.isEmpty ? [] : messages.map { $0.personalized(with: longest) })
    }
  }

  /// The most values of a notification.
  private static let mostValues = 8_000_000

  /// What the placeholders of a draft stand for: the values that it gives, the user's attributes, and what was stored
  /// with the notification before.
  ///
  /// Leaves out users without a value, if the draft says so.
  ///
  /// - Throws: an error that names the first of those users, if it does not.
  func values(
    for draft: Draft, among addressees: inout Addressees,
    storedBefore stored: [UserID: [String: String]] = [:]
  ) async throws -> Values {
    let (names, required) = draft.message.placeholders
    guard !names.isEmpty, draft.form != .legacy else { return Values() }
    let users = addressees.users.sorted()
    guard users.count * names.count <= Self.mostValues else {
      throw ServiceError(
        .init(
          "to", .rejected,
          "\(names.count) placeholders for \(users.count) recipients are more than \(Self.mostValues) values."
        ))
    }
    var found = try await store.accounts.attributes(Array(names), of: users)
    // In ascending order, for which alone it is fast.
    for (user, values) in stored.sorted(by: { $0.key < $1.key }) { found.set(values, of: user) }
    let given = try await given(draft.values ?? [:]).sorted { $0.key < $1.key }
    for (user, values) in given where addressees.users.contains(user) {
      found.set(values, of: user)
    }
    let missing = found.missing(required, among: users, limit: .max)
    if missing.isEmpty { return Values(stored: found, recipients: users) }
    guard draft.onMissing == .skip, missing.count < users.count else {
      throw try await Self.error(missing, of: users.count, in: store)
    }
    addressees = addressees.among(addressees.users.subtracting(missing.map(\.user)))
    return Values(stored: found, skipped: missing)
  }

  /// The values that a draft gives, by user.
  private func given(
    _ values: [String: [String: String]]
  ) async throws -> [UserID: [String: String]] {
    let byName = Dictionary(
      values.compactMap { tag, values in Self.user(of: tag).map { ($0, values) } }
    ) { first, _ in first }
    let users = try await store.accounts.userIDs(
      of: Set(byName.keys), allowingPasswordless: admitsGuests)
    return Dictionary(uniqueKeysWithValues: users.map { ($1, byName[$0] ?? [:]) })
  }

  private static func error(
    _ missing: [(user: UserID, name: String)], of count: Int, in store: Store
  ) async throws -> ServiceError {
    let named = missing.prefix(10)
    let names = try await store.accounts.names(of: named.map(\.user))
    let list = named.map { user, name in
      "\(names[user] ?? "a removed user") ({{\(name)}})"
    }
    let more = missing.count > named.count ? " and \(missing.count - named.count) others" : ""
    return ServiceError(
      .init(
        "values", .rejected,
        "\(missing.count) of \(count) recipients \(missing.count == 1 ? "has" : "have") no value for a placeholder: "
          + list.joined(separator: ", ") + more
          + ". Give values, attributes of the users, variables, "
          + #"or defaults as in {{name|there}}; "onMissing": "skip" leaves these recipients out."#))
  }
}

extension RecipientValues {
  fileprivate mutating func set(_ values: [String: String], of user: UserID) {
    for (name, value) in values { set(name, of: user, to: value) }
  }
}
