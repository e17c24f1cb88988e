import PluginKit

/// A host in DNS, and as a reader sees it.
struct HostName {
  /// In ASCII and lower case, such as `xn--bcher-kva.example` or `[2001:db8::1]`.
  let ascii: String
  /// With international labels decoded, such as `bücher.example`.
  let unicode: String

  init(ascii name: String) throws(Refusal) {
    var name = name.lowercased()
    if name.hasSuffix(".") { name.removeLast() }
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    let isAddress = name.hasPrefix("[")
    guard isAddress || name.utf8.count <= 253 && labels.allSatisfy({ (1...63).contains($0.count) })
    else { throw Refusal("The link's host \(name.prefix(80)) is not a valid name.") }
    ascii = name
    unicode = labels.map { Self.decoded($0) }.joined(separator: ".")
  }

  /// Whether it is an IP address rather than a name.
  var isAddress: Bool {
    ascii.hasPrefix("[")
      || ascii.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (48...57).contains($0) }
  }

  /// What the publisher should know about the host.
  var advice: [String] {
    if isAddress { return ["The host is an address; people cannot tell whose it is."] }
    var advice: [String] = []
    if !ascii.contains(".") || ascii.hasSuffix(".local") || ascii.hasSuffix(".internal") {
      advice.append("The host \(ascii) is known in one network only; phones may not find it.")
    }
    return advice + suspicions
  }

  /// Why labels of the name may imitate others.
  var suspicions: [String] { unicode.split(separator: ".").compactMap(Homograph.suspicion) }

  private static func decoded(_ label: Substring) -> String {
    guard label.hasPrefix("xn--") else { return String(label) }
    return Punycode.decode(label.dropFirst(4)) ?? String(label)
  }
}

/// Finds names that imitate others (UTS 39, restriction levels).
private enum Homograph {
  /// Why a label of a host name may imitate another; nil when it does not.
  static func suspicion(of label: Substring) -> String? {
    let scripts = Set(label.unicodeScalars.compactMap(script))
    guard scripts.count <= 1 || companions.contains(where: scripts.isSubset) else {
      let names = scripts.sorted().joined(separator: " and ")
      return "The name \(label) mixes \(names) letters, as names do that imitate others."
    }
    let skeleton = label.unicodeScalars.map { lookalikes[$0] ?? Character($0) }
    let isLatinToTheEye = skeleton.allSatisfy(\.isASCII)
    guard isLatinToTheEye, !label.unicodeScalars.allSatisfy(\.isASCII) else { return nil }
    return "The name \(label) has no Latin letter and yet looks like \(String(skeleton))."
  }

  /// Cyrillic and Greek letters that look like Latin ones.
  private static let lookalikes: [Unicode.Scalar: Character] = [
    "а": "a", "в": "b", "с": "c", "ԁ": "d", "е": "e", "һ": "h", "і": "i", "ј": "j", "к": "k",
    "ӏ": "l", "м": "m", "н": "h", "о": "o", "р": "p", "ԛ": "q", "г": "r", "ѕ": "s", "т": "t",
    "у": "y", "ѵ": "v", "ԝ": "w", "х": "x", "ο": "o", "α": "a", "ν": "v", "ρ": "p", "ι": "i",
    "κ": "k", "υ": "u", "τ": "t", "χ": "x", "γ": "y", "ε": "e", "η": "n", "ω": "w",
  ]

  /// The script of a letter; nil for digits, hyphens and combining marks.
  private static func script(of scalar: Unicode.Scalar) -> String? {
    guard scalar.properties.isAlphabetic else { return nil }
    return scripts.first { $0.letters.contains { $0.contains(scalar.value) } }?.name ?? "other"
  }

  /// Scripts that an honest name may mix: Japanese, Chinese and Korean with Latin.
  private static let companions: [Set<String>] = [
    ["Latin", "Han", "Kana"], ["Latin", "Han", "Bopomofo"], ["Latin", "Han", "Hangul"],
  ]

  /// The scripts of most host names.
  private static let scripts: [(name: String, letters: [ClosedRange<UInt32>])] = [
    ("Latin", [0x41...0x24F, 0x1E00...0x1EFF]),
    ("Greek", [0x370...0x3FF, 0x1F00...0x1FFF]),
    ("Cyrillic", [0x400...0x52F, 0x1C80...0x1C8F, 0x2DE0...0x2DFF, 0xA640...0xA69F]),
    ("Armenian", [0x530...0x58F]),
    ("Hebrew", [0x590...0x5FF]),
    ("Arabic", [0x600...0x6FF, 0x750...0x77F]),
    ("Indic", [0x900...0xDFF]),
    ("Thai", [0xE00...0xE7F]),
    ("Georgian", [0x10A0...0x10FF, 0x2D00...0x2D2F]),
    ("Kana", [0x3040...0x30FF, 0x31F0...0x31FF]),
    ("Bopomofo", [0x3100...0x312F]),
    ("Hangul", [0x1100...0x11FF, 0xAC00...0xD7AF]),
    ("Han", [0x3005...0x3007, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0x20000...0x3FFFF]),
  ]
}

/// The decoder of Punycode (RFC 3492), which is Unicode in the characters of DNS.
enum Punycode {
  /// Decodes what follows `xn--`; nil when it is no valid Punycode.
  static func decode(_ text: Substring) -> String? {
    let parts = text.utf8
    let split = parts.lastIndex(of: UInt8(ascii: "-"))
    var output = split.map { text[..<$0].unicodeScalars.map { Int($0.value) } } ?? []
    var rest = split.map { parts[parts.index(after: $0)...] } ?? parts[...]
    var scalar = 128
    var index = 0
    var bias = 72
    while !rest.isEmpty {
      let start = index
      var weight = 1
      for step in stride(from: 36, through: .max, by: 36) {
        guard let digit = rest.popFirst().flatMap(value), weight < 1 << 32 else { return nil }
        index += digit * weight
        guard index < 1 << 32 else { return nil }
        let threshold = min(max(step - bias, 1), 26)
        if digit < threshold { break }
        weight *= 36 - threshold
      }
      let count = output.count + 1
      bias = adapted(index - start, count: count, isFirst: start == 0)
      scalar += index / count
      index %= count
      output.insert(scalar, at: index)
      index += 1
    }
    let scalars = output.compactMap { UInt32(exactly: $0).flatMap(Unicode.Scalar.init) }
    guard scalars.count == output.count else { return nil }
    var decoded = String.UnicodeScalarView()
    decoded.append(contentsOf: scalars)
    return String(decoded)
  }

  private static func value(of byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(byte - UInt8(ascii: "a"))
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0")) + 26
    default: nil
    }
  }

  /// The bias for the next character (section 6.1).
  private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
    var delta = isFirst ? delta / 700 : delta / 2
    delta += delta / count
    var bias = 0
    while delta > 455 {
      delta /= 35
      bias += 36
    }
    return bias + 36 * delta / (delta + 38)
  }
}
