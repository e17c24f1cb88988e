package import FoundationEssentials
import Glibc
import Primitives

/// A file to be sent as it is, with its metadata: a representation in RFC 9110's terms.
///
/// The file must never be changed or truncated in place, because responses under way send it, and a
/// small one is kept in memory; replace it by renaming another.
package final class Content: Sendable {
  package let path: String
  package let size: Int
  package let mediaType: String
  /// A strong validator, without its quotes.
  package let etag: String
  package let lastModified: Date
  package let cacheControl: String
  /// The name a client may save it under (Content-Disposition, RFC 6266).
  package let fileName: String?
  /// Further fields of the representation.
  package let fields: Fields

  /// Whether the file exists with this size; needs no file descriptor.
  package var exists: Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_size == size
  }

  /// Describes a file; it is not opened.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - size: its size in bytes.
  ///   - mediaType: its sniffed type.
  ///   - etag: a strong validator, such as its digest, without quotes.
  ///   - lastModified: when it was made.
  ///   - cacheControl: what caches may do.
  ///   - fileName: the name a client may save it under.
  ///   - fields: further fields of the representation.
  package init(
    path: String, size: Int, mediaType: String, etag: String, lastModified: Date,
    cacheControl: String = "private, max-age=31536000, immutable", fileName: String? = nil,
    fields: Fields = Fields()
  ) {
    (self.path, self.size, self.mediaType) = (path, size, mediaType)
    (self.etag, self.lastModified, self.cacheControl) = (etag, lastModified, cacheControl)
    (self.fileName, self.fields) = (fileName, fields)
  }

  /// The same content, which pages of every origin may embed, with another Cache-Control.
  package func shared(_ cacheControl: String) -> Content {
    var fields = fields
    fields.allowCrossOriginEmbedding()
    return Content(
      path: path, size: size, mediaType: mediaType, etag: etag, lastModified: lastModified,
      cacheControl: cacheControl, fileName: fileName, fields: fields)
  }

  /// The value of ETag.
  var quotedETag: String { "\"\(etag)\"" }

  /// The fields that a 304 repeats (RFC 9110, section 15.4.5).
  var validatorFields: Fields {
    var all: Fields = ["ETag": quotedETag, "Cache-Control": cacheControl]
    all.append("Last-Modified", HTTPDate.text(lastModified))
    // A cache updates a stored response with the fields of the 304 (RFC 9111, section 3.2), so that
    // what restricts the content must be among them.
    all.append(Fields.securityPolicy, Fields.mediaSecurityPolicy)
    for name in ["Vary", Fields.resourcePolicy] {
      if let value = fields[name] { all.append(name, value) }
    }
    return all
  }

  /// The fields of a 200 or 206, without Content-Type.
  var representationFields: Fields {
    var all = validatorFields
    all.append("Accept-Ranges", "bytes")
    all.restrictScripts(mediaType, fileName: fileName)
    for (name, value) in fields.items where all[name] == nil { all.append(name, value) }
    return all
  }
}

extension Content: Hashable {
  package static func == (left: Content, right: Content) -> Bool {
    left === right
      || left.path == right.path && left.size == right.size && left.mediaType == right.mediaType
        && left.etag == right.etag && left.lastModified == right.lastModified
        && left.cacheControl == right.cacheControl && left.fileName == right.fileName
        && left.fields == right.fields
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

extension Fields {
  static let securityPolicy = "Content-Security-Policy"
  static let mediaSecurityPolicy = "default-src 'none'; sandbox"
  static let resourcePolicy = "Cross-Origin-Resource-Policy"

  /// Lets pages of every origin embed the response; without it only pages of this server may.
  package mutating func allowCrossOriginEmbedding() { self[Self.resourcePolicy] = "cross-origin" }

  /// Keeps a browser from running media as a page of this server: it may load and run nothing, and
  /// a type that is not known to be passive is downloaded instead of shown.
  package mutating func restrictScripts(_ mediaType: String, fileName: String?) {
    self[Self.securityPolicy] = Self.mediaSecurityPolicy
    self["Content-Disposition"] = ContentDisposition.text(mediaType, fileName: fileName)
  }
}

/// The Content-Disposition of a representation (RFC 6266).
enum ContentDisposition {
  /// The field's value; nil for a passive type without a name.
  ///
  /// Passive types are "inline", all others "attachment". The field matters only where a browser
  /// navigates to the address: an `<img>` or an app shows an attachment, too. Of the name only the
  /// last path component is used.
  static func text(_ mediaType: String, fileName: String?) -> String? {
    let isPassive = isPassive(mediaType)
    guard let fileName else { return isPassive ? nil : "attachment" }
    let type = isPassive ? "inline" : "attachment"
    if fileName.utf8.allSatisfy(isPlain) { return "\(type); filename=\"\(fileName)\"" }
    let name =
      fileName.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
    let ascii = String(
      String.UnicodeScalarView(
        name.unicodeScalars.map { $0.isASCII && isPlain(UInt8($0.value)) ? $0 : "_" }))
    guard ascii != name else { return "\(type); filename=\"\(ascii)\"" }
    return "\(type); filename=\"\(ascii)\"; filename*=UTF-8''\(PercentEncoding.encode(name))"
  }

  /// Whether the byte needs no escape, neither in a quoted string nor in `filename*`.
  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x20...0x7E).contains(byte) && !"\"%;/\\".utf8.contains(byte)
  }

  private static func isPassive(_ mediaType: String) -> Bool {
    if passiveTypes.contains(mediaType) { return true }
    let end = mediaType.utf8.firstIndex { "; \t".utf8.contains($0) } ?? mediaType.endIndex
    return passiveTypes.contains(mediaType[..<end].lowercased())
  }

  // Whole names, no `image/*`: any type that ends in `+xml` is a document with scripts, and a list
  // of active types would never be complete.
  private static let passiveTypes: Set<String> = [
    "image/png", "image/apng", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp",
    "image/x-icon", "image/vnd.microsoft.icon", "image/heic", "image/heif", "image/tiff",
    "image/jxl",
    "audio/wav", "audio/wave", "audio/x-wav", "audio/vnd.wave", "audio/mpeg", "audio/mp3",
    "audio/mp4", "audio/x-m4a", "audio/aac", "audio/ogg", "audio/opus", "audio/flac",
    "audio/x-flac", "audio/aiff", "audio/x-aiff", "audio/x-caf", "audio/amr", "audio/amr-wb",
    "audio/3gpp", "audio/midi", "audio/basic", "audio/webm",
    "video/mp4", "video/quicktime", "video/3gpp", "video/webm", "video/x-matroska", "video/ogg",
    "video/mpeg", "video/mp2t", "video/x-msvideo",
    "text/plain", "text/csv", "application/json",
  ]
}
