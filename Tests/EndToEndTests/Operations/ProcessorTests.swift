import Foundation
import RichPushClient
import Testing

/// A server that may use only some processors.
@Suite(.timeLimit(.minutes(5))) struct ProcessorTests {
  @Test func `an event loop for each processor that the server may use`() async throws {
    try await RunningServer.lend(through: ["/usr/bin/taskset", "--cpu-list", "0"]) { server in
      let threads = "/proc/\(server.processIdentifier)/task"
      let names = try FileManager.default.contentsOfDirectory(atPath: threads).map {
        try String(contentsOfFile: "\(threads)/\($0)/comm", encoding: .utf8)
      }
      #expect(names.count { $0 == "http\n" } == 1)
      #expect(try server.get("/healthz").text == "ok\n")
    }
  }
}
