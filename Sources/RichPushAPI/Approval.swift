#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The approval of another publisher that a notification needs: it is for more people than the server's operator lets one
/// publisher send to.
public struct Approval: Sendable, Equatable, Codable {
  /// What has become of it.
  public enum State: String, Sendable, Codable {
    /// Nobody has decided.
    case awaiting
    /// Another publisher has approved it.
    case approved
    /// Another publisher has refused it, and it was withdrawn.
    case refused
  }

  /// What has become of it.
  public let state: State
  /// For how many people the notification is.
  public let people: Int
  /// Identifies what the notification says and shows, and when, for ``ApprovalDecision``; only while it awaits approval.
  public var version: String?
  /// Who has sent it, in its details; nil there if the sender was removed.
  public var sender: String?
  /// Who has decided; nil if nobody has, or that user was removed.
  public var user: String?
  /// Why it was refused.
  public var reason: String?
  /// When that was decided.
  public var time: Date?

  /// Describes an approval; the optional members can be set afterwards.
  package init(_ state: State, people: Int) {
    (self.state, self.people) = (state, people)
  }
}

/// What a publisher decides on another's notification: the body of `POST /api/notifications/<id>/approval`.
public struct ApprovalDecision: Sendable, Equatable {
  /// Whether it is sent; otherwise it is withdrawn.
  public var isApproved: Bool
  /// The version that is approved, as ``Approval/version`` has it.
  public var version: String?
  /// Why it is refused, for its sender: up to 500 characters.
  public var reason: String?

  /// Approves what was seen.
  ///
  /// ```swift
  /// for one in try await client.approvals().notifications {
  ///   guard let version = one.approval?.version, one.audience == ["news"] else { continue }
  ///   try await client.decide(one.id, .approving(version: version))
  /// }
  /// ```
  public static func approving(version: String) -> Self {
    Self(isApproved: true, version: version, reason: nil)
  }

  /// Refuses it.
  ///
  /// ```swift
  /// try await client.decide(7, .refusing(because: "The price is wrong."))
  /// ```
  public static func refusing(because reason: String) -> Self {
    Self(isApproved: false, version: nil, reason: reason)
  }
}

extension ApprovalDecision: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case isApproved = "approved"
    case version, reason
  }

  /// Decodes the body.
  ///
  /// - Throws: a `ServiceError` with a fault for each member that is missing or has the wrong type.
  public init(from decoder: any Decoder) throws {
    var reader = try MemberReader<CodingKeys>(decoder)
    let approved: Bool? = reader.require(.isApproved)
    (version, reason) = (reader.read(.version), reader.read(.reason))
    isApproved = approved ?? false
    try reader.throwFaults()
  }
}

extension ApprovalDecision: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}
