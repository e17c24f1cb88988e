import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// TLS as other implementations see it: OpenSSL's and GnuTLS's programs, Python, browsers, a scanner.
@Suite(.timeLimit(.minutes(10))) struct TLSSystemTests {
  private static let versions = ["1.2", "1.3"]

  // MARK: - Sessions

  @Test func `a session is resumed over SIGKILL, and none of another server or of replaced keys`()
    async throws
  {
    let certificate = try await TemporaryCertificate(days: -1...365)
    let client = try StandIn("tls_client")
    try await RunningServer.lend(flags: ["--demo"] + certificate.flags) { foreign in
      try await RunningServer.lend(flags: ["--demo"] + certificate.flags) { server in
        for version in Self.versions {
          try Self.fetch(client, foreign, version, keep: "foreign " + version)
          try Self.fetch(client, server, version, keep: version)
          _ = try await Self.open(server, version, keep: version)
        }
        for version in Self.versions {
          #expect(try Self.fetch(client, server, version, offer: version), "Python, \(version)")
          #expect(try await Self.open(server, version, offer: version), "OpenSSL, \(version)")
        }
        try await server.restart(by: SIGKILL)
        for version in Self.versions {
          #expect(try Self.fetch(client, server, version, offer: version), "Python, \(version)")
          #expect(try await Self.open(server, version, offer: version), "OpenSSL, \(version)")
          #expect(try !Self.fetch(client, server, version, offer: "foreign " + version))
        }
        try await Self.replaceKeys(of: server)
        for version in Self.versions {
          try await eventually("no session of before is resumed, \(version)") {
            try !Self.fetch(client, server, version, offer: version)
          }
          #expect(try await !Self.open(server, version, offer: version))
          try Self.fetch(client, server, version, keep: "new " + version)
          #expect(try Self.fetch(client, server, version, offer: "new " + version))
        }
      }
    }
  }

  @Test(.enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"))
  func `a session is resumed at another node, which hears of replaced keys`() async throws {
    let certificate = try await TemporaryCertificate(days: -1...365)
    let (client, database) = (try StandIn("tls_client"), try PostgresServer())
    let flags = ["--demo", "--database", database.url] + certificate.flags
    try await RunningServer.lend(flags: flags) { first in
      try await RunningServer.lend(flags: flags) { second in
        for version in Self.versions {
          for (one, other) in [(first, second), (second, first)] {
            try Self.fetch(client, one, version, keep: version)
            // The second has perhaps made the first key just now.
            try await eventually("the other node knows the key") {
              try Self.fetch(client, other, version, offer: version)
            }
          }
        }
        let rotated = try await Child.run(
          "richpush",
          ["key", "rotate", "--tls", "--database", database.url]
            + ["--data", first.scratch.folder.path + "/var"])
        #expect(rotated.exitCode == 0, "\(rotated.errors)")
        for server in [first, second] {
          try await eventually("no session of before is resumed") {
            try !Self.fetch(client, server, "1.3", offer: "1.3")
          }
        }
      }
    }
  }

  /// Fetches by Python; whether a session was resumed.
  @discardableResult private static func fetch(
    _ client: StandIn, _ server: RunningServer, _ version: String, offer: String? = nil,
    keep: String? = nil
  ) throws -> Bool {
    var command: [String: Any] = ["do": "fetch", "port": server.port, "version": version]
    (command["offer"], command["keep"]) = (offer, keep)
    let answer = try client.tell(command)
    // A session that is not known is no fault.
    #expect(answer["status"] as? Int == 200 && answer["protocol"] as? String == "http/1.1")
    return try #require(answer["reused"] as? Bool, "\(answer)")
  }

  /// Fetches by `openssl s_client`; whether a session was resumed.
  private static func open(
    _ server: RunningServer, _ version: String, offer: String? = nil, keep: String? = nil
  ) async throws -> Bool {
    let file = { (name: String) in "\(server.scratch.folder.path)/session-\(name)" }
    let flags =
      (offer.map { ["-sess_in", file($0)] } ?? []) + (keep.map { ["-sess_out", file($0)] } ?? [])
    let said = try await Child.run(
      "/usr/bin/openssl",
      ["s_client", "-connect", "127.0.0.1:\(server.port)", "-servername", "localhost"]
        + ["-tls\(version.replacing(".", with: "_"))", "-ign_eof"] + flags, input: request)
    let text = said.output.joined(separator: "\n")
    #expect(text.contains("HTTP/1.1 200 "), "\(text)\n\(said.errors)")
    let isNew = text.contains("\nNew, TLSv1")
    #expect(isNew || text.contains("\nReused, TLSv1"), "\(text)")
    return !isNew
  }

  private static let request =
    "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

  private static func replaceKeys(of server: RunningServer) async throws {
    let data = server.scratch.folder.path + "/var"
    let rotated = try await Child.run("richpush", ["key", "rotate", "--tls", "--data", data])
    #expect(rotated.exitCode == 0, "\(rotated.errors)")
  }

  // MARK: - Clients

  @Test func `curl, GnuTLS and browsers connect, with either kind of key`() async throws {
    let firefox = try StandIn("firefox")
    for kind in ["ec", "rsa"] {
      let certificate = try await TemporaryCertificate(days: -1...365, key: kind)
      try await RunningServer.lend(flags: ["--demo"] + certificate.flags) { server in
        let address = "https://localhost:\(server.port)/healthz"
        for version in Self.versions {
          let curl = try await Child.run(
            "/usr/bin/curl",
            [
              "-sS", "--cacert", certificate.path, "--tlsv\(version)", "--tls-max", version,
              address,
            ]
          )
          #expect(curl.output == ["ok"], "\(curl.errors)")
          let gnutls = try await Child.run(
            "/usr/bin/gnutls-cli",
            ["--x509cafile", certificate.path, "--port", "\(server.port)"]
              + ["--priority", "NORMAL:-VERS-ALL:+VERS-TLS\(version)", "localhost"],
            input: Self.request)
          #expect(
            gnutls.output.contains("- Status: The certificate is trusted. "), "\(gnutls.output)")
          #expect(gnutls.output.contains { $0.hasPrefix("HTTP/1.1 200 ") }, "\(gnutls.output)")
        }
        let chromium = try await BrowserSystemTests.document(
          address, "--ignore-certificate-errors")
        #expect(chromium.contains("ok"), "\(chromium)")
        let opened = try firefox.tell(["do": "open", "url": address, "insecure": true])
        #expect(opened["error"] == nil, "\(opened)")
        let text = try FirefoxPage(firefox: firefox).value("document.body.innerText")
        #expect(text.text?.hasPrefix("ok") == true, "\(text)")
        try firefox.tell(["do": "reset"])
      }
    }
  }

  // MARK: - Weaknesses

  @Test func `a scanner finds no weak cipher, no old version, no renegotiation and no early data`()
    async throws
  {
    let ecdsa = try await TemporaryCertificate(days: -1...365)
    let rsa = try await TemporaryCertificate(days: -1...365, key: "rsa")
    try await RunningServer.lend(flags: ["--demo"] + ecdsa.flags + rsa.flags) { server in
      let file = server.scratch.folder.path + "/scan.json"
      let scan = try await Tool.run(
        "sslyze",
        [
          "--quiet", "--json_out=\(file)", "--sslv2", "--sslv3", "--tlsv1", "--tlsv1_1",
          "--tlsv1_2",
        ]
          + ["--tlsv1_3", "--reneg", "--early_data", "--compression", "--robot", "--heartbleed"]
          + ["--openssl_ccs", "--fallback", "--resum", "localhost:\(server.port)"])
      let bytes = try Data(contentsOf: URL(filePath: file))
      let json = try JSONDecoder().decode(JSONValue.self, from: bytes)
      guard case .array(let servers) = json.server_scan_results, let scanned = servers.first else {
        Issue.record("\(scan.output) \(scan.errors)")
        return
      }
      func found(_ name: String) throws -> JSONValue {
        guard case .object(let results) = scanned.scan_result, let result = results[name] else {
          throw Unmet("the scanner has no \(name)")
        }
        #expect(result.status.text == "COMPLETED", "\(name): \(result)")
        return result.result
      }
      func suites(_ version: String) throws -> Set<String> {
        guard case .array(let all) = try found(version + "_cipher_suites").accepted_cipher_suites
        else { throw Unmet("the scanner has no ciphers of \(version)") }
        return Set(all.compactMap { $0.cipher_suite.name.text })
      }
      for version in ["ssl_2_0", "ssl_3_0", "tls_1_0", "tls_1_1"] {
        #expect(try suites(version).isEmpty, "\(version)")
      }
      // Forward secrecy, and nothing but authenticated encryption.
      let modern = ["AES_256_GCM_SHA384", "AES_128_GCM_SHA256", "CHACHA20_POLY1305_SHA256"]
      let (old, new) = (try suites("tls_1_2"), try suites("tls_1_3"))
      #expect(new == Set(modern.map { "TLS_" + $0 }), "\(new)")
      let allowed = ["ECDSA", "RSA"].flatMap { kind in
        modern.map { "TLS_ECDHE_\(kind)_WITH_\($0)" }
      }
      #expect(old.isSubset(of: allowed), "\(old)")
      for kind in ["ECDSA", "RSA"] {
        #expect(old.contains("TLS_ECDHE_\(kind)_WITH_AES_128_GCM_SHA256"), "\(old)")
      }
      #expect(try found("session_renegotiation").client_renegotiations_success_count.integer == 0)
      #expect(try found("tls_1_3_early_data").supports_early_data == .bool(false))
      #expect(try found("tls_compression").supports_compression == .bool(false))
      #expect(try found("heartbleed").is_vulnerable_to_heartbleed == .bool(false))
      #expect(try found("openssl_ccs_injection").is_vulnerable_to_ccs_injection == .bool(false))
      #expect(try found("robot").robot_result.text == "NOT_VULNERABLE_RSA_NOT_SUPPORTED")
      let resumed = try found("session_resumption").tls_ticket_resumption_result.text
      #expect(resumed == "FULLY_SUPPORTED")
    }
  }
}
