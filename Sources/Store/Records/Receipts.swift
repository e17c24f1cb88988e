package import FoundationEssentials

/// How far a notification has come with one of its recipients.
package enum ReceiptState: String, Sendable, CaseIterable {
  /// Not sent by the embedded gateway, nor fetched.
  case queued
  /// Sent to a device by the embedded gateway.
  case sent
  /// Fetched by a device.
  case fetched
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
}

extension ReceiptState {
  /// The number that indexes have, rising from queued to read.
  var progress: Int {
    switch self {
    case .queued: 0
    case .sent: 1
    case .fetched: 2
    case .read: 3
    }
  }
}
