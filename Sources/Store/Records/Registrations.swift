package import FoundationEssentials
import Primitives

/// A row of the registration table: how to reach a user's device, and its tags.
package struct DeviceRegistration: Sendable, Equatable {
  /// The id that the server assigned or the device chose.
  package let id: String
  /// The user the device belongs to.
  package let user: UserID
  /// The push service (`apns` …), or nil until the device has named it.
  package let platform: String?
  /// The push token, unique among the registrations.
  package let handle: String
  /// When the device last registered.
  package let updated: Date
  /// The tags, sorted.
  package var tags: [String]
  /// What the device calls itself, or nil.
  package let name: String?
  /// The language that it prefers (BCP 47), or nil.
  package var language: String?
  /// The time zone that it is in, by its name in the IANA's database, or nil.
  package var timeZone: String?
  /// When it is not disturbed, by its time zone's clock, or nil.
  package var quietPeriod: QuietPeriod?
  /// How it registered first.
  package let origin: RegistrationOrigin
  /// When the device last registered or showed its token, to a day; nil if it has not since version 0.2.
  package let lastContact: Date?
  /// When the push service no longer knew the device, or when it had been silent for too long; nil while it gets
  /// pushes.
  package let ended: Date?

  /// A day: the time of the last contact is not more precise.
  static let contactPrecision: TimeInterval = 86_400
}

/// How a registration came to be; nil for what is not known of those from before version 0.2.
package struct RegistrationOrigin: Sendable, Equatable {
  /// When.
  package var created: Date?
  /// What the caller showed: `password`, or `name` in demo mode.
  package var credential: String?
  /// The program, as its `User-Agent` field names it.
  package var userAgent: String?

  /// Describes a registration that is made now.
  package init(created: Date? = nil, credential: String? = nil, userAgent: String? = nil) {
    (self.created, self.credential, self.userAgent) = (created, credential, userAgent)
  }
}

/// What a device registers.
package struct RegistrationChange: Sendable {
  /// The push service.
  package var platform: String
  /// The push token.
  package var handle: String
  /// The tags for audiences.
  package var tags: [String] = []
  /// Whether the tags that it has stay, too.
  package var keepsTags = false
  /// By which its pushes are encrypted, or nil.
  package var keys: String?
  /// By which its pushes are sent; nil for the platform's.
  package var lane: String?
  /// What the device calls itself; nil leaves the name as it is.
  package var name: String?
  /// The language that it prefers; nil leaves it as it is.
  package var language: String?
  /// The time zone that it is in; nil leaves it as it is.
  package var timeZone: String?
  /// When it is not disturbed; nil leaves it as it is.
  package var quietPeriod: QuietPeriod?
  /// Kept with a new registration.
  package var origin = RegistrationOrigin()
  /// Whether the registration must exist, and keep the platform that it has named.
  package var isRenewal = false

  /// A device of a platform; the other members can be set afterwards.
  package init(platform: String, handle: String) {
    (self.platform, self.handle) = (platform, handle)
  }
}

/// What the user of a device can change of its registration.
package struct DeviceSettings: Sendable, Equatable {
  /// What the device calls itself, or nil.
  package var name: String?
  /// The tags for audiences.
  package var tags: [String]
  /// The language that it prefers, or nil.
  package var language: String?
  /// The time zone that it is in, or nil.
  package var timeZone: String?
  /// When it is not disturbed, or nil.
  package var quietPeriod: QuietPeriod?
  /// Whether it has a push token; one that is taken away can only be registered again.
  package var hasHandle: Bool
}

/// What became of a registration.
package enum RegistrationResult: Sendable, Equatable {
  /// It is stored; a registration with this handle of another user was ended, if there was one.
  case stored(endedOf: FormerOwner?)
  /// The id is another user's, or the user was removed.
  case notOwn
  /// A renewal of a registration that does not exist, or has another platform.
  case notRenewable
  /// A registration of another user and another platform has this handle.
  case handleTaken
}

/// Whose registration was ended because another user's device has its handle now.
package struct FormerOwner: Sendable, Equatable {
  /// The user's number.
  package let user: UserID
  /// The user's name.
  package let name: String
  /// The id of the registration.
  package let registration: String

  /// The data of the event that tells of it.
  var event: String { #"{"registration":\#(JSONText.quoted(registration)),"state":"taken over"}"# }
}

extension Accounts {
  /// Inserts or replaces a registration; false if it cannot be the user's.
  package func putRegistration(
    _ id: String, user: UserID, platform: String, handle: String, tags: [String] = [],
    keys: String? = nil, lane: String? = nil
  ) async throws -> Bool {
    var change = RegistrationChange(platform: platform, handle: handle)
    (change.tags, change.keys, change.lane) = (tags, keys, lane)
    if case .stored = try await putRegistration(id, user: user, change) { return true }
    return false
  }
}
