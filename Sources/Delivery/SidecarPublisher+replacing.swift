import FoundationEssentials
import Intake
import Media
import Primitives
import RichPushAPI
import Store

// A file that is changed after it was published may only have been incomplete: then it is the same notification.
extension SidecarPublisher {
  /// What a file was published as, while that can be changed.
  struct Earlier {
    let notification: StoredNotification
    let publication: FilePublication
  }

  /// For so long after it was published, a change of a file is a correction, in seconds.
  private static let correction = 60.0
  /// The most users that the log names.
  private static let named = 10

  /// What a file was published as last, if that was with the same sidecar.
  func publication(of file: PublishedFile) async throws(ServiceError) -> FilePublication? {
    let publication = try await ServiceError.mapping {
      try await assets.store.notifications.publication(ofFile: file.path, in: file.folder)
    }
    return publication?.sidecar == file.sidecar ? publication : nil
  }

  /// What a file was published as last with the same sidecar and by the same sender; nil if the notification has
  /// expired, another has taken its place, or it has been changed since by other means.
  func earlier(
    of file: PublishedFile, sender: UserID
  ) async throws(ServiceError) -> Earlier? {
    guard let publication = try await publication(of: file) else { return nil }
    let notifications = assets.store.notifications
    return try await ServiceError.mapping {
      guard
        let notification = try await notifications.notification(publication.notification),
        notification.replacedBy == nil, notification.sender == sender,
        notification.blob?.digest == publication.content
      else { return nil }
      return Earlier(notification: notification, publication: publication)
    }
  }

  /// Whether a file's content continues or corrects what was published: it begins with the same bytes, or was changed
  /// within a minute.
  func isContinued(
    _ earlier: Earlier, in asset: AssetRecord, changed: Date
  ) async throws(ServiceError) -> Bool {
    if changed.timeIntervalSince(earlier.publication.published) < Self.correction { return true }
    guard let old = earlier.notification.blob, let new = asset.blob else { return false }
    return try await ServiceError.mapping {
      try await assets.store.blobs.isBeginning(old, of: Blob(digest: new, size: asset.bytes))
    }
  }

  /// Gives a notification the new content of its file, and tells its recipients by the push that replaces the first.
  func replace(
    _ earlier: Earlier, _ draft: Draft, with asset: AssetRecord, file: PublishedFile,
    request: [UInt8]
  ) async throws(ServiceError) -> StoredNotification {
    let notifications = assets.store.notifications
    let id = earlier.notification.id
    let replaced = try await ServiceError.mapping {
      try await publisher.replace(
        earlier.notification, as: draft, with: asset, file: file, request: request)
    }
    // Another node, or a publisher, has changed it meanwhile, or it has expired.
    guard let replaced else {
      throw ServiceError(.busy, "Notification \(id) was changed meanwhile.", retryAfter: 1)
    }
    let first = try await ServiceError.mapping {
      try await notifications.replacement(of: id, limit: Self.named)
    }
    assets.log(
      .notice, "assets",
      "\(file.path) was changed after it was sent: notification \(id) has the new content, and is pushed again"
        + (first.map { "; " + $0.sentence } ?? ""))
    return replaced
  }
}

extension ContentReplacement {
  /// Who has fetched the earlier content.
  fileprivate var sentence: String {
    let rest = count - users.count
    let names = users.joined(separator: ", ") + (rest > 0 ? " and \(rest) others" : "")
    return "the first content was fetched by \(count): \(names)"
  }
}
