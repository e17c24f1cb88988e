import RichPushAPI
import Store

/// The words of a search, found in any case, with or without accents: “fruhlings” finds “Frühlingsfest”.
struct SearchWords: Sendable {
  private let words: [Substring]
  private static let longest = 200

  /// The words of a text.
  ///
  /// - Throws: `invalidRequest` if it is too long.
  init(_ text: String) throws(ServiceError) {
    guard text.utf8.count <= Self.longest else {
      throw ServiceError(.invalidRequest, "search must have at most \(Self.longest) bytes.")
    }
    words = text.plain.split(whereSeparator: \.isWhitespace)
  }

  /// Whether there is no word, which matches everything.
  var isEmpty: Bool { words.isEmpty }

  /// Whether each word is part of one of the texts.
  func match(_ texts: [String]) -> Bool {
    let plain = texts.map(\.plain)
    return words.allSatisfy { word in plain.contains { $0.contains(word) } }
  }
}
