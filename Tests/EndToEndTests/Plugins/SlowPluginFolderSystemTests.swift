import Foundation
import RichPushClient
import StandIns
import Testing

/// The folder of the plugins is on a disk that does not answer (FUSE).
@Suite(.timeLimit(.minutes(5)), .enabled(if: getuid() == 0, "mounts a file system"))
struct SlowPluginFolderSystemTests {
  @Test func `devices get what is rendered while nobody can look at the plugins`() async throws {
    let disk = try StandIn("slow_folder")
    defer { _ = try? disk.tell(["do": "release"]) }
    try await RunningServer.lend { scratch in
      let plugins = scratch.folder.appending(path: "plugins").path
      try FileManager.default.moveItem(atPath: plugins, toPath: disk.folder + "/real/plugins")
      try FileManager.default.createSymbolicLink(
        atPath: plugins, withDestinationPath: disk.folder + "/slow/plugins")
    } to: { server in
      let bob = server.client("bob")
      let notification = try await bob.create(.logo(to: "bob"))
      func fetch() throws -> RawConnection.Answer {
        let login = Data("bob:bob".utf8).base64EncodedString()
        return try RawConnection(port: server.port).exchange(
          "GET /api/notifications/\(notification.id)?width=96 HTTP/1.1\r\n"
            + "Authorization: Basic \(login)\r\n")
      }
      let first = try fetch()
      #expect(first.status == 200)
      // On connections of all event loops.
      for _ in 0..<50 { #expect(try fetch().status == 200) }
      try disk.tell(["do": "hold"])
      // Longer than the plugins' files go without being looked at.
      let end = ContinuousClock.now + .seconds(4)
      while .now < end {
        let answer = try fetch()
        #expect(answer.status == 200 && answer.body == first.body)
        let health = try RawConnection(port: server.port).exchange("GET /healthz HTTP/1.1\r\n")
        #expect(health.status == 200)
        try await Task.sleep(for: .milliseconds(20))
      }
      try disk.tell(["do": "release"])
      try await server.expectHealthy()
    }
  }
}
