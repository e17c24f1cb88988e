import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct BrowserPolicyTests {
  private static let hosts: Set<String> = ["Push.Example:8443", "[2001:db8::5]"]

  private static func status(
    _ fields: Fields, target: String = "/", origins: Set<String> = []
  ) throws -> Int {
    var policy = try #require(BrowserPolicy(hosts: hosts, origins: origins))
    do throws(HTTPError) {
      try policy.check(try Request("POST", target, fields: fields))
      return 200
    } catch { return error.status }
  }

  @Test(arguments: [
    "localhost", "LocalHost:8080", "localhost:", "127.0.0.1", "127.0.0.1:1", "127.255.3.4:65535",
    "[::1]", "[::1]:8080", "[0:0::1]:80", "[::ffff:127.0.0.1]", "push.example", "PUSH.EXAMPLE:443",
    "[2001:db8::5]:8443",
  ])
  func `accepts loopback and the operator's hosts, with any port`(host: String) throws {
    #expect(try Self.status(["Host": host]) == 200)
    #expect(try Self.status(["Host": "localhost"], target: "http://\(host)/a?b=://c") == 200)
  }

  @Test(arguments: [
    "", "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example",
    "evil.example:127.0.0.1", "localhost:80:80", "evil.example#localhost", "a@localhost",
    "localhost@evil.example", "127.0.0.1@evil.example:80", "10.0.0.1", "0.0.0.0", "[::2]",
    "[::1]evil.example", "[::1", "0x7f000001", "2130706433", "127.0.0.1:80, evil.example",
    "localhost:port", "xlocalhost", "sub.push.example", "push.example.",
  ])
  func `rejects any other host with 421`(host: String) throws {
    #expect(try Self.status(["Host": host]) == 421)
    guard !host.contains("#"), !host.contains(" ") else { return }
    #expect(try Self.status(["Host": "localhost"], target: "http://\(host)/a") == 421)
  }

  @Test(
    arguments: [
      (nil, nil, 200), ("none", nil, 200), ("same-origin", nil, 200), ("same-site", nil, 200),
      ("cross-site", nil, 403), ("none, cross-site", nil, 403), ("Cross-Site", nil, 403),
      ("", nil, 403),
      (nil, "http://localhost:8080", 200), ("same-origin", "https://localhost:8080", 200),
      ("cross-site", "http://localhost:8080", 403), (nil, "http://localhost:3000", 403),
      ("same-site", "http://localhost:3000", 403), (nil, "http://localhost", 403),
      (nil, "http://127.0.0.1:8080", 403), (nil, "https://evil.example", 403), (nil, "null", 403),
      (nil, "", 403), (nil, "http://localhost:8080, https://evil.example", 403),
      ("cross-site", "https://app.example", 200), (nil, "https://app.example", 200),
      (nil, "https://app.example.evil.example", 403),
    ] as [(String?, String?, Int)])
  func `rejects pages of other origins unless they are allowed`(
    site: String?, origin: String?, status: Int
  ) throws {
    var fields: Fields = ["Host": "localhost:8080"]
    fields["Sec-Fetch-Site"] = site
    fields["Origin"] = origin
    #expect(try Self.status(fields, origins: ["https://app.example"]) == status)
    #expect(try Self.status(fields, origins: ["*"]) == 200)
  }

  @Test func `there is no policy if no hosts are set`() {
    #expect(BrowserPolicy(hosts: nil, origins: []) == nil)
  }
}
