import CUnistring
import Intake

/// The form in which passwords are compared, whatever device they are typed on: the profile OpaqueString of RFC 8265.
enum OpaqueString {
  /// The password with each space of Unicode as U+0020, composed (NFC).
  static func prepare(_ password: String) -> String {
    var text = String.UnicodeScalarView()
    for scalar in password.unicodeScalars {
      text.append(scalar.properties.generalCategory == .spaceSeparator ? " " : scalar)
    }
    return String(text).composed
  }

  /// The first character that a prepared password must not have; nil if there is none.
  ///
  /// Permitted is the FreeformClass of RFC 8264, with the rules for characters that depend on their neighbours.
  static func firstForbidden(in password: String) -> Unicode.Scalar? {
    let scalars = Array(password.unicodeScalars)
    return scalars.indices.first { !isPermitted(scalars[$0], at: $0, of: scalars) }
      .map { scalars[$0] }
  }

  private static func isPermitted(
    _ scalar: Unicode.Scalar, at index: Int, of text: [Unicode.Scalar]
  ) -> Bool {
    if let isPermitted = exception(scalar, at: index, of: text) { return isPermitted }
    guard !scalar.properties.isDefaultIgnorableCodePoint else { return false }
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
      .paragraphSeparator:
      return false
    default: return true
    }
  }

  /// What RFC 8264, section 9.6, and RFC 5892, appendix A, say of single characters; nil if they say nothing.
  private static func exception(
    _ scalar: Unicode.Scalar, at index: Int, of text: [Unicode.Scalar]
  ) -> Bool? {
    let before = index > 0 ? text[index - 1] : nil
    let after = index + 1 < text.count ? text[index + 1] : nil
    switch scalar.value {
    case 0x640, 0x7FA, 0x302E, 0x302F, 0x3031...0x3035, 0x303B: return false
    // Parts of Hangul syllables, of which composition leaves those that make no syllable in use.
    case 0x1100...0x11FF, 0xA960...0xA97F, 0xD7B0...0xD7FF: return false
    case 0x200D: return isVirama(before)
    case 0x200C: return isVirama(before) || isBetweenJoined(index, of: text)
    case 0xB7: return before == "l" && after == "l"
    case 0x375: return after.map { cunistring_script($0.value) == CUNISTRING_GREEK }
    case 0x5F3, 0x5F4: return before.map { cunistring_script($0.value) == CUNISTRING_HEBREW }
    case 0x30FB: return text.contains { cunistring_script($0.value) == CUNISTRING_JAPANESE }
    case 0x660...0x669: return !text.contains { (0x6F0...0x6F9).contains($0.value) }
    case 0x6F0...0x6F9: return !text.contains { (0x660...0x669).contains($0.value) }
    default: return nil
    }
  }

  private static func isVirama(_ scalar: Unicode.Scalar?) -> Bool {
    scalar?.properties.canonicalCombiningClass.rawValue == 9
  }

  /// Whether the nearest characters on both sides that are not transparent would join each other.
  private static func isBetweenJoined(_ index: Int, of text: [Unicode.Scalar]) -> Bool {
    func isVisible(_ scalar: Unicode.Scalar) -> Bool {
      cunistring_joining(scalar.value) & CUNISTRING_TRANSPARENT == 0
    }
    guard let before = text[..<index].last(where: isVisible),
      let after = text[(index + 1)...].first(where: isVisible)
    else { return false }
    return cunistring_joining(before.value) & CUNISTRING_JOINS_NEXT != 0
      && cunistring_joining(after.value) & CUNISTRING_JOINS_PREVIOUS != 0
  }
}
