#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A page of the audit log: the response of `GET /api/audit`.
public struct AuditPage: Sendable, Equatable, Codable {
  /// What was done, the last first.
  public let entries: [Entry]
  /// The value of `before` on the next page; nil on the last one.
  @Nullable public var next: Int?

  /// Creates a page.
  package init(entries: [Entry], next: Int?) {
    self.entries = entries
    self.next = next
  }

  /// Something that was done.
  public struct Entry: Sendable, Equatable, Codable {
    /// Rises with time; numbers may be missing.
    public let number: Int
    /// When.
    public let time: Date
    /// What, such as `user.added`.
    public let action: String
    /// Who did it.
    public let actor: Actor
    /// To what; nil if that is nothing, or several things.
    @Nullable public var object: Object?
    /// A word about how, such as the new role.
    @Nullable public var detail: String?
    /// How many people or things it concerns; of a wrong password, how often within a minute.
    public let count: Int
    /// The ID of the request.
    @Nullable public var request: String?

    /// Describes something that was done to an object.
    package init(
      number: Int, time: Date, action: String, actor: Actor, object: Object?, detail: String?,
      count: Int, request: String?
    ) {
      (self.number, self.time, self.action, self.actor) = (number, time, action, actor)
      self.count = count
      (self.object, self.detail, self.request) = (object, detail, request)
    }
  }

  /// Who did something.
  public struct Actor: Sendable, Equatable, Codable {
    /// `user`, `anybody` (who had shown nothing yet), `server`, `command` (on its machine) or `drop-folder`.
    public let kind: String
    /// The user's number, or that of the Unix user who ran the command.
    @Nullable public var number: Int?
    /// The user's name; nil if the user was removed.
    @Nullable public var name: String?
    /// What the user had shown: `password`, `session`, `device`, `push`, `token`, `code`, `provider` or `name`.
    @Nullable public var credential: String?
    /// The number of the session or access token, or the device's registration.
    @Nullable public var credentialID: String?
    /// The client's address.
    @Nullable public var address: String?

    /// Describes somebody; all else can be set afterwards.
    package init(kind: String, number: Int?, name: String?) {
      self.kind = kind
      (self.number, self.name) = (number, name)
      (credential, credentialID, address) = (nil, nil, nil)
    }
  }

  /// What something was done to.
  public struct Object: Sendable, Equatable, Codable {
    /// Such as `user`, `notification` or `asset`.
    public let kind: String
    /// The number, or the name of what has none.
    public let id: String
    /// A user's name; nil if the user was removed, and of everything else.
    @Nullable public var name: String?
    /// The number of the user whose it is, of a notification of its sender, of a user its own; nil if it is nobody's.
    @Nullable public var owner: Int?
    /// The owner's name; nil if the user was removed.
    @Nullable public var ownerName: String?

    /// Describes it.
    package init(kind: String, id: String, name: String?, owner: Int?, ownerName: String?) {
      (self.kind, self.id) = (kind, id)
      (self.name, self.owner, self.ownerName) = (name, owner, ownerName)
    }
  }
}

extension AuditPage.Actor {
  /// Who it is, for people.
  package var words: String {
    switch kind {
    case "user": name ?? removedUser(number)
    case "command": "Unix user \(number.map(String.init) ?? "?")"
    case "drop-folder": "drop folder"
    default: kind
    }
  }

  /// What was shown, for people.
  package var credentialWords: String? {
    credential.map { [$0, credentialID].compactMap(\.self).joined(separator: " ") }
  }
}

extension AuditPage.Object {
  /// What it is, for people.
  package var words: String {
    if kind == "user" { return name ?? removedUser(owner) }
    let words = "\(kind) \(id)"
    return owner.map { "\(words) of \(ownerName ?? removedUser($0))" } ?? words
  }
}

private func removedUser(_ number: Int?) -> String {
  "user \(number.map(String.init) ?? "?") (removed)"
}
