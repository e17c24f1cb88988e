import Foundation
import Testing

/// One server a data folder, and one a port; and what a server loads.
@Suite(.timeLimit(.minutes(5))) struct SecondStartTests {
  @Test func `a second server on a data folder or a port that is taken says so and ends`()
    async throws
  {
    try await RunningServer.lend { server in
      let folder = server.scratch.folder.path
      for (data, port, sentence) in [
        ("var", 0, "is in use by another richpush"),
        ("other", server.port, "Another program is already listening on 127.0.0.1:\(server.port)"),
      ] {
        let second = try await Child.run(
          "richpush",
          ["serve", "--demo", "--listen", "127.0.0.1:\(port)", "--data", "\(folder)/\(data)"]
            + ["--assets", folder + "/assets", "--plugins", folder + "/plugins"])
        #expect(second.exitCode == 1)
        #expect(second.output == [])
        #expect(second.errors.contains(sentence), "\(second.errors)")
      }
      try await server.expectHealthy()
    }
  }

  @Test func `a server without PostgreSQL does not load its library`() async throws {
    try await RunningServer.lend { server in
      try await server.expectHealthy()
      let files = try ProcessFacts.mappedFiles(of: server.processIdentifier)
      #expect(files.contains { $0.hasPrefix("libsqlite3.so") })
      #expect(!files.contains { $0.hasPrefix("libpq.so") })
    }
  }
}
