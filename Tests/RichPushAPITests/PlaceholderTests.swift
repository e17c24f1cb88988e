import Testing

@testable import RichPushAPI

/// Values in the place of `{{name}}`.
@Suite struct PlaceholderTests {
  private static func text(_ text: String, _ values: [String: String] = [:]) -> String {
    PlaceholderText(text).text(with: values, in: .text)
  }

  @Test(arguments: [
    ("Hi {{name}}!", "Hi Ann!"), ("Hi {{other|there}}!", "Hi there!"),
    ("{{name|x}}{{name}}", "AnnAnn"),
    ("{{other|}}", ""), ("{{{{name}}", "{{name}}"), ("a }} b", "a }} b"), ("{{other|a|b}}", "a|b"),
    ("{{other|a}b}}", "a}b"), ("no braces", "no braces"), ("{{{{{{name}}", "{{Ann"),
  ])
  func `stand for the values that there are, or their defaults`(text: String, result: String) {
    #expect(PlaceholderText(text).isValid)
    #expect(Self.text(text, ["name": "Ann"]) == result)
  }

  @Test(arguments: [
    "{{", "{{name", "{{}}", "{{ name }}", "{{Name}}", "{{1}}", "{{a-b}}", "{{|x}}", "{{{name}}}",
    "{{" + String(repeating: "a", count: 33) + "}}", "{{na\u{300}me}}",
  ])
  func `that are none are refused`(text: String) {
    let message = NotificationMessage(text)
    #expect(message.faults(allowing: []).map(\.member) == ["message"])
  }

  @Test(.timeLimit(.minutes(1))) func `very many without an end are refused at once`() {
    let text = String(repeating: "{{a", count: 300_000)
    #expect(!PlaceholderText(text).isValid)
  }

  @Test func `a value cannot change what is around it`() {
    #expect(Self.text("{{a}}", ["a": "{{b}} {{{{", "b": "x"]) == "{{b}} {{{{")
    #expect(Self.text("[{{a}}]", ["a": "x\u{0}\n\r\t\u{1b}\u{85}\u{2028}y"]) == "[xy]")
    #expect(Self.text("[{{a}}]", ["a": "\u{202e}evil\u{2066}\u{2069}"]) == "[evil]")
  }

  @Test func `a value of the other direction is isolated`() {
    #expect(Self.text("Hi {{a}}!", ["a": "שלום"]) == "Hi \u{2068}שלום\u{2069}!")
    #expect(Self.text("שלום {{a}}!", ["a": "Ann"]) == "שלום \u{2068}Ann\u{2069}!")
    #expect(Self.text("שלום {{a}}!", ["a": "דן"]) == "שלום דן!")
    #expect(Self.text("Hi {{a}}!", ["a": "12"]) == "Hi 12!")
  }

  @Test(arguments: [
    ("Bern/1", "Bern%2F1"), ("a b&c=d?#", "a%20b%26c%3Dd%3F%23"), ("é", "%C3%A9"),
    ("..", "%252E%252E"),
    (".", "%252E"), ("a.b", "a.b"), ("\u{0}\n", "%00%0A"), ("-_~", "-_~"), ("%2F", "%252F"),
    ("", ""),
  ])
  func `in a link they are percent-encoded`(value: String, encoded: String) {
    let link = PlaceholderText("https://a.example/{{v}}/x?y={{v}}")
    #expect(
      link.text(with: ["v": value], in: .link) == "https://a.example/\(encoded)/x?y=\(encoded)")
  }

  @Test(arguments: [
    ("https://a.example/{{v}}", true), ("https://a.example?{{v}}", true), ("https://{{v}}/", false),
    ("https://a.{{v}}.example/", false), ("{{v}}://a.example/", false),
    ("https://a.example:{{v}}/", false),
    ("https://a.example/#{{v}}", false), ("https://a.example/{{v|<b>}}", true), ("tel:{{v}}", true),
    ("{{v}}", false), ("https://a.example/{{", false),
  ])
  func `of a link they are in its path or its query`(link: String, isRight: Bool) {
    var message = NotificationMessage("m")
    message.link = link
    #expect(message.faults(allowing: ["tel"]).isEmpty == isRight)
    message.link = nil
    message.actions = [MessageAction("a", label: "A")]
    message.actions?[0].link = link
    #expect(message.faults(allowing: ["tel"]).isEmpty == isRight)
  }

  @Test func `all texts have them, in all languages`() throws {
    let json = #"""
      {"message":"{{a}}","title":"{{b}}","subtitle":"{{c}}","alt":"{{d}}","link":"https://a.example/{{e}}",
      "actions":[{"id":"x","label":"{{f}}","input":"{{g}}"},{"id":"y","label":"Y","link":"https://a.example/{{h}}"}],
      "languages":{"de":{"message":"{{i}}","title":"{{j}}","link":"https://a.example/{{k}}","actions":{"x":"{{l}}"}}},
      "thread":"{{z}}","variables":{"a":"V"}}
      """#
    let message: NotificationMessage = try JSONCoding.decode(from: json.utf8)
    #expect(message.placeholders.all == Set("abcdefghijkl".map(String.init)))
    #expect(message.placeholders.required == Set("bcdefghijkl".map(String.init)))
    let values = Dictionary(uniqueKeysWithValues: "bcdefghijkl".map { (String($0), "=\($0)") })
    let own = message.personalized(with: values)
    #expect(own.text == "V" && own.title == "=b" && own.subtitle == "=c" && own.alt == "=d")
    #expect(own.link == "https://a.example/%3De")
    #expect(own.actions?.map(\.label) == ["=f", "Y"] && own.actions?[0].input == "=g")
    #expect(own.actions?[1].link == "https://a.example/%3Dh")
    #expect(own.languages?["de"]?.title == "=j" && own.languages?["de"]?.actions == ["x": "=l"])
    #expect(own.variables == nil && own.thread == "{{z}}")
    // A recipient's value is better than a variable.
    #expect(message.personalized(with: ["a": "mine"]).text == "mine")
  }

  @Test func `names and values have limits`() {
    func faults(_ json: String) -> [String] {
      do throws(ServiceError) {
        let new: NewNotification = try JSONCoding.request(
          from: Array(#"{"to":"a","message":"m",\#(json)}"#.utf8))
        return (new.message.faults(allowing: []) + new.valueFaults).map(\.member)
      } catch {
        return error.faults.map(\.member)
      }
    }
    let long = String(repeating: "x", count: 257)
    #expect(faults(#""variables":{"a":"\#(long)"}"#) == ["variables.a"])
    #expect(faults(#""variables":{"A":"x"}"#) == ["variables.A"])
    #expect(faults(#""variables":{"a":1,"b":[]}"#).sorted() == ["variables.a", "variables.b"])
    let many = (0...32).map { #""v\#($0)":"x""# }.joined(separator: ",")
    #expect(faults(#""variables":{\#(many)}"#) == ["variables"])
    #expect(faults(#""values":{"alice":{"a":"x"}}"#) == ["values"])
    #expect(
      faults(#""values":{"username:a.b":{"a":"x\u0000"}}"#) == [#"values["username:a.b"].a"#])
    #expect(faults(#""values":{"username:alice":7}"#) == ["values.username:alice"])
    let names = (0...32).map { "{{v\($0)|x}}" }.joined()
    #expect(faults(#""title":"\#(names)""#) == ["message"])
    let same = String(repeating: "{{a}}", count: 65)
    #expect(faults(#""alt":"\#(same.dropFirst(5))""#) == [])
    #expect(faults(#""alt":"\#(same)""#) == ["alt"])
    #expect(faults(#""onMissing":"ignore""#) == ["onMissing"])
  }
}
