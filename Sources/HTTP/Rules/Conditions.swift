import FoundationEssentials

/// The preconditions of a request, in the order of RFC 9110, section 13.2.2.
enum Conditions {
  enum Outcome: Equatable { case proceed, notModified, failed }

  /// What the preconditions say about a representation that exists.
  static func evaluate(_ request: Request, etag: String, lastModified: Date) -> Outcome {
    let fields = request.fields
    if let list = fields["If-Match"] {
      guard EntityTag.isIn(list, strongly: etag) else { return .failed }
    } else if let since = fields["If-Unmodified-Since"].flatMap(HTTPDate.date) {
      guard HTTPDate.seconds(of: lastModified) <= HTTPDate.seconds(of: since) else {
        return .failed
      }
    }
    let isRead = request.method == "GET" || request.method == "HEAD"
    if let list = fields["If-None-Match"] {
      guard EntityTag.isIn(list, weakly: etag) else { return .proceed }
      return isRead ? .notModified : .failed
    }
    if isRead, let since = fields["If-Modified-Since"].flatMap(HTTPDate.date),
      HTTPDate.seconds(of: lastModified) <= HTTPDate.seconds(of: since)
    {
      return .notModified
    }
    return .proceed
  }

  /// Whether If-Range lets a Range apply (RFC 9110, section 13.1.5); without the field it does.
  static func allowsRange(_ request: Request, etag: String, lastModified: Date) -> Bool {
    guard let validator = request.fields["If-Range"] else { return true }
    if let date = HTTPDate.date(validator) {
      return HTTPDate.seconds(of: date) == HTTPDate.seconds(of: lastModified)
    }
    return EntityTag.parse(validator) == [EntityTag(isWeak: false, opaque: etag[...])]
  }
}
