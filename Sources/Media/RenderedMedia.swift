package import FoundationEssentials

/// The outcome of a rendition request.
package enum RenderedMedia: Sendable {
  /// A stored file, which is the same for all requests.
  case stored(StoredMedia)
  /// Only for the callers that waited for this render; it is not stored.
  case transient(TransientMedia)
  /// The address of the content (302).
  case redirect(location: String)

  /// The file, if there is one.
  package var stored: StoredMedia? { if case .stored(let media) = self { media } else { nil } }

  /// The media type; empty for a redirect.
  package var mediaType: String {
    switch self {
    case .stored(let media): media.mediaType
    case .transient(let media): media.mediaType
    case .redirect: ""
    }
  }
}

/// A rendition's file and its metadata.
package struct StoredMedia: Sendable {
  /// The file, which never changes.
  package let path: String
  /// Its size in bytes.
  package let size: Int
  package let mediaType: String
  /// The content's SHA-256 in hexadecimal.
  package let etag: String
  package let created: Date
  /// The suggested file name for a device that saves it.
  package let fileName: String
  /// Further fields that the plugin set, with lowercase names.
  package let fields: [(name: String, value: String)]
}

/// A rendition in memory.
package struct TransientMedia: Sendable {
  package let bytes: [UInt8]
  package let mediaType: String
  /// Further fields that the plugin set, with lowercase names.
  package let fields: [(name: String, value: String)]
}
