package import FoundationEssentials

/// A notification to be created, with everything that commits together with it.
package struct NewNotification: Sendable {
  /// The text people see.
  package var message: String
  /// The name of the plugin that renders it.
  package var richType: String
  /// What the publisher named: an asset or literal content.
  package var payload: String
  /// Who creates it, or nil for the server itself.
  package var sender: UserID?
  /// The users who may get it; one who comes twice counts once.
  package var recipients: [UserID] = []
  /// Whom it is addressed to, as the publisher wrote it.
  package var to: [String] = []
  /// What the plugin's `validate` said, as JSON text.
  package var details: String?
  /// The content to pin; it must have been added to `Store.blobs`.
  package var blob: Blob?
  /// The sniffed media type of the content.
  package var blobType: String?
  /// When its recipients first get to know of it, or nil for at once.
  package var notBefore: Date?
  /// When it ceases to be, or nil.
  package var expires: Date?
  /// How its pushes look, in the publisher's words; the store only keeps it.
  package var form = ""
  /// What makes a repeated request harmless, or nil.
  package var idempotencyKey: IdempotencyKey?
  /// Writes the push event's data from the new id; nil when the embedded gateway tells nobody.
  package var push: (@Sendable (_ id: Int) -> String)?

  /// The pushes to devices that go through the outbox.
  package var pushes: [NewPush] = []

  /// Describes a notification; everything else can be set afterwards.
  package init(message: String, richType: String, payload: String) {
    self.message = message
    self.richType = richType
    self.payload = payload
  }
}

/// A publisher's name for one request, so that sending it again creates nothing again.
package struct IdempotencyKey: Sendable, Equatable {
  /// The key, unique among its sender's.
  package let key: String
  /// The digest of the request it came with.
  package let request: Digest

  /// Ties a key to the bytes of the request it came with.
  package init(_ key: String, request: [UInt8]) {
    self.key = key
    self.request = Digest(of: request)
  }
}
