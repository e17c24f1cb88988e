import Foundation
import RichPushClient
import Testing
import Waiting

/// Exactly once, whenever the server dies.
@Suite(.timeLimit(.minutes(30))) struct DropPublishSoakTests {
  @Test func `every dropped file is sent exactly once, whenever the server is killed`()
    async throws
  {
    let files = Soak.amount(short: 8, long: 200)
    try await RunningServer.lend(flags: ["--demo", "--publish-as", "shop"]) { server in
      for number in 0..<files {
        let path = "assets/outbox/img/\(number).png"
        try server.scratch.drop(
          Array(#"{"message":"\#(number)","to":["username:alice"]}"#.utf8),
          as: path + ".notify.json")
        try server.scratch.drop(Package.bytes("assets/img/logo.png"), as: path)
        guard number % 4 == 3 else { continue }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...150)))
        try await server.restart(by: SIGKILL)
      }
      let folder = server.scratch.folder.path + "/assets/outbox/img"
      let names = { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }
      try await eventually("every file has its result") {
        names().count { $0.hasSuffix(".notify.sent.json") } == files
      }
      let inbox = try await server.client("alice").inbox(limit: 500).notifications
      #expect(inbox.map(\.message.text).compactMap(Int.init).sorted() == Array(0..<files))
      #expect(!names().contains { $0.hasPrefix(".richpush-upload") })
    }
  }
}
