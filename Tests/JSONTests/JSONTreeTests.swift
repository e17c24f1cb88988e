import JSON
import Primitives
import Testing

@Suite(.timeLimit(.minutes(1))) struct JSONTreeTests {
  @Test func `reads values of every kind`() throws {
    let text = #" {"a":[1,-2.5e2,0,true,false,null],"b":{"c":""},"d":"x"} "#
    let tree = try #require(JSONTree(text.utf8))
    #expect(
      tree["a"]?.elements
        == [.number(1), .number(-250), .number(0), .bool(true), .bool(false), .null])
    #expect(tree["b"]?["c"]?.text == "")
    #expect(tree["d"]?.text == "x" && tree["d"]?.integer == nil)
    #expect(tree["e"] == nil && JSONTree(#"{"a":null}"#.utf8)?["a"] == nil)
    #expect(JSONTree("[]".utf8) == .array([]) && JSONTree("{}".utf8) == .object([:]))
  }

  @Test func `a member that occurs twice has its first value`() {
    #expect(JSONTree(#"{"a":1,"a":2}"#.utf8)?["a"]?.integer == 1)
  }

  @Test func `a number with more digits than a Double has is the nearest one`() {
    let digits = "123456789012345678901234567890123456789012345678901"
    #expect(JSONTree(digits.utf8) == .number(1.2345678901234568e50))
    #expect(JSONTree("0.\(digits)e-300".utf8) == .number(1.2345678901234568e-301))
    #expect(JSONTree("9007199254740993".utf8)?.integer == 9_007_199_254_740_992)
  }

  @Test func `resolves escapes`() {
    let text = #""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é😀""#
    #expect(JSONTree(text.utf8) == .string("\"\\/\u{8}\u{C}\n\r\té😀é😀"))
  }

  @Test(arguments: [
    "", " ", "{", "[1,]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "[1 2]", "1 2", "nul", "'a'", "\"a",
    "\"\n\"", #""\x""#, #""\ud83d""#, #""\ude00""#, #""\u12g4""#, #""\u+123""#, "01", "-", "+1",
    ".5", "1.", "1.e3", "1e", "1e5e", "1e400", "NaN", "0x10", "\u{FEFF}1",
  ])
  func `other text is refused`(text: String) {
    #expect(JSONTree(text.utf8) == nil)
  }

  @Test func `bytes that are not UTF-8, and deep nesting, are refused`() {
    #expect(JSONTree([0x22, 0xFF, 0x22]) == nil)
    let deep = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
    #expect(JSONTree(deep(512).utf8) != nil)
    #expect(JSONTree(deep(513).utf8) == nil && JSONTree(deep(1_000_000).utf8) == nil)
  }

  @Test func `a text that is written is read again`() {
    let text = JSONText.object([
      "a": JSONText.quoted("\u{1}\"\\\n"), "b": nil, "c": JSONText.array(["x", "y"]),
      "d": JSONText.number(2), "e": JSONText.number(1.5),
    ])
    #expect(text == #"{"a":"\u0001\"\\\n","c":["x","y"],"d":2,"e":1.5}"#)
    #expect(JSONTree(text.utf8)?["a"]?.text == "\u{1}\"\\\n")
  }
}
