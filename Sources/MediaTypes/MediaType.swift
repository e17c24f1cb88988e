import Primitives

/// A media type as HTTP names it, without parameters: `image/png` (RFC 9110 section 8.3.1).
package struct MediaType: Sendable, Hashable, CustomStringConvertible {
  /// The type and subtype in lower case, such as `audio/mpeg`.
  package let value: String

  /// How many leading bytes of a resource decide its type (WHATWG MIME Sniffing section 5.2).
  package static let prefixLength = 1445

  /// A type as it is declared, without its parameters; nil when it is not `type/subtype`.
  package init?(_ declared: String) {
    let essence = declared.utf8.drop { $0 == UInt8(ascii: " ") }.prefix { byte in
      byte != UInt8(ascii: ";") && byte != UInt8(ascii: " ")
    }
    let parts = essence.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isTokenByte) })
    else { return nil }
    value = Substring(essence).lowercased()
  }

  /// A type that this module spells itself.
  init(known value: String) { self.value = value }

  package var description: String { value }

  /// The part before the slash: `image`, `audio`, `video`, `text`, `application`.
  package var family: Substring { value.prefix { $0 != "/" } }

  /// Whether a token may contain a byte (RFC 9110 section 5.6.2).
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    byte.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  /// The usual file name extension, without its dot; `bin` for a type without one.
  ///
  /// An iOS attachment is recognised by this extension, so it must follow from the bytes.
  package var fileExtension: String { Self.extensions[value] ?? "bin" }

  private static let extensions = [
    "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp",
    "image/heic": "heic", "image/heif": "heif", "image/avif": "avif", "image/bmp": "bmp",
    "image/x-icon": "ico", "image/tiff": "tiff", "image/jxl": "jxl", "image/svg+xml": "svg",
    "image/jp2": "jp2", "image/vnd.adobe.photoshop": "psd",
    "audio/wav": "wav", "audio/aiff": "aiff", "audio/x-caf": "caf", "audio/mpeg": "mp3",
    "audio/mp4": "m4a", "audio/aac": "aac", "audio/ogg": "ogg", "audio/flac": "flac",
    "audio/amr": "amr", "audio/amr-wb": "awb", "audio/midi": "mid", "audio/basic": "au",
    "video/mp4": "mp4", "video/quicktime": "mov", "video/3gpp": "3gp", "video/webm": "webm",
    "video/x-matroska": "mkv", "video/x-msvideo": "avi", "video/ogg": "ogv",
    "video/mpeg": "mpg", "video/mp2t": "ts",
    "text/plain": "txt", "text/html": "html", "text/xml": "xml", "text/csv": "csv",
    "text/x-shellscript": "sh", "text/vcard": "vcf", "text/calendar": "ics",
    "application/json": "json", "application/pdf": "pdf", "application/zip": "zip",
    "application/gzip": "gz", "application/x-rar-compressed": "rar",
    "application/vnd.apple.pkpass": "pkpass", "application/vnd.ms-asf": "asf",
    "application/x-plist": "plist",
  ]
}
