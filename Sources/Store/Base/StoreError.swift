import Glibc

/// What the store could not do: a code for programs and a reason for people.
package struct StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kinds of failure a caller can tell apart.
  package enum Code: Sendable {
    /// The disk or the quota is full; the change was rolled back.
    case full
    /// The data folder may not be written to.
    case readOnly
    /// Another process owns the data folder.
    case inUse
    /// A file of the store does not contain what the store wrote.
    case damaged
    /// A value in the database is not one that the store writes.
    case unreadable
    /// The database was written by a newer version of this program.
    case newer
    /// The database was written by a version of this program whose tables are not carried over any more.
    case older
    /// The change contradicts what is stored: a name taken, a key used for something else, a quota that is used up.
    case conflict
    /// The user has done it as often as it may for now.
    case exhausted
    /// What the change is based on is no longer so; made again with what is stored now, it may succeed.
    case changed
    /// What the change refers to does not exist.
    case missing
    /// The content is larger than the caller allowed.
    case tooLarge
    /// Another process held the database's lock for too long; a retry may succeed.
    case busy
    /// The object store cannot be reached or does not do what it is asked; a retry may succeed.
    case away
    /// The database does not answer; it may do so again later.
    case unavailable
    /// Anything else the disk or the database reported.
    case failed
  }

  /// The kind of failure.
  package let code: Code
  /// A sentence a person can act on.
  package let reason: String
  /// The number of seconds after which to try again, if that is known.
  package let retryAfter: Int?

  /// The reason.
  package var description: String { reason }

  init(_ code: Code, _ reason: String, retryAfter: Int? = nil) {
    (self.code, self.reason, self.retryAfter) = (code, reason, retryAfter)
  }

  /// Describes a failed system call on a file by its `errno`.
  init(errno number: Int32 = errno, _ action: String, _ path: String) {
    code =
      switch number {
      case ENOSPC, EDQUOT: .full
      case EROFS, EACCES, EPERM: .readOnly
      case ENOENT: .missing
      default: .failed
      }
    retryAfter = nil
    reason = "could not \(action) \(path): \(String(cString: strerror(number)))"
  }
}
