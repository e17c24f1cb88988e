import CSQLite
import Glibc

/// What the store could not do, as a code for programs and a sentence for people.
package struct StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kinds of failure a caller can tell apart.
  package enum Code: Sendable {
    /// The disk or the quota is full; nothing of the change was kept.
    case full
    /// The data folder may not be written to.
    case readOnly
    /// Another process owns the data folder.
    case inUse
    /// A file of the store is not what the store wrote.
    case damaged
    /// The database was written by a newer version of this program.
    case newer
    /// The change contradicts what is stored: a name taken, a key used for something else.
    case conflict
    /// What the change refers to is not there.
    case missing
    /// The content is larger than the caller allowed.
    case tooLarge
    /// Another process held the database for too long; a repeat may succeed.
    case busy
    /// Anything else the disk or the database reported.
    case failed
  }

  /// The kind of failure.
  package let code: Code
  /// A sentence a person can act on.
  package let reason: String

  /// The reason: it is made for reading.
  package var description: String { reason }

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  /// The failure of a system call on a file, from `errno`.
  init(errno number: Int32 = errno, _ action: String, _ path: String) {
    code =
      switch number {
      case ENOSPC, EDQUOT: .full
      case EROFS, EACCES, EPERM: .readOnly
      case ENOENT: .missing
      default: .failed
      }
    reason = "could not \(action) \(path): \(String(cString: strerror(number)))"
  }

  /// The failure of a SQLite call, from the result code and message of its connection.
  init(_ connection: OpaquePointer?, _ action: String) {
    let message = String(cString: sqlite3_errmsg(connection))
    let system = sqlite3_system_errno(connection)
    switch sqlite3_errcode(connection) {
    case SQLITE_FULL:
      self.init(.full, "the disk is full: the database could not be written")
    case SQLITE_IOERR where system == ENOSPC || system == EDQUOT:
      self.init(.full, "the disk or the quota is full: the database could not be written")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      self.init(
        .damaged,
        "the database is damaged (\(message)); restore the last backup into an empty data folder")
    case SQLITE_READONLY, SQLITE_PERM:
      self.init(.readOnly, "the database may not be written to (\(message)); check its owner")
    case SQLITE_BUSY, SQLITE_LOCKED:
      self.init(.busy, "another process holds the database; try again")
    case SQLITE_CONSTRAINT:
      self.init(.conflict, "the change contradicts what is stored (\(message))")
    default:
      self.init(.failed, "the database could not \(action): \(message)")
    }
  }
}
