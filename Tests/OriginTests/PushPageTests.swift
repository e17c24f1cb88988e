import Foundation
import TestSupport
import Testing

@testable import HTTP
@testable import Origin

/// The page `/push/`.
@Suite(.timeLimit(.minutes(1))) struct PushPageTests {
  @Test func `there is none unless it is enabled`() async throws {
    try await TestServer.test { server in
      for path in ["/push", "/push/", "/push/page.js"] {
        let status = try await server.status("GET", path)
        #expect(status == 404)
      }
    }
  }

  @Test func `serves its files to everybody, with a policy that allows nothing else`() async throws
  {
    try await TestServer.test(prepare: { configuration, _ in configuration.hasPushPage = true }) {
      server in
      let redirect = try await server.execute("GET", "/push")
      #expect(redirect.status == 308 && redirect.fields["Location"] == "push/")
      let page = try await server.execute("GET", "/push/")
      #expect(page.status == 200 && page.fields["Content-Type"] == "text/html; charset=utf-8")
      let policy = try #require(page.fields["Content-Security-Policy"])
      #expect(policy.hasPrefix("default-src 'none'; script-src 'self';"))
      #expect(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"))
      #expect(!page.text.contains("<script>") && !page.text.contains("onclick"))
      for match in page.text.matches(of: /(?:src|href)="([a-z.]+)"/) {
        #expect(try await server.status("GET", "/push/\(match.1)") == 200)
      }
      #expect(try await server.status("GET", "/push/worker.js") == 200)
      #expect(policy.contains("manifest-src 'self'"))
      let manifest = try await server.execute("GET", "/push/manifest.webmanifest")
      #expect(manifest.fields["Content-Type"] == "application/manifest+json")
      let icons = manifest.objects("icons").compactMap { $0["src"] as? String }
      #expect(!icons.isEmpty && manifest.json["display"] as? String == "standalone")
      for icon in icons {
        let picture = try await server.execute("GET", "/push/" + icon)
        #expect(picture.status == 200)
        #expect(picture.fields["Content-Type"]?.hasPrefix("image/") == true)
      }
      for path in ["/push/none.js", "/push/%2e%2e", "/push/page.js/"] {
        #expect(try await server.status("GET", path) == 404)
      }
      #expect(try await server.status("POST", "/push/") == 405)
    }
  }

  @Test func `a browser that has a file gets 304`() async throws {
    try await TestServer.test(prepare: { configuration, _ in configuration.hasPushPage = true }) {
      server in
      let file = try await server.execute("GET", "/push/page.js")
      let etag = try #require(file.fields["ETag"])
      #expect(file.fields["Cache-Control"] == "no-cache")
      let again = try await server.execute(
        "GET", "/push/page.js", fields: ["If-None-Match": etag])
      #expect(again.status == 304 && again.text == "" && again.fields["ETag"] == etag)
      let other = try await server.execute(
        "GET", "/push/page.js", fields: ["If-None-Match": "\"0\""])
      #expect(other.status == 200)
    }
  }
}
