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
        + ["--assets", folder.folder.path, "--plugins", folder.folder.path]
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
      of: #/richpush_tls_certificate_expiry_timestamp_seconds (\d+)/#)?.1
    let time = try #require(expiry.flatMap { Double($0) }, "\(expired.metrics)")
    #expect(abs(time - (Date().timeIntervalSince1970 - 86_400)) < 3600)
    #expect(expired.client.exitCode == 69)
    #expect(
      expired.client.errors.contains("its certificate has expired"), "\(expired.client.errors)")
    let unknown = try await start(TemporaryCertificate(days: -1...365))
    #expect(!unknown.log.contains("the TLS certificate"), "\(unknown.log)")
    #expect(
      unknown.client.errors.contains("by an authority that this machine does not trust"),
      "\(unknown.client.errors)")
  }

  @Test func `the documented hook installs what certbot has renewed, and reloads`() async throws {
    let text = try String(decoding: Package.bytes("docs/OPERATIONS.md"), as: UTF8.self)
    let hook = try #require(text.firstMatch(of: #/```sh acme-hook\n((?s:.*?))```/#)?.1)
    let scratch = try Scratch()
    let program = try scratch.drop(Array(hook.utf8), as: "hook", executable: true)
    let folder = scratch.folder.path
    func renew(_ certificate: TemporaryCertificate, reload: String) async throws {
      let lineage = try scratch.makeFolder("live").path
      for (from, to) in [(certificate.path, "fullchain.pem"), (certificate.key, "privkey.pem")] {
        try scratch.drop([UInt8](Data(contentsOf: URL(filePath: from))), as: "live/" + to)
      }
      let group = try #require(getgrgid(getegid())?.pointee.gr_name)
      let result = try await Child.run(
        program.path, [],
        environment: [
          "RENEWED_LINEAGE": lineage, "RICHPUSH_TLS_FOLDER": folder + "/tls",
          "RICHPUSH_GROUP": String(cString: group), "RICHPUSH_RELOAD": reload,
          "PATH": "/usr/bin:/bin",
        ])
      #expect(result.exitCode == 0, "\(result.errors)")
    }
    try await renew(TemporaryCertificate(days: -80...5), reload: "true")
    let server = try Child(
      "richpush",
      ["serve", "--demo", "--listen", "127.0.0.1:0", "--data", folder + "/var"]
        + ["--assets", folder, "--plugins", folder]
        + ["--tls-certificate", folder + "/tls/certificate.pem"]
        + ["--tls-key", folder + "/tls/key.pem"])
    var lines = server.lines.makeAsyncIterator()
    let line = await lines.next() ?? ""
    let address = try #require(line.split(separator: " ").last, "\(server.errors)")
    #expect(server.errors.contains("in 5 days"), "\(server.errors)")
    let renewed = try await TemporaryCertificate(days: -1...365)
    try await renew(renewed, reload: "kill -HUP \(server.processIdentifier)")
    try await eventually("the renewed certificate is shown") {
      let answer = try await Child.run(
        "/usr/bin/curl",
        ["-s", "--cacert", renewed.path]
          + ["\(address)/healthz".replacing("127.0.0.1", with: "localhost")])
      return answer.output == ["ok"]
    }
    let status = try FileManager.default.attributesOfItem(atPath: folder + "/tls/key.pem")
    #expect(status[.posixPermissions] as? Int == 0o640)
    server.send(SIGTERM)
    #expect(await server.exitCode() == 0)
  }

  @Test func `SIGHUP takes over another certificate, and a bad one changes nothing`() async throws {
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
        + ["--assets", folder, "--plugins", folder]
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
}
