/// The rule for users' names.
package enum UserName {
  /// Whether the name fits tags, logs and URLs: 1 to 64 of letters, digits and `-_.@`.
  package static func isValid(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count) && name.utf8.allSatisfy(isValid(byte:))
  }

  /// Whether the byte may occur in a name.
  package static func isValid(byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-_.@".utf8.contains(byte)
    }
  }
}

/// Suggests a known word for a misspelled one.
package enum Suggestion {
  /// The known word that is most similar, or nil if none is similar enough.
  package static func word(to word: String, among known: [String]) -> String? {
    // Comparing costs O(n²), and no known word is nearly as long.
    guard word.utf8.count <= 64 else { return nil }
    return known.map { (word: $0, distance: distance(word, $0)) }
      .filter { $0.distance <= max(1, word.count / 3) }
      .min { $0.distance < $1.distance }?.word
  }

  /// How many letters must be added, removed or changed (Levenshtein distance), ignoring case.
  private static func distance(_ left: String, _ right: String) -> Int {
    let right = Array(right.lowercased())
    var row = Array(0...right.count)
    for (line, letter) in left.lowercased().enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for column in right.indices {
        let changed = diagonal + (letter == right[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(changed, row[column] + 1, diagonal + 1)
      }
    }
    return row[right.count]
  }
}

extension String {
  /// The text in quotation marks for a sentence: at most 80 characters, without control characters.
  package var quoted: String {
    let plain = unicodeScalars.prefix(80).map { scalar -> Character in
      switch scalar.properties.generalCategory {
      case .control, .format, .privateUse: "\u{FFFD}"
      default: Character(scalar)
      }
    }
    return "“" + String(plain) + (unicodeScalars.count > 80 ? "…”" : "”")
  }
}
