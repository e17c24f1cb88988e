/// The Range of a GET (RFC 9110, section 14).
enum ByteRanges: Equatable {
  /// There is none, or none that must be understood: the whole is sent.
  case whole
  /// Ranges that lie within the content, none of which overlap.
  case parts([Range<Int>])
  /// Valid ranges of which none lies within the content: 416.
  case unsatisfiable

  /// More ranges than this, overlapping ones joined, are answered with the whole (section 14.2).
  static let limit = 16

  /// The ranges that a field value asks of a content of that many bytes.
  init(_ value: String?, size: Int) {
    guard let value, let equals = value.firstIndex(of: "="),
      value[..<equals].lowercased() == "bytes"
    else {
      self = .whole
      return
    }
    var parts: [Range<Int>] = []
    let specifications = value[value.index(after: equals)...].split(separator: ",")
    for specification in specifications {
      guard let bounds = Self.bounds(specification, size: size) else {
        self = .whole
        return
      }
      if !bounds.isEmpty { parts.append(bounds) }
    }
    guard !specifications.isEmpty else {
      self = .whole
      return
    }
    parts = Self.joined(parts)
    self =
      parts.isEmpty ? .unsatisfiable : parts.count > Self.limit ? .whole : .parts(parts)
  }

  /// The bytes a specification names, empty when it lies behind the end; nil when it is malformed.
  private static func bounds(_ specification: Substring, size: Int) -> Range<Int>? {
    let words = specification.split { $0 == " " || $0 == "\t" }
    guard words.count == 1 else { return nil }
    let ends = words[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return nil }
    switch (number(ends[0]), number(ends[1])) {
    case (let first?, let last?):
      guard first <= last else { return nil }
      return first < size ? first..<min(last, size - 1) + 1 : 0..<0
    case (let first?, nil) where ends[1].isEmpty: return first < size ? first..<size : 0..<0
    case (nil, let length?) where ends[0].isEmpty: return max(0, size - length)..<size
    default: return nil
    }
  }

  /// A number that is too large for an Int lies behind every end.
  private static func number(_ digits: Substring) -> Int? {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int(digits) ?? Int.max - 1
  }

  /// In the order asked for, unless some overlap: then sorted and joined.
  private static func joined(_ parts: [Range<Int>]) -> [Range<Int>] {
    let sorted = parts.sorted { $0.lowerBound < $1.lowerBound }
    guard zip(sorted, sorted.dropFirst()).contains(where: { $0.overlaps($1) }) else { return parts }
    return sorted.reduce(into: []) { joined, part in
      guard let last = joined.last, part.lowerBound <= last.upperBound else {
        joined.append(part)
        return
      }
      joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, part.upperBound)
    }
  }
}
