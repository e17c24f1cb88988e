import CUnistring
import FoundationEssentials
import Glibc

extension AssetRecord {
  /// A name in the form in which names are equal that look alike: they differ in upper and lower case, in kinds or
  /// numbers of spaces, in kinds of quotes and dashes, in invisible characters, or in letters of other scripts
  /// that have the same shape.
  package static func folded(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    let shapes = name.unicodeScalars.map(shape).joined()
    let compatible = isPlain ? shapes.lowercased() : shapes.compatible
    let folded =
      isPlain ? compatible : compatible.unicodeScalars.map { letters($0) }.joined()
    return folded.split(whereSeparator: { $0 == " " }).joined(separator: " ")
  }

  /// What a character of a name is in its folded form, before it is folded with its neighbours.
  private static func shape(of scalar: Unicode.Scalar) -> String {
    if scalar.properties.isDefaultIgnorableCodePoint { return "" }
    if let other = shapes[scalar] { return other }
    switch scalar.properties.generalCategory {
    case .spaceSeparator: return " "
    case .dashPunctuation: return "-"
    default: return String(scalar)
    }
  }

  /// The letters of the folded form.
  private static func letters(_ scalar: Unicode.Scalar) -> String {
    if let other = shapes[scalar] { return other }
    let lower = scalar.properties.lowercaseMapping
    guard let only = lower.unicodeScalars.first, lower.unicodeScalars.count == 1 else {
      return lower
    }
    return shapes[only] ?? lower
  }

  /// Characters by the ones whose shape they have.
  private static let shapes: [Unicode.Scalar: String] = {
    let groups: KeyValuePairs<String, String> = [
      "'":
        "`\u{B4}\u{2BC}\u{2B9}\u{2018}\u{2019}\u{201A}\u{201B}\u{2032}\u{2035}\u{FF07}\u{2039}\u{203A}",
      "\"": "\u{201C}\u{201D}\u{201E}\u{201F}\u{2033}\u{2036}\u{AB}\u{BB}\u{FF02}\u{301D}\u{301E}",
      "-": "\u{2212}\u{2043}\u{2D7}\u{2796}", " ": "\u{2800}\u{2028}\u{2029}",
      ".": "\u{2024}", "/": "\u{2044}\u{2215}", ":": "\u{2236}\u{A789}", "|": "\u{1C0}\u{2223}",
      // Cyrillic, Greek, Armenian and others.
      "a": "аАαΑɑ", "b": "ВвΒЬьƅ", "c": "сСϲϹᴄ", "d": "ԁԀ", "e": "еЕεΕҽ", "f": "ϝϜ", "g": "ɡ",
      "h": "һНнΗհ", "i": "іІιΙıӏӀ", "j": "јЈϳͿ", "k": "кКκΚ", "l": "ⅼ", "m": "мМΜ", "n": "ΝոՈ",
      "o": "оОοΟօՕ", "p": "рРρΡ", "q": "ԛԚգ", "s": "ѕЅՏ", "t": "тТτΤ", "u": "υսՍ", "v": "νѵѴ",
      "w": "ԝԜѡωա", "x": "хХχΧ", "y": "уУүҮΥ", "z": "ΖᴢզΖ",
    ]
    var shapes: [Unicode.Scalar: String] = [:]
    for (shape, others) in groups {
      for scalar in others.unicodeScalars { shapes[scalar] = shape }
    }
    return shapes
  }()
}

extension String {
  /// The text in the composed form without compatibility characters (NFKC, UAX #15).
  fileprivate var compatible: String {
    var text = self
    return text.withUTF8 { bytes in
      var count = 0
      guard let composed = cunistring_compose_compatibly(bytes.baseAddress, bytes.count, &count)
      else { return String(decoding: bytes, as: UTF8.self) }
      defer { free(composed) }
      return String(decoding: UnsafeBufferPointer(start: composed, count: count), as: UTF8.self)
    }
  }
}
