import StandIns
import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct TLSTests {
  private static let answer: @Sendable (Request) -> ResponsePlan = { request in
    request.method == "POST"
      ? .collectingBody(limit: 4, deadline: .seconds(10)) { .bytes(200, $0, type: "a/b") }
      : .immediate(.text(200, "\(request.isSecure)"))
  }

  @Test func `serves HTTPS from TLS 1.2 up`() async throws {
    try await TestServer.with(Self.answer, tls: try TestIdentities.one()) { served in
      for version in ["1.2", "1.3"] {
        let client = try #require(
          RawClient(served.port, tls: "NORMAL:-VERS-ALL:+VERS-TLS\(version)"))
        #expect(client.ask("GET", "/").text == "true")
        #expect(client.ask("POST", "/", body: "abcd").text == "abcd")
      }
      #expect(RawClient(served.port, tls: "NORMAL:-VERS-ALL:+VERS-TLS1.1:%COMPAT") == nil)
    }
  }

  @Test func `reads a request in the same packet as a key update`() async throws {
    try await TestServer.with(Self.answer, tls: try TestIdentities.one()) { served in
      let client = try #require(RawClient(served.port, tls: "NORMAL:-VERS-ALL:+VERS-TLS1.3"))
      #expect(client.ask("GET", "/").text == "true")
      for _ in 0..<3 {
        client.changeKeys(andSend: "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(client.reply().text == "true")
      }
    }
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "\u{16}\u{3}\u{1}" + String(repeating: "\u{7f}", count: 20_000),
  ])
  func `disconnects clients that do not speak TLS, and continues`(bytes: String) async throws {
    var limits = ServerConfiguration.Limits()
    limits.head = .seconds(600)
    try await TestServer.with(Self.answer, limits: limits, tls: try TestIdentities.one()) {
      served in
      let stranger = RawClient(served.port)
      stranger.send(bytes)
      _ = stranger.rest()
      #expect(stranger.isClosed())
      let client = try #require(RawClient(served.port, tls: "NORMAL"))
      #expect(client.ask("GET", "/").text == "true")
    }
  }

  @Test func `rejects a body beyond the limit over TLS too`() async throws {
    try await TestServer.with(Self.answer, tls: try TestIdentities.one()) { served in
      let client = try #require(RawClient(served.port, tls: "NORMAL"))
      client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n")
      #expect(client.reply().status == 413)
    }
  }

  @Test func `uses a new certificate for new connections and keeps open ones`() async throws {
    try await TestServer.with(Self.answer, tls: try TestIdentities.one()) { served in
      let old = try #require(RawClient(served.port, tls: "NORMAL"))
      #expect(old.ask("GET", "/").status == 200)
      for identity in [try TestIdentities.two(), try TestIdentities.one()] {
        let before = try #require(RawClient(served.port, tls: "NORMAL")).certificate
        try served.server.reload(identity)
        for _ in 0..<10 {
          let client = try #require(RawClient(served.port, tls: "NORMAL"))
          #expect(client.certificate != before)
          #expect(client.ask("GET", "/").status == 200)
        }
        #expect(old.ask("GET", "/").status == 200)
      }
    }
  }

  @Test(arguments: [
    (
      TestCertificates.one.certificate, TestCertificates.two.key, "the key is not the certificate's"
    ),
    (TestCertificates.one.key, TestCertificates.one.key, "the certificate has none"),
    ("", "", "the certificate has none"),
    (
      TestCertificates.one.certificate, TestCertificates.one.certificate,
      "the key is not a private key"
    ),
    (
      TestCertificates.one.certificate
        + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
      TestCertificates.one.key, "the certificate has none"
    ),
  ])
  func `rejects what is no certificate with its key`(certificate: String, key: String, why: String)
    throws
  {
    let error = #expect(throws: ServerError.self) {
      try TLSIdentity([TLSKeyPair(certificate: certificate, key: key)], tickets: TLSTicketKeys())
    }
    #expect(error?.code == .badCertificate)
    #expect(error?.reason.contains(why) == true, "\(error?.reason ?? "")")
  }

  @Test func `rejects two certificates with the same kind of key`() throws {
    let error = #expect(throws: ServerError.self) {
      try TLSIdentity(
        [
          TestIdentities.pair(TestCertificates.one), TestIdentities.pair(TestCertificates.two),
        ], tickets: TLSTicketKeys())
    }
    #expect(error?.reason.contains("same kind") == true)
  }

  @Test func `gives each client the certificate that it accepts, ECDSA first`() async throws {
    try await TestServer.with(Self.answer, tls: try TestIdentities.both()) { served in
      let certificates = try [
        "NORMAL", "NORMAL:-VERS-ALL:+VERS-TLS1.2:-ECDHE-ECDSA",
        "NORMAL:-SIGN-ALL:+SIGN-RSA-PSS-RSAE-SHA256:+SIGN-RSA-SHA256",
      ].map { priorities in
        let client = try #require(RawClient(served.port, tls: priorities), "\(priorities)")
        #expect(client.ask("GET", "/").status == 200)
        return client.certificate
      }
      #expect(certificates[0] != certificates[1])
      #expect(certificates[1] == certificates[2])
    }
  }

  @Test func `speaks HTTP/1.1 only, and says so`() async throws {
    try await TestServer.with(Self.answer, tls: try TestIdentities.one()) { served in
      for protocols in [["http/1.1"], []] {
        let client = try #require(RawClient(served.port, tls: "NORMAL", protocols: protocols))
        #expect(client.tls?.chosenProtocol == protocols.first)
        #expect(client.ask("GET", "/").status == 200)
      }
      #expect(RawClient(served.port, tls: "NORMAL", protocols: ["h2"]) == nil)
    }
  }

  @Test func `disconnects a client that sends nothing but key updates`() async throws {
    try await TestServer.with(Self.answer, tls: try TestIdentities.one()) { served in
      let client = try #require(RawClient(served.port, tls: "NORMAL:-VERS-ALL:+VERS-TLS1.3"))
      #expect(client.ask("GET", "/").status == 200)
      #expect(!client.canChangeKeys(times: 100_000))
    }
  }

  @Test(arguments: ["1.2", "1.3"])
  func `sends what is longer than a record, and than the socket takes`(version: String) async throws
  {
    let body = (0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 / 1000) }
    try await TestServer.with(
      { _ in .immediate(.bytes(200, body, type: "a/b")) }, tls: try TestIdentities.one()
    ) { served in
      let client = try #require(
        RawClient(
          served.port, tls: "NORMAL:-VERS-ALL:+VERS-TLS\(version)", keeping: 10_000))
      for _ in 0..<2 { #expect(client.ask("GET", "/").body == body) }
    }
  }
}
