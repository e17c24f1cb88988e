import Foundation
import RichPushClient
import Testing
import Waiting

/// A server that may open few files.
@Suite(.timeLimit(.minutes(5))) struct DescriptorTests {
  private static func limited(to count: Int) -> [String] {
    ["/bin/sh", "-c", "ulimit -n \(count); exec \"$@\"", "sh"]
  }

  @Test(arguments: [24, 64, 255])
  func `does not start with too few, and says how many it needs`(count: Int) async throws {
    let scratch = try Scratch()
    let words = [
      "serve", "--demo", "--listen", "127.0.0.1:0", "--data", scratch.folder.path + "/var",
    ]
    let wrapper = Self.limited(to: count)
    let result = try await Child.run(
      wrapper[0], wrapper.dropFirst() + [try Package.program("richpush").path] + words)
    #expect(result.exitCode == 1)
    #expect(
      result.errors
        == "richpush: The server needs at least 256 file descriptors and may have \(count): raise the "
        + "limit (ulimit -n 4096, or LimitNOFILE=4096 for systemd).\n")
  }

  @Test func `says that it lives while uploads hold every descriptor, and logs it once`()
    async throws
  {
    try await RunningServer.lend(through: Self.limited(to: 256)) { server in
      let files = "/proc/\(server.processIdentifier)/fd"
      let open = { try FileManager.default.contentsOfDirectory(atPath: files).count }
      // Each takes two descriptors, a connection and a file. Idle connections take the last few.
      // Together they stay below the 120 connections that the server takes with so few descriptors.
      var uploads: [RawConnection] = []
      // What is prepared takes descriptors, too. After this no upload waits for its password's turn.
      try await eventually("the samples are ready") {
        let list = try server.get("/api/assets", RunningServer.credentials("alice")).body
        return try JSONDecoder().decode(JSONValue.self, from: Data(list)).counts.ready.integer == 4
      }
      // Each user may have eight uploads under way.
      for number in 0..<min((256 - (try open())) / 2 - 3, 105) {
        let upload = try RawConnection(port: server.port)
        upload.send(
          Array(
            ("PUT /api/assets/img/\(number).png HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
              + RunningServer.credentials("user-\(number / 8)") + "\r\n\r\nhalf").utf8))
        uploads.append(upload)
      }
      var idle: [RawConnection] = []
      try await eventually("every descriptor is used") {
        if uploads.count + idle.count < 118 {
          idle.append(try RawConnection(port: server.port))
        }
        return try open() == 256
      }
      for _ in 0..<20 { #expect(try server.get("/healthz").text == "ok\n") }
      let answers = try uploads.filter(\.hasInput).map { try $0.answer() }
      #expect(answers.allSatisfy { $0.status == 503 && $0.fields["retry-after"] != nil })
      let shortage = "http: no file descriptors are left (ulimit -n)"
      #expect(server.log.components(separatedBy: shortage).count == 2)
      (uploads, idle) = ([], [])
      try await eventually("it serves as before") {
        (try? await server.client("bob").create(.logo(to: "bob"))) != nil
      }
      try await server.expectHealthy()
    }
  }

  @Test func `says that it lives when it has as many connections as it can take`() async throws {
    try await RunningServer.lend(through: Self.limited(to: 256)) { server in
      let idle = try (0..<120).map { _ in try RawConnection(port: server.port) }
      for connection in idle { #expect(try connection.isServed()) }
      #expect(try server.get("/healthz").status == 200)
      let full = try server.get("/readyz")
      #expect(full.status == 503 && full.fields["retry-after"] == "1")
      withExtendedLifetime(idle) {}
    }
  }
}
