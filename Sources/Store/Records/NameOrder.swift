import CUnistring
import Glibc

extension AssetRecord {
  /// A form of a name by which names are in the order that people expect: without case and accents, and numbers by
  /// their values, “apfel 9.png” before “Äpfel 10.png”.
  package static func ordered(_ name: String) -> String {
    var (ordered, digits) = ("", "")
    func endNumber() {
      guard !digits.isEmpty else { return }
      // The longer number is the larger one.
      let number = digits.drop { $0 == "0" }
      let length = String(min(99, number.utf8.count))
      ordered += (length.utf8.count == 1 ? "0" : "") + length + number
      digits = ""
    }
    for scalar in name.plain.unicodeScalars {
      if ("0"..."9").contains(scalar) {
        digits.unicodeScalars.append(scalar)
      } else {
        endNumber()
        ordered.unicodeScalars.append(scalar)
      }
    }
    endNumber()
    return ordered
  }
}

extension String {
  /// The text without case, compatibility forms and accents (UAX #15).
  package var plain: String {
    var text = self
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
      plain.append(contentsOf: (Self.letters[scalar] ?? String(scalar)).unicodeScalars)
    }
    return String(plain)
  }

  /// Letters whose accent Unicode does not take off.
  private static let letters: [Unicode.Scalar: String] = [
    "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th",
  ]
}
