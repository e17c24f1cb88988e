extension String {
  /// The text between quotes as a sentence can carry it: short, and without control characters.
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
