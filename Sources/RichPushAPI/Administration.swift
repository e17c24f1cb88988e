#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A page of pushes through the outbox: the response of `GET /api/outbox`.
package struct OutboxPage: Sendable, Codable {
  /// The pushes, newest first.
  package let jobs: [Job]
  /// The value of `after` on the next page; nil on the last one.
  @Nullable package var next: Int?

  /// Creates a page.
  package init(jobs: [Job], next: Int?) {
    self.jobs = jobs
    self.next = next
  }

  /// A push to one device or audience.
  package struct Job: Sendable, Codable {
    /// Its number.
    package let id: Int
    /// The notification that it announces; nil for a plain text.
    @Nullable package var notification: Int?
    /// The lane that sends it.
    package let lane: String
    /// The user; nil for an audience and for a removed user.
    @Nullable package var user: String?
    /// `queued`, `sent`, `failed`, `expired` or `cancelled`.
    package let state: String
    /// The number of attempts.
    package let attempts: Int
    /// When it is due, while it is queued.
    package let due: Date
    /// When its state last changed.
    package let updated: Date
    /// Why it is in this state.
    @Nullable package var reason: String?

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
package struct Replayed: Sendable, Codable {
  /// The number of pushes.
  package let replayed: Int

  /// Creates the response.
  package init(replayed: Int) { self.replayed = replayed }
}

/// The lanes of the push services: the response of `GET /api/lanes`.
package struct LaneReport: Sendable, Codable {
  /// The lanes: those of the configured services, and others with queued pushes.
  package let lanes: [Lane]

  /// Creates the report.
  package init(lanes: [Lane]) { self.lanes = lanes }

  /// The queue of one push service.
  package struct Lane: Sendable, Codable {
    /// Its name.
    package let name: String
    /// `running`, `paused` or `off`, if no configured service sends its pushes.
    package let state: String
    /// Why its next push was not sent before.
    @Nullable package var reason: String?
    /// When it tries again while it is paused.
    @Nullable package var until: Date?
    /// The pushes that wait.
    package let queued: Int
    /// When the oldest of them became due.
    @Nullable package var oldestWaiting: Date?
    /// Pushes sent, failed and to be repeated since the server started.
    package let sent, failed, retried: Int

    /// Describes a lane; the optional members can be set afterwards.
    package init(name: String, state: String, queued: Int, sent: Int, failed: Int, retried: Int) {
      (self.name, self.state, self.queued) = (name, state, queued)
      (self.sent, self.failed, self.retried) = (sent, failed, retried)
    }
  }
}

/// A page of users: the response of `GET /api/users`.
package struct UserPage: Sendable, Codable {
  /// The users, by name.
  package let users: [User]
  /// The value of `after` on the next page; nil on the last one.
  @Nullable package var next: String?

  /// Creates a page.
  package init(users: [User], next: String?) {
    self.users = users
    self.next = next
  }

  /// A user.
  package struct User: Sendable, Codable {
    /// The name.
    package let username: String
    /// `device`, `publisher` or `admin`.
    package let role: String
    /// When the user was added.
    package let created: Date
    /// The number of registered devices.
    package let devices: Int
    /// When one of them last registered.
    @Nullable package var lastSeen: Date?

    /// Describes a user.
    package init(username: String, role: String, created: Date, devices: Int, lastSeen: Date?) {
      (self.username, self.role, self.created) = (username, role, created)
      self.devices = devices
      self.lastSeen = lastSeen
    }
  }
}

/// The body of `PUT /api/users/<name>`.
package struct UserChange: Sendable, Codable {
  /// `device`, `publisher` or `admin`.
  package let role: String
  /// The new password; required for a new user.
  package let password: String?

  /// Creates a change.
  package init(role: String, password: String? = nil) {
    (self.role, self.password) = (role, password)
  }

  private enum CodingKeys: String, CodingKey, CaseIterable { case role, password }
}

extension UserChange: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

/// A user's devices: the response of `GET /api/users/<name>/devices`.
package struct DeviceList: Sendable, Codable {
  /// The devices, the last registered first.
  package let devices: [Device]

  /// Creates the list.
  package init(devices: [Device]) { self.devices = devices }

  /// A registered device, without its push token.
  package struct Device: Sendable, Codable {
    /// The ID of its registration.
    package let registration: String
    /// The push service; nil until the device has named it.
    @Nullable package var platform: String?
    /// Its tags.
    package let tags: [String]
    /// When it last registered.
    package let updated: Date

    /// Describes a device.
    package init(registration: String, platform: String?, tags: [String], updated: Date) {
      (self.registration, self.tags, self.updated) = (registration, tags, updated)
      self.platform = platform
    }
  }
}

/// Who has to wait after wrong passwords: the response of `GET /api/failed-logins`.
package struct FailedLoginReport: Sendable, Codable {
  /// The addresses and names, those that wait longest first.
  package let refused: [Refusal]

  /// Creates the report.
  package init(refused: [Refusal]) { self.refused = refused }

  /// An address or a name whose passwords are not checked now.
  package struct Refusal: Sendable, Codable {
    /// The address; nil if the name is refused from every unknown address.
    @Nullable package var address: String?
    /// The name; nil if the address is refused.
    @Nullable package var username: String?
    /// The failures that still count.
    package let failures: Int
    /// When a password is checked again.
    package let until: Date

    /// Describes an address or a name.
    package init(address: String?, username: String?, failures: Int, until: Date) {
      (self.failures, self.until) = (failures, until)
      self.address = address
      self.username = username
    }
  }
}

/// What the server's data takes on its disk, in bytes: the response of `GET /api/storage`.
package struct StorageReport: Sendable, Codable {
  /// The database.
  package let database: Int
  /// Content of notifications and assets.
  package let blobs: Int
  /// Renditions.
  package let renditions: Int
  /// What is left.
  package let free: Int

  /// Creates the report.
  package init(database: Int, blobs: Int, renditions: Int, free: Int) {
    (self.database, self.blobs, self.renditions, self.free) = (database, blobs, renditions, free)
  }
}
