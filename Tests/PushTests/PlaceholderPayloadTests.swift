import RichPushAPI
import Testing

@testable import Push

/// Payloads with values in them.
@Suite struct PlaceholderPayloadTests {
  /// What a value may consist of.
  private static let pieces: [String] = [
    "a", "Z", " ", "\"", "\\", "\\u0041", "/", "{", "}", "{{x}}", "é", "e\u{301}", "👩‍👩‍👧", "\n",
    "\u{0}",
    "\u{1}", "\u{2}", "\u{7f}", "'", "<b>", "%", "\u{fffd}", "שלום", "\u{202e}",
  ]

  @Test func `any value is in the payload as it is, but for control characters`() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      let value = (0..<Int.random(in: 0...30, using: &random)).map { _ in
        Self.pieces.randomElement(using: &random) ?? ""
      }.joined()
      var message = NotificationMessage("[{{value}}]")
      message.title = "{{value|none}}."
      let own = message.personalized(with: ["value": value])
      let push = PushMessage(7, own, richType: nil, form: .alert)
      let kept = String(
        String.UnicodeScalarView(
          value.unicodeScalars.filter {
            $0.properties.generalCategory != .control && $0 != "\u{202e}"
          }))
      let isolates: Set<Character> = ["\u{2068}", "\u{2069}"]
      for template in [PayloadTemplate.apple(push), .web(push)] {
        let payload = try #require(JSONValue(template.payload().json.utf8))
        let text = try #require(payload.aps.alert.body.text ?? payload.richMessage.text)
        let title = try #require(payload.aps.alert.title.text ?? payload.richTitle.text)
        #expect(
          Array(text.filter { !isolates.contains($0) }.utf8) == Array("[\(kept)]".utf8), "\(value)")
        #expect(Array(title.filter { !isolates.contains($0) }.utf8) == Array("\(kept).".utf8))
      }
    }
  }

  @Test func `a text is cut after its values are in it`() throws {
    let message = NotificationMessage("{{a}} {{a}} \(String(repeating: "x", count: 3900))")
    let own = message.personalized(with: ["a": String(repeating: "ä", count: 128)])
    let template = PayloadTemplate.apple(PushMessage(7, own, richType: nil, form: .alert))
    #expect(template.isCut && template.largestSize <= PushPayload.limit)
    let payload = try #require(JSONValue(template.payload().json.utf8))
    #expect(
      payload.aps.alert.body.text?.hasPrefix(String(repeating: "ä", count: 128) + " ä") == true)
  }

  @Test func `a browser is told the language`() throws {
    var message = NotificationMessage("hi")
    message.language = "de"
    let web = PayloadTemplate.web(PushMessage(7, message, richType: nil, form: .alert))
    #expect(JSONValue(web.payload().json.utf8)?.lang.text == "de")
  }
}
