/// The Content-Disposition of a representation (RFC 6266).
enum ContentDisposition {
  /// Nil for a passive type without a name.
  ///
  /// A passive type is shown in place. All else is an attachment: a page's `<img>` and an app still
  /// show it, since the field counts only where a browser is led to the address itself, and there a
  /// type that it runs would run as this server's. Of the name only its last path component is told.
  static func text(_ mediaType: String, fileName: String?) -> String? {
    let isPassive = isPassive(mediaType)
    guard let fileName else { return isPassive ? nil : "attachment" }
    let kind = isPassive ? "inline" : "attachment"
    let name =
      fileName.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
    let plain = String(
      String.UnicodeScalarView(
        name.unicodeScalars.map { scalar in
          switch scalar {
          case "\"", "%", ";": "_"
          case " "..."~": scalar
          default: "_"
          }
        }))
    guard plain != name else { return "\(kind); filename=\"\(plain)\"" }
    return "\(kind); filename=\"\(plain)\"; filename*=UTF-8''\(PercentEncoding.encode(name))"
  }

  private static func isPassive(_ mediaType: String) -> Bool {
    let end = mediaType.utf8.firstIndex { "; \t".utf8.contains($0) } ?? mediaType.endIndex
    return passive.contains(mediaType[..<end].lowercased())
  }

  /// What no browser runs.
  ///
  /// Whole names, and no `image/*`: any type that ends in `+xml` is a document
  /// with scripts, and a list of what is active would never be complete.
  private static let passive: Set<String> = [
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

extension Fields {
  static let securityPolicy = "Content-Security-Policy"
  static let mediaPolicy = "default-src 'none'; sandbox"
  static let resourcePolicy = "Cross-Origin-Resource-Policy"

  /// Lets pages of every origin show the answer; without it only this server's own may.
  package mutating func embedAnywhere() { self[Self.resourcePolicy] = "cross-origin" }

  /// Sets what keeps a browser from running media as if it were this server's page: nothing may be
  /// loaded or run by it, and what is not known to be passive is saved and not shown.
  package mutating func confine(_ mediaType: String, fileName: String?) {
    self[Self.securityPolicy] = Self.mediaPolicy
    self["Content-Disposition"] = ContentDisposition.text(mediaType, fileName: fileName)
  }
}
