import FoundationEssentials

extension Store {
  /// Gives a notification that nobody has fetched yet another content; nil when it is too late.
  ///
  /// Id, recipients and time of creation stay. What has not been sent of the old pushes never is;
  /// push event and pushes of `new` go out instead, and replace on a device what has been sent. What
  /// changes nothing pushes nothing, so an amendment may be repeated.
  package func amend(
    _ id: Int, with new: NewNotification
  ) async throws -> RichNotification? {
    let moment = now()
    let blobs = blobs
    let amended = try await database.write {
      connection -> (notification: RichNotification, recipients: [UserID])? in
      if let blob = new.blob, !blobs.renew(blob.digest) {
        throw StoreError(.missing, "the content of the notification is gone; try again")
      }
      if let standing = try connection.standing(id, at: moment), standing.says(new) {
        return (standing, [])
      }
      let notification = try connection.update(id, with: new, at: moment)
      guard let notification else { return nil }
      try connection.callOff(id, at: moment)
      let recipients = try connection.all(
        "SELECT user.id FROM recipient JOIN user ON user.id = user WHERE notification = ? ORDER BY 1",
        id
      ) { try $0.next(UserID.self) }
      try connection.announce(new, as: id, to: recipients, at: moment)
      return (notification, recipients)
    }
    guard let amended else { return nil }
    guard !amended.recipients.isEmpty else { return amended.notification }
    changeObserver.tell(id)
    tellObservers(of: new, to: amended.recipients)
    return amended.notification
  }
}

extension RichNotification {
  /// Whether it is what an amendment asks for already, as when the answer to that was lost.
  fileprivate func says(_ new: NewNotification) -> Bool {
    message == new.message && richType == new.richType && payload == new.payload
      && blob == new.blob && blobType == new.blobType && form == new.form
      && notBefore == new.notBefore && expires == new.expires
  }
}

extension Connection {
  fileprivate func standing(_ id: Int, at moment: Date) throws -> RichNotification? {
    try first(
      """
      SELECT \(RichNotification.columns) FROM notification
      WHERE id = ? AND (expires IS NULL OR expires > ?)
      """, id, moment, read: RichNotification.init)
  }

  fileprivate func update(
    _ id: Int, with new: NewNotification, at moment: Date
  ) throws -> RichNotification? {
    try first(
      """
      UPDATE notification SET message = ?, rich_type = ?, payload = ?, details = ?, blob = ?,
        blob_size = ?, blob_type = ?, not_before = ?, expires = ?, form = ?
      WHERE id = ? AND (expires IS NULL OR expires > ?) AND NOT EXISTS (
        SELECT 1 FROM recipient WHERE recipient.notification = id AND fetched IS NOT NULL)
      RETURNING \(RichNotification.columns)
      """, new.message, new.richType, new.payload, new.details, new.blob?.digest, new.blob?.size,
      new.blobType, new.notBefore, new.expires, new.form, id, moment, read: RichNotification.init)
  }
}
