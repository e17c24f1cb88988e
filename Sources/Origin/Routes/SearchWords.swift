import CUnistring
import Glibc
import RichPushAPI

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
    words = Self.plain(text).split(whereSeparator: \.isWhitespace)
  }

  /// Whether there is no word, which matches everything.
  var isEmpty: Bool { words.isEmpty }

  /// Whether each word is part of one of the texts.
  func match(_ texts: [String]) -> Bool {
    let plain = texts.map(Self.plain)
    return words.allSatisfy { word in plain.contains { $0.contains(word) } }
  }

  /// The text without case, compatibility forms and accents (UAX #15).
  static func plain(_ text: String) -> String {
    var text = text
    let folded = text.withUTF8 { bytes in
      var count = 0
      guard let folded = cunistring_fold(bytes.baseAddress, bytes.count, &count) else {
        return String(decoding: bytes, as: UTF8.self)
      }
      defer { free(folded) }
      return String(decoding: UnsafeBufferPointer(start: folded, count: count), as: UTF8.self)
    }
    var plain = String.UnicodeScalarView()
    for scalar in folded.unicodeScalars where scalar.properties.generalCategory != .nonspacingMark {
      plain.append(contentsOf: (letters[scalar] ?? String(scalar)).unicodeScalars)
    }
    return String(plain)
  }

  /// Letters whose accent Unicode does not take off.
  private static let letters: [Unicode.Scalar: String] = [
    "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th",
  ]
}
