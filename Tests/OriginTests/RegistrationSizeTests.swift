import Foundation
import HTTP
import Store
import TestSupport
import Testing

/// How large a registration can be.
@Suite(.timeLimit(.minutes(1))) struct RegistrationSizeTests {
  private func put(
    _ server: TestServer, platform: String = "fcm", _ handle: String, tags: [String] = []
  ) async throws -> Int {
    let body: [String: Any] = ["Platform": platform, "Handle": handle, "Tags": tags]
    return try await server.execute(
      "PUT", "/api/register/a", as: "device",
      body: String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
    ).status
  }

  @Test func `a token has at most 4,096 bytes, and tags are short and few`() async throws {
    try await TestServer.test { server async throws in
      let channel =
        "https://db5.notify.windows.com/?token=" + String(repeating: "AwYAAAB%2b", count: 90)
      for (platform, handle) in [
        ("fcm", "cZx3:" + String(repeating: "A", count: 4091)), ("wns", channel),
        ("gcm", "a/b:c_d-é"),
      ] { #expect(try await put(server, platform: platform, handle) == 200, "\(platform)") }
      for handle in [
        "", String(repeating: "A", count: 4097), String(repeating: "🦊", count: 1025), "a\u{0}b",
      ] { #expect(try await put(server, handle) == 400) }
      let tag = String(repeating: "t", count: 120)
      #expect(try await put(server, "a", tags: [tag]) == 200)
      #expect(try await put(server, "a", tags: [tag + "t"]) == 400)
      let accents = "e" + String(repeating: "\u{301}", count: 10_000)
      #expect(try await put(server, "a", tags: [accents]) == 400, "one character, and 20,000 bytes")
      let many = (0...60).map { "t\($0)" }
      #expect(try await put(server, "a", tags: Array(many.dropLast())) == 200)
      #expect(try await put(server, "a", tags: many) == 400)
    }
  }
}
