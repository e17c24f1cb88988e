import FoundationEssentials

/// The preconditions of a request (RFC 9110, section 13).
enum Preconditions {
  /// What the response is: the requested one, 304, or 412.
  enum Outcome: Equatable { case proceed, notModified, failed }

  /// Evaluates the preconditions for an existing representation, in the order of section 13.2.2.
  static func evaluate(_ request: Request, etag: String, lastModified: Date) -> Outcome {
    let fields = request.fields
    /// Whether it was not modified after the field's date; nil without a valid one.
    func isUnmodified(since name: String) -> Bool? {
      fields[name].flatMap(HTTPDate.date).map {
        HTTPDate.seconds(of: lastModified) <= HTTPDate.seconds(of: $0)
      }
    }
    if let list = fields["If-Match"] {
      guard EntityTag.list(list, contains: etag, comparison: .strong) else { return .failed }
    } else if isUnmodified(since: "If-Unmodified-Since") == false {
      return .failed
    }
    let isRead = request.method == "GET" || request.method == "HEAD"
    if let list = fields["If-None-Match"] {
      guard EntityTag.list(list, contains: etag, comparison: .weak) else { return .proceed }
      return isRead ? .notModified : .failed
    }
    return isRead && isUnmodified(since: "If-Modified-Since") == true ? .notModified : .proceed
  }

  /// Whether If-Range (section 13.1.5) lets the Range field apply, as it does if it is absent.
  static func allowRange(_ request: Request, etag: String, lastModified: Date) -> Bool {
    guard let validator = request.fields["If-Range"] else { return true }
    if let date = HTTPDate.date(validator) {
      return HTTPDate.seconds(of: date) == HTTPDate.seconds(of: lastModified)
    }
    return EntityTag.parse(validator) == [EntityTag(isWeak: false, opaque: etag[...])]
  }
}

extension Request {
  /// Whether its If-None-Match has the entity tag of a representation.
  package func has(etag: String) -> Bool {
    fields["If-None-Match"].map {
      EntityTag.list($0, contains: etag, comparison: .weak)
    } ?? false
  }
}

/// An entity tag (RFC 9110, section 8.8.3).
struct EntityTag: Equatable {
  /// How tags are compared (section 8.8.3.2): the strong comparison ignores weak tags.
  enum Comparison { case strong, weak }

  let isWeak: Bool
  /// The part between the quotes.
  let opaque: Substring

  /// Whether the value of If-Match or If-None-Match, a list or "*", has the tag; false if malformed.
  static func list(_ list: String, contains etag: String, comparison: Comparison) -> Bool {
    if list.utf8.elementsEqual("*".utf8) { return true }
    let tags = parse(list) ?? []
    return tags.contains { $0.opaque == etag && !($0.isWeak && comparison == .strong) }
  }

  /// The tags of a comma-separated list; nil if it is malformed.
  static func parse(_ list: String) -> [EntityTag]? {
    var tags: [EntityTag] = []
    var rest = list[...]
    while true {
      rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
      if rest.isEmpty { return tags }
      let isWeak = rest.hasPrefix("W/")
      if isWeak { rest = rest.dropFirst(2) }
      guard rest.first == "\"", let end = rest.dropFirst().firstIndex(of: "\"") else { return nil }
      tags.append(EntityTag(isWeak: isWeak, opaque: rest.dropFirst()[..<end]))
      rest = rest[rest.index(after: end)...].drop { $0 == " " || $0 == "\t" }
      guard rest.isEmpty || rest.first == "," else { return nil }
    }
  }
}
