import Foundation
import Testing

/// Who reads `/metrics`, as the program is started by its operator.
@Suite(.timeLimit(.minutes(5))) struct MetricsAccessTests {
  @Test func `strangers behind a proxy that is not trusted read nothing`() async throws {
    try await RunningServer.lend { server async throws in
      #expect(try server.get("/metrics").status == 200)
      for field in [
        "X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: 192.0.2.1", "x-forwarded-for: ",
        "Forwarded: for=127.0.0.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: localhost",
        "X-Real-IP: 127.0.0.1", "Via: 1.1 proxy",
      ] {
        let answer = try server.get("/metrics", field)
        #expect(answer.status == 403, "\(field)")
        #expect(answer.text.contains("--metrics-allow") && !answer.text.contains("richpush_"))
        #expect(try server.get("/healthz", field).status == 200)
      }
    }
  }

  @Test func `a trusted proxy counts as the client only when it has named one`() async throws {
    let flags = ["--trusted-proxy", "127.0.0.1", "--metrics-allow", "10.0.0.0/8"]
    try await RunningServer.lend(flags: flags) { server async throws in
      for (fields, status) in [
        ([], 200), (["X-Forwarded-For: 127.0.0.1"], 200), (["X-Forwarded-For: ::1"], 200),
        (["X-Forwarded-For: 10.20.30.40"], 200),
        (["X-Forwarded-For: 192.0.2.1, 10.20.30.40", "Forwarded: for=unknown"], 200),
        (["X-Forwarded-For: 192.0.2.1"], 403), (["X-Forwarded-For: 127.0.0.1, 192.0.2.1"], 403),
        (["X-Forwarded-For: 10.0.0.1, 192.0.2.1"], 403),
        (["X-Forwarded-For: garbage"], 403), (["X-Forwarded-For: "], 403),
        (["X-Forwarded-For: 127.0.0.1, garbage"], 403), (["X-Forwarded-For: unknown"], 403),
        (["X-Forwarded-For: unknown, 127.0.0.1"], 403), (["X-Forwarded-For: 127.0.0.1,,x"], 403),
        (["X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: _hidden"], 403),
        (["Forwarded: for=127.0.0.1"], 403), (["X-Forwarded-Proto: https"], 403),
      ] as [([String], Int)] {
        let lines = fields.map { $0 + "\r\n" }.joined()
        let answer = try RawConnection(port: server.port).exchange(
          "GET /metrics HTTP/1.1\r\n" + lines)
        #expect(answer.status == status, "\(fields)")
      }
    }
  }

  @Test func `a token from the environment opens it to whoever bears it`() async throws {
    let token = "correct-horse-battery-staple"
    let environment = ["RICHPUSH_METRICS_ALLOW": "192.0.2.0/24;token:\(token)"]
    try await RunningServer.lend(flags: [], environment: environment) { server async throws in
      let far = "X-Forwarded-For: 192.0.2.1"
      let closed = try server.get("/metrics", far)
      #expect(closed.status == 401)
      #expect(closed.fields["www-authenticate"]?.hasPrefix("Bearer ") == true)
      #expect(try server.get("/metrics", far, "Authorization: Bearer \(token)").status == 200)
      #expect(try server.get("/metrics", far, "Authorization: Bearer \(token)x").status == 401)
      #expect(!server.log.contains(token) && !server.log.contains("--metrics-allow"))
      #expect(try server.get("/metrics").status == 200)
      // It opens nothing else.
      #expect(
        try server.get("/api/notifications", "Authorization: Bearer \(token)").status == 401)
    }
  }

  @Test func `a token on the command line is warned of, and never shown`() async throws {
    let token = "correct-horse-battery-staple"
    try await RunningServer.lend(flags: ["--metrics-allow", "token:\(token)"]) {
      server async throws in
      #expect(server.log.contains("RICHPUSH_METRICS_ALLOW") && !server.log.contains(token))
    }
    for entry in ["token:short", "tokem:\(token)", "10.0.0.1/8"] {
      let result = try await Child.run(
        "richpush", ["serve", "--listen", "127.0.0.1:0", "--metrics-allow", entry])
      #expect(result.exitCode == 64)
      #expect(result.errors.contains("--metrics-allow, entry 1 of 1"), "\(result.errors)")
      #expect(!result.errors.contains(entry), "\(result.errors)")
    }
  }
}
