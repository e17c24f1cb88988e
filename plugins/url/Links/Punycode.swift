/// Unicode in the letters that DNS allows (RFC 3492), backwards.
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
