import Foundation
import RichPushClient
import Testing
import Waiting
import StandIns

/// How the server ends.
@Suite(.timeLimit(.minutes(5))) struct EndTests {
  @Test func `SIGTERM lets streams go at once with a hint, finishes what was begun, and exits 0`()
    async throws
  {
    let flag = FileManager.default.temporaryDirectory.appending(path: "flag-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: flag) }
    try await RunningServer.lend(flags: ["--demo", "--sandbox", "off"]) { scratch in
      try scratch.addWaitingType()
    } to: { server in
      let streams = try ["push", "events"].map { name in
        let stream = try RawConnection(port: server.port)
        stream.send(
          Array(
            """
            GET /api/\(name)/stream HTTP/1.1\r
            Host: localhost\r
            \(RunningServer.credentials("alice"))\r
            \r\n
            """.utf8))
        return stream
      }
      try await eventually("both listen") {
        try ["push", "events"].allSatisfy {
          try server.measured(#"richpush_streams{stream="\#($0)"}"#) == 1
        }
      }
      let asking = try RawConnection(port: server.port)
      asking.send(RunningServer.posting("begun", waitingFor: flag))
      try await eventually("it is being made") {
        try server.measured(#"richpush_plugin_calls{type="slow",state="running"}"#) == 1
      }
      server.send(SIGTERM)
      for stream in streams {
        let text = String(decoding: stream.rest(), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 200 ") && text.contains("retry: 1000\n\n"), "\(text)")
      }
      // The streams did not wait for the work that still goes on, and nobody new comes in.
      #expect(!asking.hasInput)
      #expect((try? LoopbackSocket.connected(to: server.port)) == nil)
      try Data().write(to: flag)
      #expect(try asking.answer().status == 201)
      // What lent the server sees it exit with 0.
    }
  }
}
