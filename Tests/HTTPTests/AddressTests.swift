import Testing

@testable import HTTP

@Suite struct AddressTests {
  @Test(
    arguments: [
      ("::ffff:127.0.0.1", "127.0.0.1"), ("::FFFF:7f00:1", "127.0.0.1"),
      ("2001:DB8:0:0::1", "2001:db8::1"), ("fe80::1%eth0", "fe80::1"), ("fe80::1%", nil),
      ("1.2.3", nil), ("1.2.3.4%eth0", nil), ("127.0.0.1\0", nil), ("localhost", nil), ("", nil),
    ] as [(String, String?)])
  func `an address has one spelling`(text: String, canonical: String?) {
    #expect(Address.canonical(text[...]) == canonical)
  }

  @Test func `loopback is known in every spelling, and by no name`() {
    for text in ["127.0.0.1", "127.9.9.9", "::1", "0:0::1", "::ffff:127.0.0.1"] {
      #expect(Address.isLoopback(text))
    }
    for text in ["127.evil.example", "::2", "::ffff:1.2.3.4"] { #expect(!Address.isLoopback(text)) }
  }

  @Test func `connections are limited by the network of an IPv6 address`() {
    var configuration = ServerConfiguration()
    configuration.limits.connectionsPerAddress = 2
    let admission = Admission(configuration)
    #expect(admission.admit("2001:db8::1") == .welcome)
    #expect(admission.admit("2001:db8::2") == .welcome)
    #expect(admission.admit("2001:db8::3") == .turnedAway)
    #expect(admission.admit("2001:db8:0:1::1") == .welcome)
    admission.leave("2001:db8::1")
    #expect(admission.admit("2001:db8::3") == .welcome)
    for address in ["2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"] { admission.leave(address) }
    #expect(admission.count == 0)
  }

  @Test func `a dual-stack listener knows an IPv4 proxy`() async throws {
    var configuration = ServerConfiguration()
    configuration.host = "::"
    configuration.trustedProxies = ["127.0.0.1"]
    let server = try Server(
      configuration, responder: Served.Answering { .now(.text(200, $0.peer)) }, log: { _ in })
    let reply = RawClient(server.port).ask("GET", "/", "X-Forwarded-For: 1.2.3.4")
    #expect(reply.text == "1.2.3.4")
    await server.stop(grace: .zero)
  }
}
