/// A label on a registration, as Azure Notification Hubs spells it.
package struct Tag: Sendable, Hashable {
  /// The most characters of a tag.
  package static let limit = 120

  package let name: String

  /// Checks the spelling: letters, digits and `_ - @ # . :`, or `$InstallationId:{…}` and
  /// `$UserId:{…}`.
  package init(_ name: String) throws(PushError) {
    guard !name.isEmpty, name.count <= Self.limit, Self.isPlain(name) || Self.isReserved(name)
    else {
      throw PushError(
        .malformedTags,
        "\"\(name.prefix(Self.limit))\" is not a tag: up to \(Self.limit) letters, digits "
          + "and _ - @ # . : are allowed.")
    }
    self.name = name
  }

  /// The tag that every registration of a user carries; only the server gives it.
  package static func username(_ user: String) throws(PushError) -> Tag {
    try Tag(userPrefix + user)
  }

  /// Whether only the server may put this tag on a registration.
  package var isReserved: Bool {
    name.hasPrefix(Self.userPrefix) || name.hasPrefix("from:") || name.hasPrefix("$")
  }

  static func isPlain(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || "_-@#.:".contains(character)
  }

  private static let userPrefix = "username:"

  private static func isPlain(_ name: String) -> Bool {
    name.allSatisfy { isPlain($0) }
  }

  private static func isReserved(_ name: String) -> Bool {
    for prefix in ["$InstallationId:{", "$UserId:{"] where name.hasPrefix(prefix) {
      let inner = name.dropFirst(prefix.count)
      return inner.last == "}" && inner.count > 1
        && inner.dropLast().allSatisfy { isPlain($0) }
    }
    return false
  }
}
