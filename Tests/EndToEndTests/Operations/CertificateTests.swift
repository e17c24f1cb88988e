import Foundation
import StandIns
import Testing
import Waiting

/// HTTPS by the server itself.
@Suite(.timeLimit(.minutes(5))) struct CertificateTests {
  /// What a server with a certificate says when it starts, and a client of this machine of it.
  private func start(
    _ certificate: TemporaryCertificate
  ) async throws -> (log: String, metrics: String, client: (exitCode: Int32, errors: String)) {
    let folder = try Scratch()
    let server = try Child(
      "richpush",
      ["serve", "--demo", "--listen", "127.0.0.1:0", "--data", folder.folder.path + "/var"]
        + ["--assets", folder.folder.path + "/assets", "--plugins", folder.folder.path]
        + ["--tls-certificate", certificate.path, "--tls-key", certificate.key])
    var lines = server.lines.makeAsyncIterator()
    let line = await lines.next() ?? ""
    let address = String(try #require(line.split(separator: " ").last, "\(server.errors)"))
      .replacing("127.0.0.1", with: "localhost")
    let client = try await Child.run("richpush", ["health", "--server", address])
    let metrics = try await Child.run("/usr/bin/curl", ["-sk", "\(address)/metrics"])
    server.send(SIGTERM)
    #expect(await server.exitCode() == 0)
    return (
      server.errors, metrics.output.joined(separator: "\n"), (client.exitCode, client.errors)
    )
  }

  @Test func `an expired certificate is said at the start, measured, and told by a client`()
    async throws
  {
    let expired = try await start(TemporaryCertificate(days: -90 ... -1))
    #expect(expired.log.contains("error config: the TLS certificate"), "\(expired.log)")
    #expect(expired.log.contains("expired at"))
    let expiry = expired.metrics.firstMatch(
      of: #/richpush_certificate_expires_seconds\{certificate="\/.*\/certificate.pem"\} (-?\d+)/#)?
      .1
    let left = try #require(expiry.flatMap { Double($0) }, "\(expired.metrics)")
    #expect(abs(left + 86_400) < 3600)
    #expect(expired.client.exitCode == 69)
    // Its dates are looked at when somebody vouches for them: AuthoritySystemTests.
    #expect(
      expired.client.errors.contains("by an authority that this machine does not trust"),
      "\(expired.client.errors)")
    let unknown = try await start(TemporaryCertificate(days: -1...365))
    #expect(!unknown.log.contains("the TLS certificate"), "\(unknown.log)")
    #expect(
      unknown.client.errors.contains("by an authority that this machine does not trust"),
      "\(unknown.client.errors)")
  }

  @Test func `SIGHUP reads the certificate at once, and a bad one changes nothing`() async throws {
    let (first, second) = (try StandIn("hub"), try StandIn("apns"))
    let scratch = try Scratch()
    func install(_ authority: StandIn) throws {
      for (file, name) in [("leaf.pem", "cert.pem"), ("leaf.key", "key.pem")] {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: authority.folder + "/" + file)))
        try scratch.drop(bytes, as: name)
      }
    }
    try install(first)
    let folder = scratch.folder.path
    let server = try Child(
      "richpush",
      ["serve", "--demo", "--listen", "127.0.0.1:0", "--data", folder + "/var"]
        + ["--assets", folder + "/assets", "--plugins", folder]
        + ["--tls-certificate", folder + "/cert.pem", "--tls-key", folder + "/key.pem"])
    var lines = server.lines.makeAsyncIterator()
    let line = await lines.next() ?? ""
    let address = try #require(line.split(separator: " ").last, "\(server.errors)")
    #expect(address.hasPrefix("https://"))

    func isTrusted(by authority: StandIn) async throws -> Bool {
      let answer = try await Child.run(
        "/usr/bin/curl", ["-s", "--cacert", authority.certificates, "\(address)/healthz"])
      return answer.output == ["ok"]
    }
    #expect(try await isTrusted(by: first))
    #expect(try await !isTrusted(by: second))
    try install(second)
    server.send(SIGHUP)
    try await eventually("the new certificate is shown") { try await isTrusted(by: second) }
    try scratch.drop(Array("no certificate".utf8), as: "cert.pem")
    server.send(SIGHUP)
    try await eventually("the bad one is complained about") {
      server.errors.contains("reload: the TLS certificate in use stays")
    }
    #expect(try await isTrusted(by: second))
    server.send(SIGTERM)
    #expect(await server.exitCode() == 0)
  }

  /// The numbers of the keys of session tickets in a data folder.
  private func ticketKeys(in data: String) async throws -> [Int] {
    let found = try await Child.run(
      "/usr/bin/python3",
      [
        "-c",
        """
        import sqlite3, sys
        for row in sqlite3.connect(sys.argv[1]).execute("SELECT id FROM ticket_key"): print(row[0])
        """, data + "/richpush.db",
      ])
    #expect(found.exitCode == 0, "\(found)")
    return found.output.compactMap { Int($0) }
  }

  @Test func `the keys of sessions are there with TLS only, and a command replaces them`()
    async throws
  {
    let certificate = try await TemporaryCertificate(days: -1...365)
    let tls = ["--tls-certificate", certificate.path, "--tls-key", certificate.key]
    let scratch = try Scratch()
    defer { withExtendedLifetime(scratch) {} }
    let folder = scratch.folder.path
    let data = folder + "/var"
    for (flags, expected) in [([], []), (tls, [1]), (tls, [1])] {
      let server = try Child(
        "richpush",
        ["serve", "--demo", "--listen", "127.0.0.1:0", "--data", data]
          + ["--assets", folder + "/assets", "--plugins", folder + "/plugins"] + flags)
      var lines = server.lines.makeAsyncIterator()
      _ = await lines.next()
      #expect(try await ticketKeys(in: data) == expected, "\(server.errors)")
      server.send(SIGTERM)
      #expect(await server.exitCode() == 0)
    }
    let server = try Child(
      "richpush",
      ["serve", "--demo", "--listen", "127.0.0.1:0", "--data", data]
        + ["--assets", folder + "/assets", "--plugins", folder + "/plugins"] + tls)
    var lines = server.lines.makeAsyncIterator()
    _ = await lines.next()
    let rotated = try await Child.run("richpush", ["key", "rotate", "--tls", "--data", data])
    #expect(rotated.exitCode == 0 && rotated.errors.isEmpty, "\(rotated)")
    // The server has applied it: there is another key already.
    let replaced = try await ticketKeys(in: data)
    #expect(replaced == [2], "\(server.errors)")
    server.send(SIGTERM)
    #expect(await server.exitCode() == 0)
  }
}
