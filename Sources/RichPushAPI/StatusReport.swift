#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How a server is, and what needs attention: the response of `GET /api/status`.
public struct StatusReport: Sendable, Equatable, Codable {
  /// What needs attention, the most urgent first; empty if nothing does.
  public let attention: [Attention]
  /// The server that answers: one of several nodes, if there are some.
  public let server: Server
  /// What the database says; nil while it does not respond.
  @Nullable public var records: Records?
  /// The disks of the server's folders.
  public let disks: [Disk]
  /// What is kept on the disk because it can be made or fetched again.
  public let caches: [Cache]
  /// The TLS certificates in use.
  public let certificates: [Certificate]
  /// The last errors and warnings of the server's log since its start, newest first.
  public let errors: [LogLine]

  /// Creates a report; ``records`` can be set afterwards.
  package init(
    attention: [Attention], server: Server, disks: [Disk], caches: [Cache],
    certificates: [Certificate], errors: [LogLine]
  ) {
    (self.attention, self.server, self.disks) = (attention, server, disks)
    (self.caches, self.certificates, self.errors) = (caches, certificates, errors)
  }

  /// Something that needs attention.
  public struct Attention: Sendable, Equatable, Codable {
    /// How urgent something is.
    public enum Level: String, Sendable, Codable {
      /// Something does not work.
      case problem
      /// Something will not work soon, or only a part of it does.
      case warning
    }

    /// Identifies the kind for programs, such as `certificate` or `lane.paused`; later versions may add others.
    public let code: String
    /// How urgent it is.
    public let level: Level
    /// A sentence that says what is wrong, and what to do.
    public let text: String
    /// What it is about, depending on the code: the name of a push service, access token, webhook, plugin, platform or
    /// lead, the path of a certificate or disk, the process that has locked the database, or the provider's URL.
    @Nullable public var name: String?
    /// The user whose access token or webhook it is.
    @Nullable public var user: String?
    /// The number of pushes or devices, or the seconds by which a clock was set forward, or is ahead of the database's.
    @Nullable public var count: Int?
    /// When it began: the condition, the failure, or the wait of the oldest push.
    @Nullable public var since: Date?
    /// When the certificate, access token, webhook or pause ends, or has ended.
    @Nullable public var until: Date?
    /// What the push service, plugin, database or provider has said.
    @Nullable public var reason: String?

    /// Describes something; the optional members can be set afterwards.
    package init(_ code: String, _ level: Level, _ text: String) {
      (self.code, self.level, self.text) = (code, level, text)
    }
  }

  /// The server that answers.
  public struct Server: Sendable, Equatable, Codable {
    /// Its version, such as `0.2.0`.
    public let version: String
    /// The name of its machine.
    public let node: String
    /// When it started.
    public let started: Date
    /// `SQLite` or `PostgreSQL`.
    public let database: String
    /// The version of the database's tables.
    public let schema: Int
    /// Whether it does what only one of several nodes does.
    public let hasLead: Bool

    /// Describes a server.
    package init(
      version: String, node: String, started: Date, database: String, schema: Int, hasLead: Bool
    ) {
      (self.version, self.node, self.started) = (version, node, started)
      (self.database, self.schema, self.hasLead) = (database, schema, hasLead)
    }
  }

  /// What the database says.
  public struct Records: Sendable, Equatable, Codable {
    /// The users by role.
    public let users: Users
    /// The registered devices by platform.
    public let devices: [Devices]
    /// The push services with their queues, as in ``LaneReport``.
    public let lanes: [LaneReport.Lane]
    /// The notifications that are to be sent later.
    public let scheduled: Int
    /// The notifications that await approval.
    public let awaitingApproval: Int
    /// Access tokens that end soon, or have ended lately: the first 20 of them.
    ///
    /// Each is one for the last quarter of its lifetime, at most 14 days, and as long afterwards.
    public let accessTokens: [AccessTokenEnd]
    /// The bytes that the database takes.
    public let databaseSize: Int

    /// Describes the records.
    package init(
      users: Users, devices: [Devices], lanes: [LaneReport.Lane], scheduled: Int,
      awaitingApproval: Int, accessTokens: [AccessTokenEnd], databaseSize: Int
    ) {
      (self.users, self.devices, self.lanes) = (users, devices, lanes)
      (self.scheduled, self.awaitingApproval) = (scheduled, awaitingApproval)
      (self.accessTokens, self.databaseSize) = (accessTokens, databaseSize)
    }
  }

  /// The number of users by role.
  public struct Users: Sendable, Equatable, Codable {
    /// How many have the role of this name.
    public let device, publisher, admin: Int

    /// Creates the numbers.
    package init(device: Int, publisher: Int, admin: Int) {
      (self.device, self.publisher, self.admin) = (device, publisher, admin)
    }
  }

  /// The devices of a platform.
  public struct Devices: Sendable, Equatable, Codable {
    /// The platform, such as `apns`.
    public let platform: String
    /// The push service that sends to them; nil if none does.
    @Nullable public var service: String?
    /// How many there are.
    public let count: Int

    /// Creates the number of a platform's devices.
    package init(platform: String, service: String?, count: Int) {
      (self.platform, self.count) = (platform, count)
      self.service = service
    }
  }

  /// An access token, or the address of a webhook, that ends soon, or has ended.
  public struct AccessTokenEnd: Sendable, Equatable, Codable {
    /// Its name.
    public let name: String
    /// The name of its user.
    public let user: String
    /// When it ends.
    public let expires: Date
    /// Whether it is the address of a webhook.
    public let isWebhook: Bool

    /// Describes a token.
    package init(name: String, user: String, expires: Date, isWebhook: Bool) {
      (self.name, self.user, self.expires, self.isWebhook) = (name, user, expires, isWebhook)
    }
  }

  /// A disk.
  public struct Disk: Sendable, Equatable, Codable {
    /// What it has: `data`, `assets`, and `blobs` or `renditions` if they are on another disk than `data`.
    public let folders: [String]
    /// The path of the first of them.
    public let path: String
    /// The bytes that are left for the server.
    public let free: Int
    /// All bytes of the disk.
    public let total: Int

    /// Describes a disk.
    package init(folders: [String], path: String, free: Int, total: Int) {
      (self.folders, self.path, self.free, self.total) = (folders, path, free, total)
    }
  }

  /// Content that is kept up to a limit.
  public struct Cache: Sendable, Equatable, Codable {
    /// `renditions` or, with an object store, `blobs`.
    public let name: String
    /// The bytes that it takes.
    public let size: Int
    /// The most bytes.
    public let limit: Int

    /// Describes a cache.
    package init(name: String, size: Int, limit: Int) {
      (self.name, self.size, self.limit) = (name, size, limit)
    }
  }

  /// A TLS certificate.
  public struct Certificate: Sendable, Equatable, Codable {
    /// Its file.
    public let file: String
    /// When it expires.
    public let expires: Date

    /// Describes a certificate.
    package init(file: String, expires: Date) { (self.file, self.expires) = (file, expires) }
  }

  /// A line of the server's log.
  public struct LogLine: Sendable, Equatable, Codable {
    /// When it was written last.
    public let time: Date
    /// `error` or `warning`.
    public let level: String
    /// The part of the server, such as `push`.
    public let area: String
    /// What it says.
    public let text: String
    /// How often it was written, or was to be.
    public let count: Int

    /// Describes a line.
    package init(time: Date, level: String, area: String, text: String, count: Int) {
      (self.time, self.level, self.area, self.text, self.count) = (time, level, area, text, count)
    }
  }
}
