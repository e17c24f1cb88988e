import Primitives
import Testing

@Suite struct PrintableTextTests {
  @Test(arguments: [
    ("plain text, grün, 日本", "plain text, grün, 日本"),
    ("\u{1B}]0;title\u{7}", #"\u{1B}]0;title\u{7}"#),
    ("a\nb\r\tc\u{0}", #"a\u{A}b\u{D}\u{9}c\u{0}"#),
    ("\u{7F}\u{9B}31m\u{85}", #"\u{7F}\u{9B}31m\u{85}"#),
    ("gpj\u{202E}exe", #"gpj\u{202E}exe"#),
    ("\u{2066}a\u{2069}\u{200F}", #"\u{2066}a\u{2069}\u{200F}"#),
    ("a\u{2028}b\u{2029}", #"a\u{2028}b\u{2029}"#),
    ("pay\u{200B}pal\u{AD}\u{FEFF}\u{2060}", #"pay\u{200B}pal\u{AD}\u{FEFF}\u{2060}"#),
    ("a\u{200D}b\u{3164}\u{E0041}", #"a\u{200D}b\u{3164}\u{E0041}"#),
    ("❤️ 👩‍👩‍👧 👍🏽", "❤️ 👩‍👩‍👧 👍🏽"), ("👍\u{202E}", #"👍\u{202E}"#),
  ])
  func `shows what a terminal would obey or a reader would not see`(text: String, shown: String) {
    #expect(text.printable == shown)
    #expect(text.printable.printable == shown, "twice is as once")
  }

  @Test func `lines stay lines`() {
    #expect("a\r\nb\u{1B}\u{2028}\tc\n".printableLines == "a\nb\\u{1B}\n\tc\n")
  }

  @Test func `JSON keeps its values`() {
    #expect(
      "{\"a\":\"\u{9B}\u{202E}\u{E0041}é\"}".printableJSON == #"{"a":"\u009b\u202e\udb40\udc41é"}"#)
  }
}
