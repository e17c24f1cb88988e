package import FoundationEssentials

/// How far a notification has come with one of its recipients.
package enum ReceiptState: String, Sendable, CaseIterable {
  /// None of the others.
  case queued
  /// Sent to a device by the embedded gateway.
  case sent
  /// Shown by a device.
  case displayed
  /// Fetched by a device.
  case fetched
  /// Opened by a tap.
  case opened
  /// Marked read.
  case read
}

/// The state of a notification for one of its recipients.
package struct Receipt: Sendable, Equatable {
  /// The recipient.
  package let userID: UserID
  /// The recipient's name, or nil if the user was removed.
  package let user: String?
  /// When the embedded gateway first sent it to a device of the user, or nil.
  package let sent: Date?
  /// When a device of the user first fetched the content, or nil.
  package let fetched: Date?
  /// When the user marked it read, or nil.
  package let read: Date?
  /// When a device of the user first showed it, or nil.
  package var displayed: Date? = nil
  /// When the user first opened it, or nil.
  package var opened: Date? = nil
  /// When the user first dismissed it, or nil.
  package var dismissed: Date? = nil
  /// When the user learns of it, if that is a time of the user's own.
  package var due: Date? = nil

  /// Whether the user may know of it, if that is a time of the user's own.
  package func isDue(at time: Date) -> Bool { due.map { $0 <= time } ?? true }
}

/// The state of a notification on a device that identifies itself.
package struct DeviceReceipt: Sendable, Equatable {
  /// The user whose device it is.
  package let user: String
  /// The id of the device's registration.
  package let registration: String
  /// When it first fetched the content, or nil.
  package let fetched: Date?
  /// When the user marked it read there, or nil.
  package let read: Date?
  /// When it first showed it, or nil.
  package var displayed: Date? = nil
  /// When the user first opened it there, or nil.
  package var opened: Date? = nil
  /// When the user first dismissed it there, or nil.
  package var dismissed: Date? = nil
}

/// What happened to a notification on a device, as the device or its user tells.
package enum ReportedEvent: Sendable, CaseIterable {
  /// The device has shown it.
  case displayed
  /// The user has opened it.
  case opened
  /// The user has dismissed it.
  case dismissed
}

extension ReceiptState {
  /// The number that indexes have, rising from queued to read.
  var progress: Int {
    switch self {
    case .queued: 0
    case .sent: 1
    case .displayed: 2
    case .fetched: 3
    case .opened: 4
    case .read: 5
    }
  }
}
