import Testing
import Primitives

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct IPAddressTests {
  @Test(
    arguments: [
      ("::ffff:127.0.0.1", "127.0.0.1"), ("::FFFF:7f00:1", "127.0.0.1"),
      ("2001:DB8:0:0::1", "2001:db8::1"), ("fe80::1%eth0", "fe80::1"), ("fe80::1%", nil),
      ("1.2.3", nil), ("1.2.3.4%eth0", nil), ("127.0.0.1\0", nil), ("localhost", nil), ("", nil),
    ] as [(String, String?)])
  func `an address has one spelling`(text: String, canonical: String?) {
    #expect(IPAddress.canonical(text[...]) == canonical)
  }

  @Test func `loopback is recognised in every spelling, but by no name`() {
    for text in ["127.0.0.1", "127.9.9.9", "::1", "0:0::1", "::ffff:127.0.0.1"] {
      #expect(IPAddress.isLoopback(text))
    }
    for text in ["127.evil.example", "::2", "::ffff:1.2.3.4"] {
      #expect(!IPAddress.isLoopback(text))
    }
  }

  @Test func `connections are limited by the network of an IPv6 address`() {
    var configuration = ServerConfiguration()
    configuration.limits.connectionsPerAddress = 2
    let limiter = ConnectionLimiter(configuration)
    #expect(limiter.admit("2001:db8::1") == .accepted)
    #expect(limiter.admit("2001:db8::2") == .accepted)
    #expect(limiter.admit("2001:db8::3") == .rejected)
    #expect(limiter.admit("2001:db8:0:1::1") == .accepted)
    limiter.release("2001:db8::1")
    #expect(limiter.admit("2001:db8::3") == .accepted)
    for address in ["2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"] { limiter.release(address) }
    #expect(limiter.count == 0)
  }

  @Test func `a trusted proxy, which connects for many clients, has no limit of its own`() {
    var configuration = ServerConfiguration()
    configuration.limits.connectionsPerAddress = 2
    _ = configuration.trust("192.0.2.1")
    let limiter = ConnectionLimiter(configuration)
    for address in ["192.0.2.1", "192.0.2.2"] {
      let decisions = (0..<3).map { _ in limiter.admit(address) }
      #expect(decisions.last == (address == "192.0.2.1" ? .accepted : .rejected))
      for _ in decisions.filter({ $0 != .rejected }) { limiter.release(address) }
    }
  }

  @Test(arguments: [
    ("2001:db8::ff00:0:0:1", "2001:db8::/64"), ("2001:db8:0:ff:1::", "2001:db8:0:ff::/64"),
    ("192.0.2.1", "192.0.2.1"), ("", ""),
  ])
  func `an IPv6 address belongs to a network of 64 bits`(address: String, network: String) {
    #expect(IPAddress.network(address) == network)
  }

  @Test func `a dual-stack listener recognises an IPv4 proxy`() async throws {
    var configuration = ServerConfiguration()
    configuration.host = "::"
    _ = configuration.trust("127.0.0.1")
    let server = try Server(
      configuration, responder: TestServer.ClosureResponder { .immediate(.text(200, $0.peer)) },
      log: .silent)
    let reply = RawClient(server.port).ask("GET", "/", "X-Forwarded-For: 1.2.3.4")
    #expect(reply.text == "1.2.3.4")
    #expect(RawClient(server.port).ask("GET", "/").text == "127.0.0.1")
    await server.stop(grace: .zero)
  }

  // MARK: - Ranges

  @Test(
    arguments: [
      ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.0", false),
      ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("10.0.0.5", "10.0.0.5", true),
      ("10.0.0.5", "10.0.0.4", false), ("10.0.0.4/31", "10.0.0.5", true),
      ("10.0.0.4/31", "10.0.0.6", false), ("192.168.128.0/17", "192.168.127.255", false),
      ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false), ("::/0", "8.8.8.8", false),
      ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
      ("2001:DB8:0::1", "2001:db8::1", true), ("::ffff:10.0.0.0/8", "10.9.9.9", true),
      ("10.0.0.0/8", "", false), ("10.0.0.0/8", "unknown", false),
    ] as [(String, String, Bool)])
  func `a range contains the addresses with its prefix`(
    range: String, address: String, isInside: Bool
  ) throws {
    #expect(try #require(IPAddressRange(range)).contains(address) == isInside)
  }

  @Test(arguments: [
    "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8",
    "10.0.0.0/0008", "10.0.0.5/8", "10.0.0", "2001:db8::/129", "2001:db8::1/64", "localhost",
    "10.0.0.0/8 ", "1e1.0.0.0", "10.0.0.0/٨",
  ])
  func `rejects text that is no range, and bits beyond the prefix`(text: String) {
    #expect(IPAddressRange(text) == nil)
  }
}
