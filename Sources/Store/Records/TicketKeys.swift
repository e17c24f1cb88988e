package import FoundationEssentials

/// A secret with which servers make and accept session tickets (RFC 5077; RFC 8446, section 4.6.1).
package struct TicketKey: Sendable, Equatable {
  /// The newest has the highest; never that of an earlier key.
  package let id: Int
  /// As many random bytes as ``size``.
  package let secret: [UInt8]
  /// When it was created.
  package let created: Date

  /// The bytes of a key: its name (16), a key that encrypts (32) and one that authenticates (32).
  package static let size = 80
  /// How long a key makes tickets.
  package static let lifetime: TimeInterval = 12 * 3600
  /// The keys whose tickets are accepted: the one that makes them, and the two before.
  package static let accepted = 3

  /// Whether it is to be the newest at a time; also not if it was created while a clock was wrong.
  func makesTickets(at now: Date) -> Bool {
    abs(now.timeIntervalSince(created)) < Self.lifetime
  }
}

/// The keys of session tickets, which are the same at all nodes, and are in no backup.
package protocol TicketKeys: Sendable {
  /// The keys, newest first; there is always one.
  ///
  /// Makes the first, and another one when the newest is twelve hours old; older ones than the two before are removed.
  func ticketKeys() async throws -> [TicketKey]
  /// Removes all keys, so that no session which has begun is resumed; the next call of ``ticketKeys()`` makes another.
  func removeTicketKeys() async throws
}
