import Foundation
import RichPushClient

/// A notification that a chaos soak has sent, and what was promised about it.
///
/// All its texts contain its number and the version that says them, such as `n7v2`.
struct ChaosNotification: Sendable {
  /// What happens to it.
  enum Kind: CaseIterable {
    /// Sent as an alert.
    case alert
    /// Changed while it is pushed.
    case amended
    /// Withdrawn while it is pushed.
    case withdrawn
    /// Withdrawn long before its time.
    case calledOff
    /// Changed long before its time, and sent at once.
    case released
    /// Another one takes its place.
    case replaced
    /// Sent some seconds later.
    case scheduled
    /// Expires while it is pushed.
    case expiring
    /// Wakes the app, merged with others when there are too many.
    case silent
    /// An alert that wakes the app, with a badge.
    case hybrid
    /// Text alone, which a locked screen does not show.
    case confidential
    /// As Azure's tutorial sends it, with a text only.
    case legacy

    /// Whether it says more than a text.
    var hasMembers: Bool { self != .legacy }
    /// Whether its pushes show nothing, of which a device gets only so many.
    var isBackground: Bool { self == .silent || self == .legacy }
    /// Whether the present version knows it and the last release does not.
    var isNew: Bool { self == .replaced || self == .confidential }
    /// Whether every device has to get its last version.
    var arrives: Bool { ![.withdrawn, .calledOff, .expiring].contains(self) }
  }

  let number: Int
  let kind: Kind
  /// Whether the last release's program took it, which knows only texts.
  let isEarlier: Bool
  /// Its ID, and that of the one that took its place.
  var ids: [Int] = []
  /// The version that was acknowledged last.
  var version = 1
  /// Before this it must not arrive.
  var due: Date?
  /// When it expired or was withdrawn.
  var end: Date?

  /// The kinds in turn; silent ones come often, so that the limit on them is exceeded.
  static func kind(of number: Int, isEarlier: Bool) -> Kind {
    let kinds = Kind.allCases.filter { !isEarlier || !$0.isNew } + [.silent, .silent]
    return kinds[number % kinds.count]
  }

  init(_ number: Int, isEarlier: Bool) {
    (self.number, self.isEarlier) = (number, isEarlier)
    kind = Self.kind(of: number, isEarlier: isEarlier)
  }

  /// What stands in each of its texts; with a character that no key or signature in a link has.
  static func stamp(_ number: Int, _ version: Int) -> String { "n\(number).v\(version)" }

  /// The text of a version.
  var text: String { message(version).text }

  private func message(_ version: Int) -> NotificationMessage {
    let stamp = Self.stamp(number, version)
    var message = NotificationMessage("\(stamp) is at the door.")
    guard kind.hasMembers, !isEarlier else { return message }
    (message.title, message.subtitle) = ("Parcel \(stamp)", "Order \(stamp)")
    message.link = "https://shop.example/\(stamp)"
    message.actions = [
      MessageAction("track", label: "Track \(stamp)"), MessageAction("reply", label: "Reply"),
      MessageAction("cancel", label: "Cancel"), MessageAction("later", label: "Later"),
    ]
    message.actions?[0].link = "https://shop.example/track/\(stamp)"
    message.actions?[1].input = "Message about \(stamp)"
    message.actions?[2].destructive = true
    message.actions?[3].dismiss = true
    (message.category, message.thread, message.channel) = (stamp, stamp, stamp)
    (message.sound, message.importance, message.relevance) = (.named("\(stamp).caf"), .high, 0.8)
    message.icon = "https://shop.example/\(stamp).png"
    (message.colour, message.label) = ("#00aa77", stamp)
    message.data = .object(["version": .string(stamp)])
    if kind == .replaced { message.replaces = "parcel \(number)" }
    if kind == .confidential {
      message.lockScreen = .private
    } else {
      (message.lockScreen, message.alt) = (.public, "A parcel, \(stamp)")
    }
    return message
  }

  private func amendment(to version: Int) -> Amendment {
    let message = message(version)
    var amendment = Amendment(message: message.text)
    (amendment.title, amendment.subtitle) = (Change(message.title), Change(message.subtitle))
    (amendment.alt, amendment.link) = (Change(message.alt), Change(message.link))
    (amendment.actions, amendment.category) = (Change(message.actions), Change(message.category))
    (amendment.sound, amendment.thread) = (Change(message.sound), Change(message.thread))
    (amendment.icon, amendment.channel) = (Change(message.icon), Change(message.channel))
    (amendment.data, amendment.label) = (Change(message.data), Change(message.label))
    return amendment
  }

  private func new(
    _ version: Int, _ medium: (richType: String, payload: String)?, to users: [String]
  )
    -> NewNotification
  {
    var new = NewNotification(message(version), to: .users(users))
    if kind != .confidential {
      (new.richType, new.payload) = (medium?.richType ?? "img", medium?.payload ?? "logo.png")
    }
    new.idempotencyKey = Self.stamp(number, version)
    (new.notBefore, new.expires) = (due, end)
    switch kind {
    case .silent: new.form = .silent
    case .hybrid: (new.form, new.badge) = (.hybrid, true)
    case .legacy: new.form = .legacy
    default: new.form = .alert
    }
    return new
  }

  /// Sends it, and does with it what its kind says, until all of it is acknowledged.
  ///
  /// - Returns: false if it had expired before it was acknowledged.
  mutating func send(
    by sender: RichPushClient, to users: [String],
    with medium: (richType: String, payload: String)? = nil
  ) async throws -> Bool {
    switch kind {
    case .calledOff, .released: due = Self.time(in: 3600)
    case .scheduled: due = Self.time(in: isEarlier ? 15 : 3)
    case .expiring: end = Self.time(in: 5)
    default: break
    }
    do { ids.append(try await create(1, medium, by: sender, to: users)) } catch let error
      as RichPushError where error.code == .refused && kind == .expiring
    { return false }
    switch kind {
    case .amended, .released:
      var amendment = amendment(to: 2)
      if kind == .released { (amendment.notBefore, due) = (.removal, nil) }
      _ = try await Cluster.patiently { [ids] in try await sender.amend(ids[0], amendment) }
      version = 2
    case .withdrawn, .calledOff:
      try await Cluster.patiently { [ids] in
        // An answer may have been lost.
        do { try await sender.withdraw(ids[0]) } catch let error as RichPushError
          where error.code == .notFound
        {}
      }
      end = Date()
    case .replaced:
      ids.append(try await create(2, medium, by: sender, to: users))
      version = 2
    default: break
    }
    return true
  }

  /// A whole second, as the API takes it.
  private static func time(in seconds: Double) -> Date {
    Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + seconds).rounded(.up))
  }

  private func create(
    _ version: Int, _ medium: (richType: String, payload: String)?, by sender: RichPushClient,
    to users: [String]
  ) async throws -> Int {
    let new = new(version, medium, to: users)
    return try await Cluster.patiently { try await sender.create(new).id }
  }
}
