import Dispatch
import FoundationEssentials

/// The store's records: the seam behind which a database fits.
///
/// Values go in and come out; SQL, connections and transactions stay behind it. A change returns when it
/// would survive `kill -9` and a power cut, and throws a `StoreError` if nothing was changed.
protocol Tables: Accounts, TicketKeys, Sessions, Identities, AccessTokens, Webhooks, Drafts,
  Segments, Pairings, SignUps, AuditLog, Notifications, Interactions, SentNotifications, Approvals,
  Statistics, AssetCatalogue, Outbox, Events, Administration, Erasures, PersonalData, Upkeep
{
  /// Receipts that are to be written.
  var pendingReceipts: PendingReceipts { get }
}

/// What checks and clean-up need of the tables.
protocol Upkeep: Sendable {
  /// Returns if the tables can be read and written, after all changes before it.
  func probe() async throws
  /// Returns if the tables can be read.
  func probeReading() async throws
  /// What the database was found to be damaged by.
  var damage: DatabaseDamage { get }
  /// Which other process holds the lock of a database that is a file; nil if that is not known.
  func lockHolder() -> String?
  /// How many seconds the clock of the database's server is ahead, to within `error`; nil if it is a file.
  func clock() async throws -> (ahead: TimeInterval, error: TimeInterval)?
  /// Enters the group until the thread that changes the tables has done what it does now.
  func turn(_ group: DispatchGroup)
  /// The kind of the database, and the version of its tables.
  var schema: DatabaseSchema { get }
  /// The bytes that the database takes on its disk.
  func size() async throws -> Int
  /// Who else may connect to the database; nil if it is a file.
  func access() async throws -> DatabaseAccess?
  /// Copies the records to a folder, as of one moment, and returns every blob to which they refer; `dump` runs what
  /// writes those of a PostgreSQL database.
  func copy(to folder: DataFolder, _ dump: (DatabaseDump) throws -> Void) throws -> [Digest]
  /// What is wrong with the database itself.
  func check() async throws -> DatabaseFindings
  /// The assets with content.
  func assetContents() async throws -> [(richType: String, name: String, blob: Digest)]
  /// The notifications with content.
  func notificationContents() async throws -> [(id: Int, blob: Digest)]
  /// The content that assets had before.
  func versionContents() async throws -> [(richType: String, name: String, blob: Digest)]
  /// Forgets content that an asset had before.
  func removeVersion(_ richType: String, _ name: String, blob: Digest) async throws
  /// Removes the stamp of an asset with this content, so that the next scan finds the file changed.
  func removeStamp(_ richType: String, _ name: String, blob: Digest) async throws
  /// Identifies the database whose references keep content from being removed; nil if it is only this node's.
  func contentOwner() async throws -> String?
  /// Those of the blobs to which nothing refers.
  func unreferenced(among blobs: [Digest]) async throws -> [Digest]
  /// Removes the files of those blobs to which nothing refers, however young they are.
  ///
  /// In a transaction: no commit of a reference comes between the look and the removal.
  func removeUnreferencedFiles(of digests: [Digest]) async throws
  /// Removes notifications that expired or were withdrawn before `time`, and returns how many.
  ///
  /// Of later ones only recipients, pushes and content go: their senders still see them.
  func removeExpiredNotifications(before time: Date) async throws -> Int
  /// Removes notifications that were sent before `time`, with everything that belongs to them, and returns how many.
  ///
  /// Those of which something is still to be sent stay.
  func removeNotifications(before time: Date) async throws -> Int
  /// Removes what devices and people did with notifications that were sent before `time`: the receipts of devices,
  /// answers and replies.
  ///
  /// Counts stay, and for each recipient whether and when the notification was received and read.
  func removeReceipts(before time: Date) async throws
  /// Removes sessions that have ended.
  func removeEndedSessions() async throws
  /// Removes access tokens that expired before `time`.
  func removeExpiredAccessTokens(before time: Date) async throws
  /// Removes what failed of webhooks before `time`.
  func removeFailedDeliveries(before time: Date) async throws
  /// Removes pairings that expired before `time`.
  func removeExpiredPairings(before time: Date) async throws
  /// Removes what is known of pushes to users from before `time`, which counts no more.
  func removeDailyPushes(before time: Date) async throws
  /// Removes users who have added themselves and have no device any more: nobody can be one of them again.
  func removeAbandonedSignUps() async throws
  /// Removes the content that assets had until `time`, and the first to end of the rest, until what nothing else refers to
  /// has at most so many bytes.
  func removeAssetVersions(endedBefore time: Date, keepingBytes bytes: Int) async throws
  /// Removes registrations that ended before `time`, and the oldest ended ones of users who have too many of them.
  func removeEndedRegistrations(before time: Date) async throws
  /// Removes push events, settled jobs and idempotency keys from before `time`.
  func removeHistory(before time: Date) async throws
  /// Removes events for publishers from before `time`, and the oldest beyond a number.
  func removeEvents(before time: Date, keeping count: Int) async throws
  /// Removes entries of the audit log from before `time`, and in each share the oldest beyond a number.
  func removeAuditEntries(before time: Date, keeping count: Int) async throws
}

/// The kind of a database, and the version of its tables.
package struct DatabaseSchema: Sendable, Equatable {
  /// `SQLite` or `PostgreSQL`.
  package let database: String
  /// The version of the tables.
  package let version: Int
}

/// Who may connect to a database besides its nodes.
///
/// They can hear what the nodes tell each other, and take the locks for which they compete.
package struct DatabaseAccess: Sendable, Equatable {
  /// The database's name.
  package let database: String
  /// Whether every role of the server may.
  package let isPublic: Bool
  /// Some roles that may, without superusers.
  package let roles: [String]
}

/// What a check of the database found, a sentence each.
struct DatabaseFindings: Sendable {
  /// What is wrong.
  var problems: [String] = []
  /// What could not be checked, and why.
  var notes: [String] = []
}

/// How `pg_dump` is run, which writes the records of a PostgreSQL database to a file.
package struct DatabaseDump: Sendable {
  /// Its arguments.
  package let arguments: [String]
  /// What it needs in its environment: the password, which other users could see in the arguments.
  package let environment: [String: String]
}
