import FoundationEssentials
import Primitives

// Called in the transaction that inserts what they count.
extension SQLiteConnection {
  /// Throws `conflict` if the user can't have one more device.
  func requireDeviceQuota(of user: UserID) throws {
    let full = try value(
      """
      SELECT coalesce(max_devices, ?2) FROM user WHERE id = ?1
        AND (SELECT count(*) FROM registration WHERE user = ?1 AND ended IS NULL) >= coalesce(max_devices, ?2)
      """, user, UserQuota.devices, as: Int.self)
    if let full { throw StoreError.tooManyDevices(full) }
  }

  /// Throws `conflict` if the lane would be one Web Push service too many for the user's devices, of which `id`
  /// gets it.
  func requireServiceQuota(of user: UserID, for lane: String, of id: String) throws {
    let others = try value(
      """
      SELECT count(DISTINCT lane) FROM registration WHERE user = ?1 AND id <> ?3 AND ended IS NULL
        AND NOT EXISTS (
          SELECT 1 FROM registration WHERE user = ?1 AND lane = ?2 AND ended IS NULL)
      """, user, lane, id, as: Int.self)
    if others ?? 0 >= UserQuota.webPushServices { throw StoreError.tooManyServices }
  }

  /// Counts what a device sends to its own user; throws `exhausted` if it was too much within the hour.
  func countOwnNotification(of user: UserID, at now: Date) throws {
    let begin = UserQuota.ownWindow(at: now)
    let counted = try run(
      """
      UPDATE user SET own_since = iif(own_since BETWEEN ?2 AND ?3, own_since, ?3),
        own_sent = iif(own_since BETWEEN ?2 AND ?3, own_sent + 1, 1)
      WHERE id = ?1 AND (own_sent < ?4 OR own_since NOT BETWEEN ?2 AND ?3)
      """, user, begin, now, UserQuota.ownNotifications)
    guard counted == 0,
      let since = try value("SELECT own_since FROM user WHERE id = ?", user, as: Date.self)
    else { return }
    throw StoreError.tooManyOwnNotifications(until: since + Double(UserQuota.ownWindow), at: now)
  }
}
