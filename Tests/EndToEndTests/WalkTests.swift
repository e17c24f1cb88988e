import Foundation
import RichPushClient
import Testing

/// The README's walk does what it says: its commands are run as they stand there.
@Suite(.timeLimit(.minutes(5))) struct WalkTests {
  @Test func `leads a stranger from the tutorial's call to a type of their own`() async throws {
    let readme = String(decoding: try Package.bytes("README.md"), as: UTF8.self)
    let walk = try #require(readme.firstMatch(of: #/(?s)## A walk(.*?)\n## /#)).1
    let commands = walk.matches(of: #/(?s)```sh\n(.*?)```/#).map(\.1)
    #expect(commands.count == 5)
    let program = try Package.program("richpush").path
    try await RunningServer.lend { server in
      let server8080 = "http://127.0.0.1:8080"
      let address = server.endpoint.absoluteString
      let phone = try Child(
        "richpush", ["device", "--user", "alice", "--count", "5", "--server", address])
      var lines = phone.lines.makeAsyncIterator()
      #expect(await lines.next()?.contains("listens") == true)
      let script = commands.joined(separator: "\n")
        .replacing(".build/release/richpush", with: program).replacing(server8080, with: address)
      let folder = server.scratch.folder.path
      let result = try await Child.run(
        "/bin/bash", ["-ec", "cd '\(folder)'\n\(script)"],
        environment: ["RICHPUSH_SERVER": address])
      #expect(result.exitCode == 0, "\(result.errors)")
      let said = [
        "image/png, 512x512", "image/jpeg, 1200x800", "sound \"Ding\": audio/wav",
        "https://www.swift.org/", "coupon \"For you\": text/plain",
      ]
      for expected in said {
        let line = await lines.next() ?? ""
        #expect(line.contains(expected), "\(line)")
      }
      #expect(await phone.exitCode() == 0)
      let thumbnail = try Data(contentsOf: server.scratch.folder.appending(path: "thumb.png"))
      #expect(thumbnail.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    }
  }
}
