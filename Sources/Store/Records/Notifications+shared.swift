// What all implementations of `Tables` need.

extension StoredNotification {
  /// Whether an amendment changes nothing.
  func isSame(as new: NotificationInsert) -> Bool {
    message == new.message && richType == new.richType && payload == new.payload
      && blob == new.blob && blobType == new.blobType && form == new.form
      && notBefore == new.notBefore && expires == new.expires
  }

  /// The condition that recipients may know of it at the time in the parameter `time`, such as `?2`.
  static func isVisible(_ time: String) -> String {
    "(expires IS NULL OR expires > \(time)) AND (not_before IS NULL OR not_before <= \(time))"
  }
}
