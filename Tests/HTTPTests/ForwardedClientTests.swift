import Testing
import Primitives

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct ForwardedClientTests {
  private static var proxies: IPAddressSet {
    var proxies = IPAddressSet()
    for proxy in ["127.0.0.1", "10.0.0.1", "::1", "172.30.0.0/16", "2001:db8:1::/48"] {
      let isAddress = proxies.insert(proxy)
      #expect(isAddress)
    }
    return proxies
  }

  @Test(
    arguments: [
      ("9.9.9.9", "1.2.3.4", nil, "9.9.9.9", false, false),
      ("9.9.9.9", "1.2.3.4", "https", "9.9.9.9", false, false),
      ("127.0.0.1", nil, nil, "127.0.0.1", false, false),
      ("127.0.0.1", "1.2.3.4", "https", "1.2.3.4", true, true),
      ("127.0.0.1", "6.6.6.6, 1.2.3.4", "http", "1.2.3.4", false, true),
      ("127.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.1", "HTTPS", "1.2.3.4", true, true),
      ("::1", "2001:DB8::0:1", nil, "2001:db8::1", false, true),
      ("127.0.0.1", "1.2.3.4, <script>", nil, "127.0.0.1", false, false),
      ("127.0.0.1", "1.2.3.4:5678", nil, "1.2.3.4", false, true),
      ("127.0.0.1", "[2001:DB8:0::1]:443, ::FFFF:10.0.0.1", nil, "2001:db8::1", false, true),
      ("127.0.0.1", "[fe80::1%eth0]", nil, "fe80::1", false, true),
      ("127.0.0.1", "1. 2.3.4", nil, "127.0.0.1", false, false),
      ("127.0.0.1", "[1.2.3.4]", nil, "127.0.0.1", false, false),
      ("127.0.0.1", "[::1", nil, "127.0.0.1", false, false),
      ("127.0.0.1", "1.2.3.4:port", nil, "127.0.0.1", false, false),
      ("127.0.0.1", "1.2.3.4, ", nil, "127.0.0.1", false, false),
      ("127.0.0.1", "127.0.0.1", nil, "127.0.0.1", false, true),
      ("127.0.0.1", "unknown, 127.0.0.1", nil, "127.0.0.1", false, false),
      ("127.0.0.1", "6.6.6.6, 127.0.0.1", nil, "6.6.6.6", false, true),
      ("127.0.0.1", "6.6.6.6\u{600}, 1.2.3.4", nil, "1.2.3.4", false, true),
      ("127.0.0.1", "", "https", "127.0.0.1", true, false),
      ("172.30.255.7", "1.2.3.4, 172.30.0.1", "https", "1.2.3.4", true, true),
      ("2001:db8:1::7", "1.2.3.4", nil, "1.2.3.4", false, true),
      ("172.31.0.1", "1.2.3.4", "https", "172.31.0.1", false, false),
      ("172.30.0.1", "6.6.6.6, 172.31.0.1", nil, "172.31.0.1", false, true),
    ] as [(String, String?, String?, String, Bool, Bool)])
  func `believes trusted proxies only`(
    peer: String, hops: String?, scheme: String?, client: String, isSecure: Bool,
    isForwarded: Bool
  ) {
    var fields = Fields()
    fields["X-Forwarded-For"] = hops
    fields["X-Forwarded-Proto"] = scheme
    let found = ForwardedClient(
      peer: peer, isSecure: false, fields: fields, trustedProxies: Self.proxies)
    #expect(found.peer == client)
    #expect(found.isSecure == isSecure)
    #expect(found.isForwarded == isForwarded)
  }

  @Test func `responders see the client behind a trusted proxy`() async throws {
    for trusted in [["127.0.0.1"], ["127.0.0.0/30"], []] {
      var configuration = ServerConfiguration()
      for proxy in trusted { _ = configuration.trust(proxy) }
      let server = try Server(
        configuration,
        responder: TestServer.ClosureResponder {
          .immediate(.text(200, "\($0.peer) \($0.isSecure)"))
        },
        log: .silent)
      let reply = RawClient(server.port).ask(
        "GET", "/", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: https")
      #expect(reply.text == (trusted.isEmpty ? "127.0.0.1 false" : "1.2.3.4 true"))
      await server.stop(grace: .zero)
    }
  }
}
