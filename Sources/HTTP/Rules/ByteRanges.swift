/// The byte ranges that a GET asks for (RFC 9110, section 14).
enum ByteRanges: Equatable {
  /// No Range field, or one that may be ignored: the whole content is sent.
  case whole
  /// Ranges within the content that do not overlap.
  case parts([Range<Int>])
  /// Valid ranges of which none is within the content: 416.
  case unsatisfiable

  /// The most ranges in one response, after joining overlapping ones.
  ///
  /// For more ranges the whole content is sent, as section 14.2 allows for many small ranges.
  static let maximumCount = 16

  /// Parses a Range field's value for a content of `size` bytes.
  init(_ value: String?, size: Int) {
    self = value.flatMap { Self.parse($0, size: size) } ?? .whole
  }

  private static func parse(_ value: String, size: Int) -> ByteRanges? {
    guard let equals = value.firstIndex(of: "="), value[..<equals].lowercased() == "bytes" else {
      return nil
    }
    let specifiers = value[value.index(after: equals)...].split(separator: ",")
    guard !specifiers.isEmpty else { return nil }
    var parts: [Range<Int>] = []
    for specifier in specifiers {
      guard let range = range(specifier, size: size) else { return nil }
      if !range.isEmpty { parts.append(range) }
    }
    parts = merged(parts)
    guard !parts.isEmpty else { return .unsatisfiable }
    return parts.count > maximumCount ? nil : .parts(parts)
  }

  /// The range that a specifier names, empty if it is beyond the end; nil if it is malformed.
  private static func range(_ specifier: Substring, size: Int) -> Range<Int>? {
    let words = specifier.split { $0 == " " || $0 == "\t" }
    guard words.count == 1 else { return nil }
    let ends = words[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return nil }
    switch (number(ends[0]), number(ends[1])) {
    case (let first?, let last?):
      guard first <= last else { return nil }
      return first < size ? first..<min(last, size - 1) + 1 : 0..<0
    case (let first?, nil) where ends[1].isEmpty: return first < size ? first..<size : 0..<0
    case (nil, let suffixLength?) where ends[0].isEmpty: return max(0, size - suffixLength)..<size
    default: return nil
    }
  }

  /// The number; one that is too large for an Int is beyond the end of every content.
  private static func number(_ digits: Substring) -> Int? {
    guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit) else { return nil }
    return Int(digits) ?? Int.max - 1
  }

  /// The ranges in the requested order; sorted and joined if some of them overlap.
  private static func merged(_ parts: [Range<Int>]) -> [Range<Int>] {
    let sorted = parts.sorted { $0.lowerBound < $1.lowerBound }
    guard zip(sorted, sorted.dropFirst()).contains(where: { $0.overlaps($1) }) else { return parts }
    return sorted.reduce(into: []) { merged, part in
      guard let last = merged.last, part.lowerBound <= last.upperBound else {
        merged.append(part)
        return
      }
      merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, part.upperBound)
    }
  }
}

extension Range<Int> {
  /// The value of Content-Range (RFC 9110, section 14.4).
  func contentRange(of size: Int) -> String { "bytes \(lowerBound)-\(upperBound - 1)/\(size)" }
}
