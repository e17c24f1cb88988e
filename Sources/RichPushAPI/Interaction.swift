#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What happened to a notification on a device: the body of `POST /api/notifications/<id>/interactions`.
///
/// To report it again after an error, send the same value: a reply is then a repetition, not another reply.
public struct Interaction: Sendable, Equatable {
  /// What there is to report.
  public enum Event: String, Sendable, Codable, CaseIterable {
    /// The device has shown it.
    case displayed
    /// The user has opened it.
    case opened
    /// The user has dismissed it.
    case dismissed
    /// The user has pressed a button.
    case action
    /// The user has written a text.
    case reply
  }

  /// What happened.
  public let event: Event
  /// The ID of the button that was pressed or that asked for the text.
  public let action: String?
  /// The text of a reply.
  public let text: String?
  /// What tells a reply from the device's others; the same key is the same reply.
  public let key: String?

  private init(_ event: Event, action: String? = nil, text: String? = nil, key: String? = nil) {
    (self.event, self.action, self.text, self.key) = (event, action, text, key)
  }

  /// The device has shown it.
  public static let displayed = Interaction(.displayed)
  /// The user has opened it.
  public static let opened = Interaction(.opened)
  /// The user has dismissed it.
  public static let dismissed = Interaction(.dismissed)

  /// The user has pressed the button with this ID, one without `input`.
  ///
  /// ```swift
  /// try await client.report(.action("track"), of: 7)
  /// ```
  public static func action(_ id: String) -> Interaction { Interaction(.action, action: id) }

  /// The user has written a text of at most 1,024 bytes, for which the button with this ID asked.
  ///
  /// ```swift
  /// try await client.report(.reply("On my way", to: "reply"), of: 7)
  /// ```
  public static func reply(
    _ text: String, to action: String, key: String = UUID().uuidString
  ) -> Interaction {
    Interaction(.reply, action: action, text: text, key: key)
  }

  /// The longest text, in bytes.
  package static let longestText = 1024
}

extension Interaction: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable { case event, action, text, key }

  /// Decodes an interaction.
  ///
  /// - Throws: a `ServiceError` with a fault for each member that is wrong, missing, or not for this event.
  public init(from decoder: any Decoder) throws {
    var reader = try MemberReader<CodingKeys>(decoder)
    let event: Event? = reader.require(.event)
    (action, text, key) = (reader.read(.action), reader.read(.text), reader.read(.key))
    try reader.throwFaults()
    self.event = event ?? .displayed
    if let error = ServiceError(faults) { throw error }
  }

  /// Encodes the members that it has.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(event, forKey: .event)
    try members.encodeIfPresent(action, forKey: .action)
    try members.encodeIfPresent(text, forKey: .text)
    try members.encodeIfPresent(key, forKey: .key)
  }

  private var faults: [ServiceError.Fault] {
    var faults: [ServiceError.Fault] = []
    func check(_ name: String, _ value: String?, isNeeded: Bool, _ rule: (String) -> String?) {
      switch (value, isNeeded) {
      case (nil, true):
        faults.append(.init(name, .invalidRequest, "\(name) is missing: \(event) needs it."))
      case (_?, false):
        faults.append(.init(name, .rejected, "\(name) is not for \(event)."))
      case (let value?, true):
        guard let problem = rule(value) else { return }
        let isLong = value.utf8.count > Self.longestText
        faults.append(.init(name, isLong ? .tooLarge : .rejected, "\(name) \(problem)."))
      case (nil, false): return
      }
    }
    let isReply = event == .reply
    check("action", action, isNeeded: isReply || event == .action) {
      (1...32).contains($0.utf8.count) ? nil : "has from 1 to 32 bytes"
    }
    check("text", text, isNeeded: isReply) {
      if $0.isEmpty { return "is empty" }
      if $0.utf8.contains(0) { return "holds a NUL character" }
      return $0.utf8.count > Self.longestText ? "has more than \(Self.longestText) bytes" : nil
    }
    check("key", key, isNeeded: isReply) {
      (1...64).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        ? nil : "has from 1 to 64 printable ASCII characters, and no spaces"
    }
    return faults
  }
}

extension Interaction: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

/// A button that a recipient pressed, or a reply.
public struct RecordedInteraction: Sendable, Equatable, Codable, Identifiable {
  /// Its number; later ones have larger ones.
  public let id: Int
  /// The user.
  public let user: String
  /// The ID of the device's registration; nil if it is not known.
  @Nullable public var device: String?
  /// `action` or `reply`.
  public let event: Interaction.Event
  /// The ID of the button.
  public let action: String
  /// The text of a reply.
  @Nullable public var text: String?
  /// When it came.
  public let time: Date

  /// Describes an interaction.
  package init(
    id: Int, user: String, device: String?, event: Interaction.Event, action: String, text: String?,
    time: Date
  ) {
    (self.id, self.user, self.event, self.action, self.time) = (id, user, event, action, time)
    (self.device, self.text) = (device, text)
  }
}

/// A page of the buttons that recipients of a notification pressed, and of their replies.
public struct InteractionPage: Sendable, Equatable, Codable {
  /// In the order in which they came.
  public let interactions: [RecordedInteraction]
  /// The value of `after` on the next page; nil on the last one.
  @Nullable public var next: Int?

  /// Creates a page.
  package init(interactions: [RecordedInteraction], next: Int?) {
    self.interactions = interactions
    self.next = next
  }
}
