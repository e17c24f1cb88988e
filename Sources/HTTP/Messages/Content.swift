package import FoundationEssentials

/// A file that is served as it is: never changed or cut short in place, for its pages are mapped.
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
  /// The path's hash: paths are long, and looked up for every request.
  private let place: Int

  /// What is to be served.
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
    self.path = path
    self.size = size
    self.mediaType = mediaType
    self.etag = etag
    self.lastModified = lastModified
    self.cacheControl = cacheControl
    self.fileName = fileName
    self.fields = fields
    place = path.hashValue
  }

  /// The same for pages of every origin, under another rule for caches.
  package func shared(_ cacheControl: String) -> Content {
    var fields = fields
    fields.embedAnywhere()
    return Content(
      path: path, size: size, mediaType: mediaType, etag: etag, lastModified: lastModified,
      cacheControl: cacheControl, fileName: fileName, fields: fields)
  }

  var quotedTag: String { "\"\(etag)\"" }

  /// The fields that a 304 repeats (RFC 9110, section 15.4.5).
  var validatorFields: Fields {
    var all: Fields = ["ETag": quotedTag, "Cache-Control": cacheControl]
    all.append("Last-Modified", HTTPDate.text(lastModified))
    // A cache serves what it stored before under the fields of the newest answer.
    all.append(Fields.securityPolicy, Fields.mediaPolicy)
    for name in ["Vary", Fields.resourcePolicy] {
      if let value = fields[name] { all.append(name, value) }
    }
    return all
  }

  /// The fields of a 200 or 206, without the Content-Type.
  var representationFields: Fields {
    var all = validatorFields
    all.append("Accept-Ranges", "bytes")
    all.confine(mediaType, fileName: fileName)
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

  package func hash(into hasher: inout Hasher) { hasher.combine(place) }
}
