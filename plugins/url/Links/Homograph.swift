/// Finds names that are written to be taken for another (UTS 39, restriction levels).
enum Homograph {
  /// Why a label of a host name may deceive; nil when it does not look so.
  static func suspicion(of label: Substring) -> String? {
    let scripts = Set(label.unicodeScalars.compactMap(Script.init))
    guard scripts.count <= 1 || Script.companions.contains(where: scripts.isSubset) else {
      let names = scripts.map(\.rawValue).sorted().joined(separator: " and ")
      return "The name \(label) mixes \(names) letters, as names do that imitate others."
    }
    let skeleton = label.unicodeScalars.map { lookalikes[$0] ?? Character($0) }
    let isLatinToTheEye = skeleton.allSatisfy(\.isASCII)
    guard isLatinToTheEye, !label.unicodeScalars.allSatisfy(\.isASCII) else { return nil }
    return "The name \(label) has no Latin letter and yet looks like \(String(skeleton))."
  }

  /// Cyrillic and Greek letters that are drawn like Latin ones.
  private static let lookalikes: [Unicode.Scalar: Character] = [
    "а": "a", "в": "b", "с": "c", "ԁ": "d", "е": "e", "һ": "h", "і": "i", "ј": "j", "к": "k",
    "ӏ": "l", "м": "m", "н": "h", "о": "o", "р": "p", "ԛ": "q", "г": "r", "ѕ": "s", "т": "t",
    "у": "y", "ѵ": "v", "ԝ": "w", "х": "x", "ο": "o", "α": "a", "ν": "v", "ρ": "p", "ι": "i",
    "κ": "k", "υ": "u", "τ": "t", "χ": "x", "γ": "y", "ε": "e", "η": "n", "ω": "w",
  ]
}

/// The writing systems that host names are most often written in.
private enum Script: String {
  case latin = "Latin"
  case greek = "Greek"
  case cyrillic = "Cyrillic"
  case armenian = "Armenian"
  case hebrew = "Hebrew"
  case arabic = "Arabic"
  case indic = "Indic"
  case thai = "Thai"
  case georgian = "Georgian"
  case kana = "Kana"
  case bopomofo = "Bopomofo"
  case hangul = "Hangul"
  case han = "Han"
  case other = "other"

  /// Scripts that one honest name may mix: Japanese, Chinese and Korean with Latin.
  static let companions: [Set<Script>] = [
    [.latin, .han, .kana], [.latin, .han, .bopomofo], [.latin, .han, .hangul],
  ]

  /// The script of a letter; nil for digits, hyphens and combining marks.
  init?(_ scalar: Unicode.Scalar) {
    guard scalar.properties.isAlphabetic else { return nil }
    self =
      switch scalar.value {
      case 0x41...0x24F, 0x1E00...0x1EFF: .latin
      case 0x370...0x3FF, 0x1F00...0x1FFF: .greek
      case 0x400...0x52F, 0x1C80...0x1C8F, 0x2DE0...0x2DFF, 0xA640...0xA69F: .cyrillic
      case 0x530...0x58F: .armenian
      case 0x590...0x5FF: .hebrew
      case 0x600...0x6FF, 0x750...0x77F: .arabic
      case 0x900...0xDFF: .indic
      case 0xE00...0xE7F: .thai
      case 0x10A0...0x10FF, 0x2D00...0x2D2F: .georgian
      case 0x3040...0x30FF, 0x31F0...0x31FF: .kana
      case 0x3100...0x312F: .bopomofo
      case 0x1100...0x11FF, 0xAC00...0xD7AF: .hangul
      case 0x3005...0x3007, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0x20000...0x3FFFF: .han
      default: .other
      }
  }
}
