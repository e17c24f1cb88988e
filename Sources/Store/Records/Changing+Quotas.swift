import FoundationEssentials
import Primitives

// Called in the transaction that inserts what they count, with the user's row locked, so that two nodes do not count
// at the same time.
extension Changing {
  /// Locks the user's row until the end of the transaction; false if there is none.
  func lockQuota(of user: UserID) throws -> Bool {
    try value(
      "SELECT true FROM users WHERE id = $1 \(lock("FOR NO KEY UPDATE"))", user, as: Bool.self)
      == true
  }

  /// Throws `conflict` if the user can't have one more device.
  func requireDeviceQuota(of user: UserID) throws {
    let full = try value(
      """
      SELECT coalesce(max_devices, $2) FROM users WHERE id = $1
        AND (SELECT count(*) FROM registration WHERE user_id = $1 AND ended IS NULL) >= coalesce(max_devices, $2)
      """, user, UserQuota.devices, as: Int.self)
    if let full { throw StoreError.tooManyDevices(full) }
  }

  /// Throws `conflict` if the lane would be one Web Push service too many for the user's devices, of which `id`
  /// gets it.
  func requireServiceQuota(of user: UserID, for lane: String, of id: String) throws {
    let others = try value(
      """
      SELECT count(DISTINCT lane) FROM registration
      WHERE user_id = $1 AND id <> $3 AND ended IS NULL
        AND NOT EXISTS (
          SELECT 1 FROM registration WHERE user_id = $1 AND lane = $2 AND ended IS NULL)
      """, user, lane, id, as: Int.self)
    if others ?? 0 >= UserQuota.webPushServices { throw StoreError.tooManyServices }
  }

  /// Counts what a device sends to its own user; throws `exhausted` if it was too much within the hour.
  func countOwnNotification(of user: UserID, at now: Date) throws {
    let begin = UserQuota.ownWindow(at: now)
    let counted = try run(
      """
      UPDATE users SET
        own_since = CASE WHEN own_since BETWEEN $2 AND $3 THEN own_since ELSE $3 END,
        own_sent = CASE WHEN own_since BETWEEN $2 AND $3 THEN own_sent + 1 ELSE 1 END
      WHERE id = $1 AND (own_sent < $4 OR own_since NOT BETWEEN $2 AND $3)
      """, user, begin, now, UserQuota.ownNotifications)
    guard counted == 0,
      let since = try value("SELECT own_since FROM users WHERE id = $1", user, as: Date.self)
    else { return }
    throw StoreError.tooManyOwnNotifications(until: since + Double(UserQuota.ownWindow), at: now)
  }
}
