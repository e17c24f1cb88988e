import Foundation
import Testing

@Suite struct URLPluginTests {
  @Test func `makes a card of a literal link`() throws {
    let run = try PluginRun("url", verb: "render", payload: "HTTPS://Example.COM./a?b=c#d")
    #expect(run.fields["Content-Type"] == "application/json")
    #expect(run.text == #"{"host":"example.com","url":"https://example.com/a?b=c#d"}"#)
  }

  @Test func `reads the link in the sample shortcut`() throws {
    let sample = PluginRun.repository.appending(path: "assets/url/welcome.url")
    let facts = try PluginRun("url", verb: "validate", payload: "welcome.url", asset: sample).json
    #expect(facts["url"] as? String == "https://www.swift.org/getting-started/")
    #expect(facts["contentType"] as? String == "application/json")
  }

  @Test func `takes a title from a JSON object`() throws {
    let payload = #"{"url":"https://example.com/","title":"Sale \"today\""}"#
    let card = try PluginRun("url", verb: "render", payload: payload).json
    #expect(card["title"] as? String == "Sale \"today\"")
  }

  @Test func `shows an international host in both of its forms`() throws {
    let written = try PluginRun("url", verb: "render", payload: "https://bücher.example/ä#ö").json
    let encoded = try PluginRun("url", verb: "render", payload: "https://xn--bcher-kva.example/")
    for card in [written, try encoded.json] {
      #expect(card["host"] as? String == "xn--bcher-kva.example")
      #expect(card["displayHost"] as? String == "bücher.example")
    }
    #expect(written["url"] as? String == "https://xn--bcher-kva.example/%c3%a4#%c3%b6")
  }

  @Test(arguments: [
    ("https://pаypal.com", "mixes Cyrillic and Latin"), ("https://аррӏе.com", "looks like apple"),
    ("https://xn--80ak6aa92e.com", "looks like apple"), ("http://0x7f.1/", "is an address"),
    ("http://[2001:db8::1]/", "is an address"), ("http://intranet/", "one network only"),
  ])
  func `warns of a host that may deceive or not be found`(link: String, warning: String) throws {
    let facts = try PluginRun("url", verb: "validate", payload: link).json
    let advice = try #require(facts["advice"] as? [String])
    #expect(advice.contains { $0.contains(warning) })
  }

  @Test func `warns in the card itself of a name that imitates another`() throws {
    let card = try PluginRun("url", verb: "render", payload: "https://аррӏе.com").json
    #expect((card["warning"] as? String)?.contains("looks like apple") == true)
    let honest = try PluginRun("url", verb: "render", payload: "https://apple.com").json
    #expect(honest["warning"] == nil)
  }

  @Test(arguments: [
    "https://example.com", "https://日本語.jp", "https://пример.рф", "https://한국.kr",
    "https://ελλάδα.gr",
  ])
  func `has nothing to say about honest hosts`(link: String) throws {
    #expect(try PluginRun("url", verb: "validate", payload: link).json["advice"] == nil)
  }

  @Test(arguments: [
    ("https://1./", "host 1. is not a valid name"),
    ("ftp://example.com/", "only http and https"), ("javascript:alert(1)", "not a web address"),
    ("//example.com", "not a web address"), ("", "empty"), ("https://", "not a web address"),
    ("https://user@example.com/", "user name"), ("https://a:b@example.com/", "user name"),
    ("https://example.com\\@evil.example/", "U+005C"), ("https://exam ple.com/", "U+0020"),
    ("https://ex\u{202E}ample.com/", "U+202E"), ("https://a..b/", "not a valid name"),
    ("https://\(String(repeating: "a", count: 64)).com/", "not a valid name"),
    ("https://example.com:99999/", "not a web address"), (#"{"title":"no link"}"#, #"{"url""#),
    ("https://example.com/\(String(repeating: "a", count: 2048))", "phones take 2048"),
    ("[InternetShortcut]\nName=x", "URL="),
  ])
  func `refuses a link that nobody should be sent`(payload: String, reason: String) throws {
    let run = try PluginRun("url", verb: "validate", payload: payload)
    #expect(run.status == 422)
    #expect(run.text.contains(reason))
  }
}
