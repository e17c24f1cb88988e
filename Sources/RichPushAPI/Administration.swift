#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A page of pushes through the outbox: the response of `GET /api/outbox`.
public struct OutboxPage: Sendable, Equatable, Codable {
  /// The pushes, newest first.
  public let jobs: [Job]
  /// The value of `after` on the next page; nil on the last one.
  @Nullable public var next: Int?

  /// Creates a page.
  package init(jobs: [Job], next: Int?) {
    self.jobs = jobs
    self.next = next
  }

  /// A push to one device or audience.
  public struct Job: Sendable, Equatable, Codable {
    /// Its number.
    public let id: Int
    /// The notification that it announces; nil for a plain text.
    @Nullable public var notification: Int?
    /// The lane that sends it.
    public let lane: String
    /// The user; nil for an audience and for a removed user.
    @Nullable public var user: String?
    /// `queued`, `sent`, `failed`, `expired` or `cancelled`.
    public let state: String
    /// The number of attempts.
    public let attempts: Int
    /// When it is due, while it is queued.
    public let due: Date
    /// When its state last changed.
    public let updated: Date
    /// Why it is in this state.
    @Nullable public var reason: String?

    /// Describes a push; the optional members can be set afterwards.
    package init(
      id: Int, lane: String, state: String, attempts: Int, due: Date, updated: Date
    ) {
      (self.id, self.lane, self.state, self.attempts) = (id, lane, state, attempts)
      (self.due, self.updated) = (due, updated)
    }
  }
}

/// How many pushes are due again: the response of `POST /api/outbox/<id>/replay`.
package struct Replayed: Sendable, Equatable, Codable {
  /// The number of pushes.
  package let replayed: Int

  /// Creates the response.
  package init(replayed: Int) { self.replayed = replayed }
}

/// How many pushes are due again: the response of `POST /api/lanes/resume`.
package struct Resumed: Sendable, Equatable, Codable {
  /// The number of pushes that were refused before.
  package let resumed: Int

  /// Creates the response.
  package init(resumed: Int) { self.resumed = resumed }
}

/// How many registrations are back: the response of `POST /api/lanes/restore`.
package struct Restored: Sendable, Equatable, Codable {
  /// The number of registrations.
  package let restored: Int

  /// Creates the response.
  package init(restored: Int) { self.restored = restored }
}

/// The lanes of the push services: the response of `GET /api/lanes`.
public struct LaneReport: Sendable, Equatable, Codable {
  /// The lanes: those of the configured services, and others with queued pushes.
  public let lanes: [Lane]

  /// Creates the report.
  package init(lanes: [Lane]) { self.lanes = lanes }

  /// The queue of one push service.
  public struct Lane: Sendable, Equatable, Codable {
    /// Its name.
    public let name: String
    /// `running`, `paused` or `off`, if no configured service sends its pushes.
    public let state: String
    /// Why its next push was not sent before.
    @Nullable public var reason: String?
    /// When it tries again while it is paused.
    @Nullable public var until: Date?
    /// The pushes that wait.
    public let queued: Int
    /// When the oldest of them became due; nil if all are scheduled for later.
    @Nullable public var oldestWaiting: Date?
    /// Pushes sent, failed and to be repeated since the server started.
    public let sent, failed, retried: Int

    /// Describes a lane; the optional members can be set afterwards.
    package init(name: String, state: String, queued: Int, sent: Int, failed: Int, retried: Int) {
      (self.name, self.state, self.queued) = (name, state, queued)
      (self.sent, self.failed, self.retried) = (sent, failed, retried)
    }
  }
}

/// A page of users: the response of `GET /api/users`.
public struct UserPage: Sendable, Equatable, Codable {
  /// The users, by name.
  public let users: [User]
  /// The value of `after` on the next page; nil on the last one.
  @Nullable public var next: String?

  /// Creates a page.
  package init(users: [User], next: String?) {
    self.users = users
    self.next = next
  }

  /// A user.
  public struct User: Sendable, Equatable, Codable {
    /// The name.
    public let username: String
    /// `device`, `publisher` or `admin`.
    public let role: String
    /// When the user was added.
    public let created: Date
    /// The number of registered devices.
    public let devices: Int
    /// The most devices that can be registered.
    public let maxDevices: Int
    /// When one of them last registered.
    @Nullable public var lastSeen: Date?
    /// As whom the user signs in elsewhere.
    public var identities: [ProviderIdentity] = []

    /// A user as a provider of OpenID Connect knows it.
    public struct ProviderIdentity: Sendable, Equatable, Codable {
      /// The provider.
      public let provider: String
      /// The provider's name of the user.
      public let subject: String

      /// Describes it.
      package init(provider: String, subject: String) {
        (self.provider, self.subject) = (provider, subject)
      }
    }

    /// Describes a user; the identities can be set afterwards.
    package init(
      username: String, role: String, created: Date, devices: Int, maxDevices: Int, lastSeen: Date?
    ) {
      (self.username, self.role, self.created) = (username, role, created)
      (self.devices, self.maxDevices) = (devices, maxDevices)
      self.lastSeen = lastSeen
    }
  }
}

/// What is known of a user, for placeholders: the body of `PUT /api/users/<name>/attributes`.
package struct UserAttributes: Sendable, Equatable, Codable {
  /// By name.
  package let values: [String: String]

  /// Wraps attributes.
  package init(_ values: [String: String]) { self.values = values }

  /// Decodes an object of texts.
  package init(from decoder: any Decoder) throws { values = try [String: String](from: decoder) }

  /// Encodes the object.
  package func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }
}

extension UserAttributes: RequestMessage {
  package static func check(members: [String]) {}
}

/// The attributes of many users, by name: the body of `POST /api/attributes`.
package struct AttributeImport: Sendable, Codable {
  /// By user, and then by name.
  package let users: [String: [String: String]]

  /// Wraps attributes.
  package init(_ users: [String: [String: String]]) { self.users = users }

  /// Decodes an object of objects of texts.
  package init(from decoder: any Decoder) throws {
    users = try [String: [String: String]](from: decoder)
  }

  /// Encodes the object.
  package func encode(to encoder: any Encoder) throws { try users.encode(to: encoder) }
}

extension AttributeImport: RequestMessage {
  package static func check(members: [String]) {}
}

/// What an import of attributes did: the response of `POST /api/attributes`.
public struct AttributeReport: Sendable, Equatable, Codable {
  /// The number of users whose attributes were replaced.
  public let changed: Int
  /// Names that no user has.
  public let unknown: [String]

  /// Creates the report.
  package init(changed: Int, unknown: [String]) {
    (self.changed, self.unknown) = (changed, unknown)
  }
}

/// The body of `PUT /api/users/<name>`.
package struct UserChange: Sendable, Codable {
  /// `device`, `publisher` or `admin`.
  package let role: String
  /// The new password; required for a new user.
  package let password: String?
  /// Whether a new password ends the registrations of the user's devices, too.
  package let endRegistrations: Bool?
  /// The most devices that the user can register.
  package let maxDevices: Int?

  /// Creates a change.
  package init(
    role: String, password: String? = nil, endRegistrations: Bool? = nil, maxDevices: Int? = nil
  ) {
    (self.role, self.password) = (role, password)
    (self.endRegistrations, self.maxDevices) = (endRegistrations, maxDevices)
  }

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case role, password, endRegistrations, maxDevices
  }
}

extension UserChange: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

/// A page of a user's devices: the response of `GET /api/registrations` and `GET /api/users/<name>/devices`.
public struct DeviceList: Sendable, Equatable, Codable {
  /// The devices, by the IDs of their registrations.
  public let devices: [Device]
  /// The value of `after` on the next page; nil on the last one.
  @Nullable public var next: String?
  /// For a device with its token, which sees only itself, the user's other devices.
  public var others: [Other]?

  /// Creates a page.
  package init(devices: [Device], next: String? = nil) {
    self.devices = devices
    self.next = next
  }

  /// What a device may know of another one of its user.
  public struct Other: Sendable, Equatable, Codable {
    /// What it calls itself, or the ID of its registration.
    public let name: String
    /// The push service; nil until the device has named it.
    @Nullable public var platform: String?
    /// When it last registered or showed its token, to a day.
    @Nullable public var lastContact: Date?
    /// When the registration ended; nil while it gets pushes.
    @Nullable public var ended: Date?

    /// Describes a device.
    package init(name: String, platform: String?, lastContact: Date?, ended: Date?) {
      self.name = name
      (self.platform, self.lastContact, self.ended) = (platform, lastContact, ended)
    }
  }

  /// A registered device, without its push token.
  public struct Device: Sendable, Equatable, Codable {
    /// The ID of its registration.
    public let registration: String
    /// What it calls itself.
    @Nullable public var name: String?
    /// The push service; nil until the device has named it.
    @Nullable public var platform: String?
    /// The language that it prefers.
    public var language: String?
    /// The time zone that it is in.
    public var timeZone: String?
    /// When its pushes wait.
    public var quietHours: QuietHours?
    /// Its tags.
    public let tags: [String]
    /// When it first registered; nil if that was before version 0.2.
    @Nullable public var created: Date?
    /// What it showed then: `password`, or `name` in demo mode.
    @Nullable public var credential: String?
    /// The program that registered it, as it named itself.
    @Nullable public var userAgent: String?
    /// When it last registered.
    public let updated: Date
    /// When it last registered or showed its token, to a day.
    @Nullable public var lastContact: Date?
    /// When the registration ended: its push service no longer knows the device, or the device was silent for too
    /// long; nil while it gets pushes.
    @Nullable public var ended: Date?

    /// Describes a device.
    package init(registration: String, platform: String?, tags: [String], updated: Date) {
      (self.registration, self.tags, self.updated) = (registration, tags, updated)
      self.platform = platform
    }
  }
}

/// Who has to wait after wrong passwords: the response of `GET /api/failed-logins`.
public struct FailedLoginReport: Sendable, Equatable, Codable {
  /// The addresses and names, those that wait longest first.
  public let refused: [Refusal]

  /// Creates the report.
  package init(refused: [Refusal]) { self.refused = refused }

  /// An address, a name, or a name at an address, whose passwords are not checked now.
  public struct Refusal: Sendable, Equatable, Codable {
    /// The address; nil if the name is refused from every address that is new for it.
    @Nullable public var address: String?
    /// The name; nil if the address is refused with every name.
    @Nullable public var username: String?
    /// The failures that still count.
    public let failures: Int
    /// When a password is checked again.
    public let until: Date

    /// Describes an address or a name.
    package init(address: String?, username: String?, failures: Int, until: Date) {
      (self.failures, self.until) = (failures, until)
      self.address = address
      self.username = username
    }
  }
}

/// What the server's data takes on its disk, in bytes: the response of `GET /api/storage`.
public struct StorageReport: Sendable, Equatable, Codable {
  /// The database.
  public let database: Int
  /// Content of notifications and assets.
  public let blobs: Int
  /// Renditions.
  public let renditions: Int
  /// What is left.
  public let free: Int

  /// Creates the report.
  package init(database: Int, blobs: Int, renditions: Int, free: Int) {
    (self.database, self.blobs, self.renditions, self.free) = (database, blobs, renditions, free)
  }
}
