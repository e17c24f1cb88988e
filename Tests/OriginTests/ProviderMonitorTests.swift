import Foundation
import HTTP
import OpenID
import Primitives
import RichPushAPI
import StandIns
import TestSupport
import Testing
import Waiting

@testable import Origin

/// Whether people can sign in at the provider, as the log, the metrics and the operator's page have it.
@Suite(.timeLimit(.minutes(1))) struct ProviderMonitorTests {
  private static let metric = #"richpush_condition{code="provider.unusable"} "#

  /// What needs attention of the provider, by a report that is as new as the metrics.
  private func attention(_ server: TestServer) async throws -> StatusReport.Attention? {
    let report = try JSONCoding.decode(
      StatusReport.self,
      from: try await server.execute("GET", "/api/status", as: "admin").bytes)
    let found = report.attention.first { $0.code == "provider.unusable" }
    let page = try await server.execute("GET", "/metrics").text
    #expect(page.contains("\n" + Self.metric + (found == nil ? "0" : "1") + "\n"))
    return found
  }

  private func monitor(of server: TestServer) throws -> ProviderMonitor {
    try #require(server.origin.routes.provider)
  }

  @Test func `that it is away is said at the start, before anybody signs in, and that it is back`()
    async throws
  {
    let clock = ManualClock()
    try await ProviderStandIn.test { provider async throws in
      provider.tell { $0.instead["/.well-known/openid-configuration"] = .problem(503, "") }
      let issuer = provider.issuer
      try await TestServer.test(
        clock: clock,
        prepare: { configuration, _ in
          try configuration.usePublicURL("https://push.example")
          try configuration.signIn.useProvider(issuer, clientID: "richpush", environment: [:])
        }
      ) { server async throws in
        try await eventually("it is said") {
          server.log.contain("nobody can sign in at the provider")
        }
        let found = try #require(try await attention(server))
        #expect(found.level == .problem && found.name == issuer)
        #expect(found.reason?.contains("answers 503") == true)
        #expect(found.text.contains("look at its server"), "\(found.text)")
        // The database is well all the same.
        #expect(try await server.execute("GET", "/readyz").status == 200)

        provider.tell { $0.instead = [:] }
        // It sleeps between two looks.
        try await eventually("it looks again") {
          clock.advance(by: ProviderMonitor.interval)
          return server.log.contain("people can sign in at the provider of OpenID Connect again")
        }
        clock.advance(by: StatusReporter.validity)
        #expect(try await attention(server) == nil)
      }
    }
  }

  @Test func `a secret that is wrong is noticed by who signs in, until the provider takes it`()
    async throws
  {
    let clock = ManualClock()
    try await SingleSignOn.test(clock: clock) { site async throws in
      try await site.afterFirstCheck()
      #expect(try await site.signIn().status == 303)
      // A code that is not valid is no problem of the server's.
      #expect(try await site.finish(try await site.begin(), code: "none").status == 502)
      #expect(try await attention(site.server) == nil)
      site.provider.tell { behaviour in
        behaviour.instead["/token"] = .json(401, Array(#"{"error":"invalid_client"}"#.utf8))
      }
      #expect(try await site.signIn().status == 502)
      clock.advance(by: StatusReporter.validity)
      let found = try #require(try await attention(site.server))
      #expect(found.text.contains("invalid_client") && found.text.contains("--oidc-client-id"))
      let monitor = try monitor(of: site.server)
      await monitor.check()
      clock.advance(by: StatusReporter.validity)
      #expect(try await attention(site.server) != nil, "what it says of itself is as before")
      site.provider.tell { $0.instead = [:] }
      await monitor.check()
      clock.advance(by: StatusReporter.validity)
      #expect(try await attention(site.server) == nil, "it takes the secret, if not the code")
    }
  }

  @Test func `one that is silent delays neither the start nor the operator's page`() async throws {
    let socket = try LoopbackSocket.listening(backlog: 9)
    try await TestServer.test(
      prepare: { configuration, _ in
        try configuration.usePublicURL("https://push.example")
        try configuration.signIn.useProvider(
          "http://127.0.0.1:\(socket.port)", clientID: "richpush", environment: [:])
        // Longer than this test may last.
        configuration.signIn.provider?.timeout = .seconds(600)
      }
    ) { server async throws in
      #expect(try await attention(server) == nil)
      close(socket.descriptor)
      try await eventually("it is said") {
        server.log.contain("nobody can sign in at the provider")
      }
    }
  }
}
