import Testing

@testable import RichPushAPI

/// Which texts a reader gets.
@Suite struct LanguageTests {
  private static var message: NotificationMessage {
    var message = NotificationMessage("Your parcel is there.")
    (message.title, message.subtitle) = ("Parcel", "Order 7")
    message.actions = [MessageAction("track", label: "Track"), MessageAction("no", label: "No")]
    message.language = "en"
    var german = MessageTranslation("Ihr Paket ist da.")
    (german.title, german.actions) = ("Paket", ["track": "Verfolgen"])
    var swiss = MessageTranslation()
    swiss.title = "Päckli"
    message.languages = ["de": german, "de-CH": swiss, "zh-Hant": MessageTranslation("包裹到了")]
    return message
  }

  @Test func `each text is in the best language that it has`() {
    let swiss = Self.message.localized(for: ["de-CH-1996", "fr"])
    #expect(swiss.title == "Päckli" && swiss.text == "Ihr Paket ist da.")
    #expect(swiss.subtitle == "Order 7")
    #expect(swiss.actions?.map(\.label) == ["Verfolgen", "No"])
    #expect(swiss.language == "de" && swiss.languages == nil)
    #expect(Self.message.localized(for: ["fr", "zh-hant-TW"]).text == "包裹到了")
  }

  @Test func `who prefers none of its languages, or its own, gets the message as it is`() {
    for ranges in [[], ["fr"], ["en-GB"], ["en", "de"], ["zh"]] {
      let message = Self.message.localized(for: ranges)
      #expect(message.text == "Your parcel is there." && message.language == "en", "\(ranges)")
      #expect(message.actions == Self.message.actions)
    }
    #expect(NotificationMessage("hi").localized(for: ["de"]) == "hi")
  }

  // RFC 4647, section 3.4.
  @Test func `a range is shortened until there is such a language`() {
    let range = "zh-Hant-CN-x-private1-private2"
    for tag in ["zh-Hant-CN-x-private1", "zh-Hant-CN", "zh-Hant", "zh"] {
      #expect(LanguageTag.lookup([range], among: [tag, "en"]) == tag)
    }
    // A single letter is no language of its own.
    #expect(LanguageTag.lookup([range], among: ["zh-Hant-CN-x"]) == nil)
    #expect(LanguageTag.lookup(["de-CH", "fr"], among: ["fr", "DE"]) == "DE")
    #expect(LanguageTag.lookup(["de"], among: ["de-CH"]) == nil)
  }

  @Test(arguments: [
    ("de-CH, en;q=0.5, fr;q=0.8", ["de-CH", "fr", "en"]), ("*", []), ("", []),
    ("de;q=0, en", ["en"]),
    ("en ; q=0.5 , de", ["de", "en"]), ("de;q=x, en;q=0.1", ["en"]), ("de\u{7f}, -, x, en", ["en"]),
    (String(repeating: "de,", count: 5000), Array(repeating: "de", count: 16)),
  ])
  func `Accept-Language says what a client prefers`(field: String, ranges: [String]) {
    #expect(LanguageTag.ranges(of: field) == ranges)
  }

  @Test(arguments: [
    ("de", true), ("de-CH", true), ("zh-Hant-TW", true), ("gsw", true), ("de-", false),
    ("d", false),
    ("de_CH", false), ("", false), ("1a", false), ("de-CH-x", false), ("de-abcdefghi", false),
    ("x-private", false), ("dé", false),
  ])
  func `a language has a well-formed tag`(tag: String, isValid: Bool) {
    #expect(LanguageTag.isValid(tag) == isValid)
  }

  @Test func `one answer names all that is wrong with other languages`() {
    let json = #"""
      {"message":"m","language":"english?","actions":[{"id":"a","label":"A"}],"languages":{
      "de":{"title":"T","message":"\u0000"},"fr":{"actions":{"b":"B","a":""}},"x_y":{},"EN":{},"en":{}}}
      """#
    let message: NotificationMessage? = try? JSONCoding.decode(from: json.utf8)
    #expect(
      message.map { Set($0.faults(allowing: []).map(\.member)) } == [
        "language", "languages", "languages.de.title", "languages.de.message",
        "languages.fr.actions.a", "languages.fr.actions.b", "languages.x_y",
      ])
    #expect(
      throws: ServiceError.self, "an unknown member is refused",
      performing: {
        let body = #"{"to":"a","message":"m","languages":{"de":{"body":"x"},"fr":7}}"#
        do throws(ServiceError) {
          let _: NewNotification = try JSONCoding.request(from: Array(body.utf8))
        } catch {
          #expect(Set(error.faults.map(\.member)) == ["languages.de.body", "languages.fr"])
          throw error
        }
      })
  }

  @Test func `a merge patch changes one language`() throws {
    var old = NewNotification("m", to: .users(["alice"]))
    old.message = Self.message
    let patch = #"{"languages":{"de":{"title":null},"zh-Hant":null,"fr":{"title":"Colis"}}}"#
    let new = try old.changed(by: Array(patch.utf8))
    #expect(new.message.languages?.keys.sorted() == ["de", "de-CH", "fr"])
    #expect(new.message.languages?["de"]?.title == nil)
    #expect(new.message.languages?["de"]?.text == "Ihr Paket ist da.")
  }
}
