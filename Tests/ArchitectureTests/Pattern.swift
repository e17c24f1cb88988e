import Foundation

/// A regular expression over whole files; ICU's, which is twenty times faster here than Swift's own.
struct Pattern {
  private let expression: NSRegularExpression

  init(_ pattern: String) throws {
    expression = try NSRegularExpression(pattern: pattern, options: .anchorsMatchLines)
  }

  /// The first group of every match, or the whole match where there is no group.
  func matches(in text: String) -> [String] {
    let all = NSRange(text.startIndex..., in: text)
    return expression.matches(in: text, range: all).compactMap { match in
      let groups = (0..<match.numberOfRanges).map { match.range(at: $0) }
      let last = groups.last { $0.location != NSNotFound }
      return last.flatMap { Range($0, in: text) }.map { String(text[$0]) }
    }
  }

  func matches(_ line: Substring) -> Bool { !matches(in: String(line)).isEmpty }
}
