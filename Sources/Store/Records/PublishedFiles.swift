package import FoundationEssentials

/// A file of the drop folder that is published.
package struct PublishedFile: Sendable, Equatable {
  /// The name of the drop folder among those of several nodes; empty if it is the only one.
  package let folder: String
  /// Its path in the drop folder.
  package let path: String
  /// The digest of its sidecar.
  package let sidecar: Digest

  /// Describes a file.
  package init(folder: String, path: String, sidecar: Digest) {
    (self.folder, self.path, self.sidecar) = (folder, path, sidecar)
  }
}

/// What a file of the drop folder was published as last.
package struct FilePublication: Sendable, Equatable {
  /// The notification, which may be gone.
  package let notification: Int
  /// The digest of the file's sidecar then.
  package let sidecar: Digest
  /// The file's content then.
  package let content: Digest
  /// When the notification was created, or got this content.
  package let published: Date
}

/// New content of a notification whose former content some have fetched.
package struct ContentReplacement: Sendable, Equatable {
  /// When it was replaced last.
  package let time: Date
  /// The number of users who had fetched what it had before.
  package let count: Int
  /// The names of some of them; a removed user has none.
  package let users: [String]
}
