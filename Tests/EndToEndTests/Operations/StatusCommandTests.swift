import Foundation
import RichPushClient
import Testing
import Waiting

/// `richpush status`.
@Suite(.timeLimit(.minutes(5))) struct StatusCommandTests {
  @Test func `shows how the server is, and ends with 1 once something needs attention`()
    async throws
  {
    try await RunningServer.lend { server in
      func status(_ words: String...) async throws -> Child.Result {
        try await Child.run(
          "richpush", ["status"] + words + ["--server", server.endpoint.absoluteString])
      }
      _ = try await server.client("admin").status()
      let well = try await status()
      #expect(well.exitCode == 0 && well.errors.isEmpty, "\(well)")
      #expect(well.output.first?.hasPrefix("richpush 0.") == true)
      #expect(well.output.contains("Nothing needs attention."))
      for beginning in ["users ", "notifications ", "database ", "disk ", "renditions "] {
        #expect(well.output.contains { $0.hasPrefix(beginning) }, "\(beginning)")
      }

      // To which no push service of the demonstration sends.
      try await server.client("alice").register(handle: "AB12", platform: "fcm")
      let sentence = "1 device gets no pushes. "
      try await eventually("the device is mentioned") {
        try await server.client("admin").status().attention.map(\.code) == ["devices.unreached"]
      }
      let warned = try await status()
      #expect(warned.exitCode == 1 && warned.errors == "richpush: 1 thing needs attention\n")
      #expect(warned.output.contains { $0.hasPrefix("warning  " + sentence) }, "\(warned.output)")
      let json = try await status("--json")
      #expect(json.exitCode == 1 && json.output.count == 1)
      let report = try JSONDecoder().decode(Found.self, from: Data((json.output.first ?? "").utf8))
      #expect(report.attention.map(\.code) == ["devices.unreached"])
      #expect(report.attention.map(\.name) == ["fcm"])

      let refused = try await status("--user", "alice")
      #expect(refused.exitCode == 77, "it is for admins")
    }
  }

  private struct Found: Decodable {
    struct Attention: Decodable { let code, level, text, name: String }
    let attention: [Attention]
  }
}
