package import FoundationEssentials

/// What a device gets for a rendition request.
package enum RenderedMedia: Sendable {
  /// A file that is kept, and is the same for everybody who requests it.
  case stored(StoredMedia)
  /// An answer for the callers that waited for this one render; it is not kept.
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

/// A rendition's file with what is sent along with it.
package struct StoredMedia: Sendable {
  /// The file, which never changes.
  package let path: String
  /// Its size in bytes.
  package let size: Int
  package let mediaType: String
  /// The content's SHA-256 in hexadecimal.
  package let etag: String
  package let created: Date
  /// The name under which a device may save it.
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
