import Glibc
import Primitives

extension SQLiteSchema {
  /// Copies a database that is about to be migrated to `<path>.before-<version>`, so that the program that
  /// wrote it can be used again; only the last such copy is kept.
  ///
  /// Throws if there is no space for the copy; nothing has been changed then.
  static func copyBeforeMigration(
    _ connection: SQLiteConnection, at path: String
  ) throws {
    let version = try connection.value("PRAGMA user_version", as: Int.self) ?? 0
    guard (1..<Self.version).contains(version) else { return }
    let (copy, unfinished) = ("\(path).before-\(version)", "\(path).before.unfinished")
    // One of this version is of an upgrade from which somebody went back: the database has more by now.
    for earlier in [copy, unfinished] { unlink(earlier) }
    try connection.run("VACUUM INTO $1", unfinished)
    try SQLiteConnection.forgetTicketKeys(at: unfinished)
    try StoreFile(unfinished, O_RDONLY).synchronizeFileSystem()
    for earlier in 1..<version { unlink("\(path).before-\(earlier)") }
    try FileSystem.renameDurably(unfinished, to: copy)
  }

  /// The copies that ``copyBeforeMigration(_:at:)`` has made.
  static func copiesBeforeMigration(at path: String) -> [String] {
    (1..<version).map { "\(path).before-\($0)" } + ["\(path).before.unfinished"]
  }
}

extension SQLiteConnection {
  /// Removes the keys of session tickets from a copy of a database, which may be of a version that had none: who has
  /// one can decrypt the sessions that were begun while it was in use.
  static func forgetTicketKeys(at copy: String) throws {
    let connection = try SQLiteConnection.open(copy, for: .copying)
    let hasKeys = try connection.value(
      "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'ticket_key')", as: Bool.self)
    guard hasKeys == true else { return }
    // Also from the free space of pages, and not into a journal: an incomplete copy is thrown away.
    try connection.script(
      "PRAGMA journal_mode = OFF; PRAGMA secure_delete = ON; DELETE FROM ticket_key")
  }
}
