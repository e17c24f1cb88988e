import FoundationEssentials
import Primitives
import RichPushAPI
import Store

extension Publisher {
  /// How many are announced before others are looked for.
  private static let batch = 20
  /// The seconds until what has failed, or was changed meanwhile, is tried again.
  private static let pause = 2.0

  /// Finds the recipients of all notifications that are due and wait for that, and announces these to them; returns when
  /// the next one is due, if known.
  ///
  /// One that cannot be announced any more, such as one whose plugin is gone, is held until another time is named for
  /// it. `log` gets a sentence about each.
  func announceDue(_ log: (String) -> Void) async throws -> Date? {
    // However many cannot be announced yet, the others are.
    var left: Set<Int> = []
    while true {
      let (all, next) = try await store.notifications.dueAudiences(limit: Self.batch + left.count)
      let due = all.filter { !left.contains($0.id) }
      guard !due.isEmpty else { return left.isEmpty ? next : Date() + Self.pause }
      for notification in due {
        var isDone = false
        do {
          isDone = try await announceDue(notification)
        } catch let error as ServiceError where error.code.isPermanent {
          log("notification \(notification.id) is held: \(error.reason)")
          isDone = try await store.notifications.hold(notification)
        } catch {
          log("notification \(notification.id) could not be announced yet: \(error)")
        }
        if !isDone { left.insert(notification.id) }
      }
    }
  }

  /// False if the notification has changed since it was read.
  private func announceDue(_ notification: StoredNotification) async throws -> Bool {
    var draft = try Draft(NewNotification(notification))
    draft.onMissing = .skip
    var addressees = try await announcement.addressees(of: draft)
    if let forgotten = addressees.forgotten {
      throw ServiceError(
        .init(
          "to", .noRecipients,
          "Who got notification \(forgotten) is not known any more: it is gone, or has ended."))
    }
    let values = try await announcement.values(for: draft, among: &addressees)
    var (new, media) = try await content(
      of: &draft, values, for: notification.sender, using: .all, insteadOf: notification)
    new.recipients = addressees.users.sorted()
    new.sender = notification.sender
    if !new.recipients.isEmpty {
      let times = try announcement.times(of: draft, for: addressees, new.recipients)
      announcement.announce(draft, with: media, to: addressees, at: times, in: &new)
    }
    return try await store.notifications.announce(notification, with: new)
  }
}
