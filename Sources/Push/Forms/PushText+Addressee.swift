import Glibc

extension PushText {
  /// Ends an address of media, and stands for the job that brings it until the push leaves; no job's
  /// own ending is longer.
  package static let addressee = ending(of: .max, "00000000-0000-0000-0000-000000000000")

  /// The text with the job in the address of its media: a fetch tells which device it was.
  package static func addressing(_ json: String, to job: Int, _ token: String) -> String {
    // Nothing that a publisher wrote comes after the address.
    guard let place = json.lastPlace(of: addressee) else { return json }
    return String(json[..<place.lowerBound]) + ending(of: job, token) + json[place.upperBound...]
  }

  /// Takes an address apart, if it has such an ending; only one at its very end counts.
  package static func divided(
    _ address: String
  ) -> (shared: String, job: Int, token: String)? {
    guard let place = address.lastPlace(of: "&to=") else { return nil }
    let words = address[place.upperBound...].split(separator: ".", omittingEmptySubsequences: false)
    guard words.count == 2, let job = Int(words[0]), String(job) == words[0],
      !words[1].contains("&")
    else { return nil }
    return (String(address[..<place.lowerBound]), job, String(words[1]))
  }

  private static func ending(of job: Int, _ token: String) -> String { "&to=\(job).\(token)" }
}

extension String {
  /// Where a text stands last, byte by byte.
  fileprivate func lastPlace(of text: String) -> Range<Index>? {
    let offset: Int? = withCString { whole in
      text.withCString { part in
        var last: Int?
        var start = whole
        while let found = strstr(start, part) {
          last = UnsafePointer(found) - whole
          start = UnsafePointer(found) + 1
        }
        return last
      }
    }
    return offset.map { offset in
      let first = utf8.index(startIndex, offsetBy: offset)
      return first..<utf8.index(first, offsetBy: text.utf8.count)
    }
  }
}
