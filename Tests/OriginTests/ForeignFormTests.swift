import Foundation
import HTTP
import Media
import RichPushAPI
import Testing

@testable import Origin

/// How clients of other programs write texts, buttons, times and forms.
@Suite struct ForeignFormTests {
  @Test(arguments: [
    ("plain", "plain"), ("Grüße 🦊", "Grüße 🦊"),
    ("=?UTF-8?B?8J+mig==?=", "🦊"), ("=?utf-8?q?Gr=C3=BC=C3=9Fe_da?=", "Grüße da"),
    ("=?UTF-8?B?8J+mig?=", "🦊"), ("a =?UTF-8?Q?b?= c", "a b c"),
    ("=?UTF-8?Q?a?= =?UTF-8?Q?b?=", "ab"), ("=?ISO-8859-1?Q?Gr=FC=DFe?=", "Grüße"),
    ("=?utf-8*de?Q?a?=", "a"), ("=?koi8-r?B?8J+mig==?=", "=?koi8-r?B?8J+mig==?="),
    ("=?UTF-8?B?%%%?=", "=?UTF-8?B?%%%?="), ("=?UTF-8?Q?=C3?=", "=?UTF-8?Q?=C3?="),
    ("1 =? 2", "1 =? 2"), ("=?UTF-8?Q?a", "=?UTF-8?Q?a"), ("=?", "=?"),
  ])
  func `a field may have encoded words`(written: String, read: String) {
    #expect(ForeignText.field(Array(written.utf8)) == read)
  }

  @Test func `a field that is not UTF-8 is ISO 8859-1`() {
    #expect(ForeignText.field([0x47, 0x72, 0xFC, 0xDF, 0x65]) == "Grüße")
  }

  @Test(
    arguments: [
      ("view, Open, https://example.org/a?b=c", ["Open https://example.org/a?b=c false"]),
      ("action=view, label=Open, url=https://e.org, clear=True", ["Open https://e.org true"]),
      (
        #"view, "a, \"b\"; c", https://e.org; view, 'it''s', x"#, []
      ),
      (#"view, "a, \"b\"; c", https://e.org;"#, [#"a, "b"; c https://e.org false"#]),
      (
        "view,A,https://a.org;view,B,https://b.org",
        ["A https://a.org false", "B https://b.org false"]
      ),
      (
        #"[{"action":"view","label":"A","url":"https://a.org","clear":true}]"#,
        ["A https://a.org true"]
      ),
      (
        #"[{"id":"1","action":"view","label":"A","url":"https://a.org","headers":{},"extras":null}]"#,
        ["A https://a.org false"]
      ),
      ("[]", []),
      ("http, Off, https://e.org", []), ("broadcast, Off", []), ("view, Open", []), ("view", []),
      ("view, a, b, c", []), ("view, \"a", []), ("copy, a, b", []), ("[{}]", []), ("[1]", []),
      ("[", []), ("view, A, https://a.org, headers.x=1", []), ("view, A, b, clear=perhaps", []),
      (#"[{"action":"view","label":"A","url":"b","body":"c"}]"#, []),
      ("view,1,a;view,2,a;view,3,a;view,4,a", []),
    ] as [(String, [String])])
  func `buttons are in ntfy's notation or in JSON, and only open links`(
    text: String, views: [String]
  ) {
    let found = try? NtfyActions(text).views.map { "\($0.label) \($0.url) \($0.clear)" }
    // What cannot be read has no buttons, and is an error, but for the empty array.
    #expect(found ?? [] == views && (found == nil) == (views.isEmpty && text != "[]"))
  }

  @Test(
    arguments: [
      ("1000", 1000.0), ("30m", 2700), ("2 days", 900 + 172_800), ("1h30m", 900 + 5400),
      ("10s", 910), ("1.5h", 900 + 5400), ("3 Hours", 900 + 10_800),
      ("1970-01-01T00:20:00Z", 1200),
      ("899", nil), ("tomorrow 9am", nil), ("30", nil), ("", nil), ("m", nil), ("1x", nil),
      ("99999999999999999999", nil), ("400000 days", nil), ("1970-01-01", nil),
    ] as [(String, Double?)])
  func `a delay is a Unix time, a duration or a time of RFC 3339`(text: String, time: Double?) {
    let found = try? NtfyDelay.time(text, now: Date(timeIntervalSince1970: 900))
    #expect(found?.timeIntervalSince1970 == time)
  }

  @Test func `a message's ID leads back to its notification`() {
    for id in [0, 1, 35, 36, 1_000_000, (1 << 53) - 1] {
      let text = NtfyID.text(id)
      #expect(text.utf8.count == 12 && NtfyID.number(text) == id)
    }
    for other in [
      "n", "n0000000000", "n00000000-01", "N00000000001", "x00000000001", NtfyID.random(),
    ] {
      #expect(NtfyID.number(other) == nil)
    }
  }

  @Test func `a sequence in one topic is not that in another, however long their names are`() throws
  {
    let long = String(repeating: "a", count: 64)
    let subjects = [
      try NtfyTopic("a").subject("b"), try NtfyTopic("b").subject("a"),
      try NtfyTopic(long).subject("a"), try NtfyTopic(long).subject(long),
    ]
    #expect(Set(subjects).count == 4 && subjects.allSatisfy { $0.utf8.count <= 64 })
    #expect(subjects[0] == "a/b")
  }

  @Test func `settings name APIs, and where ntfy's is`() throws {
    let all = try CompatibilitySettings(
      ["ntfy, gotify", "bark,webhooks"], ntfy: .host("ntfy.example.org"))
    #expect(all.apis == Set(CompatibilitySettings.API.allCases))
    let address = CompatibilitySettings.Place.address(host: "0.0.0.0", port: 1)
    #expect(try !CompatibilitySettings(["ntfy"], ntfy: address).isLoopback)
    for (list, place) in [
      ("ntfy", nil), ("", .host("a")), ("pushover", nil), ("ntfy", .host("a b")),
      ("ntfy", .host("")),
    ] as [(String, CompatibilitySettings.Place?)] {
      #expect(throws: OperatorError.self) { try CompatibilitySettings([list], ntfy: place) }
    }
  }

  @Test func `tags that are the short names of emoji are known`() {
    #expect(NtfyEmoji.named("warning") == "⚠️" && NtfyEmoji.named("+1") == "👍")
    #expect(NtfyEmoji.named("beetle") == "🪲" && NtfyEmoji.named("backup") == nil)
  }

  @Test func `no log has a token, wherever clients write it`() throws {
    for target in [
      "/rpt_abc/title/body", "/message?token=rpt_abc", "/news?auth=QmFzaWM", "/%72pt_abc",
      "/message?token=abc", "/news?A=b&Auth=c",
    ] {
      #expect(try Request("GET", target).loggedTarget == "/-", "\(target)")
    }
  }
}
