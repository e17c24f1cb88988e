extension String {
  /// The text on one line of a terminal or a log, from any author: with `\u{1B}` in place of what the terminal
  /// would obey, and of what a reader would not see.
  ///
  /// Escaped are control characters, with line breaks and those of ISO 8859; marks that reorder text, such as
  /// U+202E; and other characters without a shape. Joiners and variation selectors of emoji stay.
  package var printable: String {
    escapingUnprintable { "\\u{\(Self.hexadecimal($0))}" }
  }

  /// A JSON text in which the same characters are escaped as JSON does it, so that its values stay the same.
  package var printableJSON: String {
    escapingUnprintable { scalar in
      String(scalar).utf16.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
    }
  }

  /// The lines of a text, each of them ``printable``; tabs stay, too.
  package var printableLines: String {
    split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .map { line in
        line.split(separator: "\t", omittingEmptySubsequences: false)
          .map { String($0).printable }.joined(separator: "\t")
      }.joined(separator: "\n")
  }

  private func escapingUnprintable(_ escape: (Unicode.Scalar) -> String) -> String {
    // Printable ASCII needs no look-up of Unicode properties.
    if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
    return map { character in
      let scalars = character.unicodeScalars
      let isEmoji = scalars.first.map { $0.properties.isEmoji && !$0.isASCII } ?? false
      return scalars.map { scalar in
        scalar.isUnprintable && !(isEmoji && scalar == Unicode.Scalar.joiner)
          ? escape(scalar) : String(scalar)
      }.joined()
    }.joined()
  }

  private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
    String(scalar.value, radix: 16, uppercase: true)
  }
}

extension Unicode.Scalar {
  /// ZERO WIDTH JOINER, which makes one emoji of several.
  fileprivate static let joiner: Self = "\u{200D}"

  /// Whether a terminal would obey it, or nothing would show that it is there.
  fileprivate var isUnprintable: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: properties.isDefaultIgnorableCodePoint && !properties.isVariationSelector
    }
  }
}
