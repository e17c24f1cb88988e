import Glibc

/// Parts of a payload that are filled in when the push is sent: the unread count, and the job.
///
/// Payloads are stored when a notification is created, before either is known. The texts are searched byte
/// by byte (`strstr`), because every push is.
extension PushPayload {
  // MARK: The unread count

  /// The placeholder for the unread count; also the highest count that is sent.
  static let badgePlaceholder = 999_999

  /// The member of `aps` that sets the app icon's badge.
  static func badge(_ count: Int) -> String { #""badge":\#(count)"# }

  /// The payload with the unread count in its badge; `unread` is called only if it has one.
  package static func insertingBadge(
    _ json: String, unread: () async throws -> Int
  ) async rethrows -> String {
    // Nothing that a publisher wrote looks like the member: quotes inside a string are escaped.
    guard let range = json.range(of: badge(badgePlaceholder), isLast: false) else { return json }
    let badge = badge(min(try await unread(), badgePlaceholder))
    return String(json[..<range.lowerBound]) + badge + json[range.upperBound...]
  }

  // MARK: The job

  /// Ends a link to media in a stored payload; as long as the longest suffix of a job.
  package static let jobPlaceholder = suffix(of: .max, "00000000-0000-0000-0000-000000000000")

  /// The payload with the job in its link to media, so that a fetch shows which device it is from.
  package static func insertingJob(_ json: String, to job: Int, _ token: String) -> String {
    // The last one, because the publisher's texts precede the link.
    guard let range = json.range(of: jobPlaceholder, isLast: true) else { return json }
    return String(json[..<range.lowerBound]) + suffix(of: job, token) + json[range.upperBound...]
  }

  /// Splits a link into the part that all devices share and the job; nil if it does not end with a job.
  package static func splittingJob(
    _ link: String
  ) -> (shared: String, job: Int, token: String)? {
    guard let range = link.range(of: "&to=", isLast: true) else { return nil }
    let words = link[range.upperBound...].split(separator: ".", omittingEmptySubsequences: false)
    guard words.count == 2, let job = Int(words[0]), String(job) == words[0],
      !words[1].contains("&")
    else { return nil }
    return (String(link[..<range.lowerBound]), job, String(words[1]))
  }

  private static func suffix(of job: Int, _ token: String) -> String { "&to=\(job).\(token)" }
}

extension String {
  /// The first or last occurrence of a text.
  fileprivate func range(of text: String, isLast: Bool) -> Range<Index>? {
    let offset: Int? = withCString { whole in
      text.withCString { part in
        var found: Int?
        var start = whole
        while let next = strstr(start, part) {
          found = UnsafePointer(next) - whole
          start = UnsafePointer(next) + 1
          if !isLast { break }
        }
        return found
      }
    }
    return offset.map { offset in
      let first = utf8.index(startIndex, offsetBy: offset)
      return first..<utf8.index(first, offsetBy: text.utf8.count)
    }
  }
}
