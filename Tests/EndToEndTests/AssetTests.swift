import Foundation
import RichPushClient
import Testing

/// The drop folder, over HTTP and as a folder.
@Suite(.timeLimit(.minutes(5))) struct AssetTests {
  @Test func `takes an upload, tells what it is, and forgets it again`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let source = try server.scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "beach.jpg")
      let asset = try await alice.upload(source, name: "summer day.png", richType: "img")
      #expect(asset.contentType == "image/jpeg" && asset.state != .refused)
      let notification = try await alice.create(
        NewNotification("m", richType: "img", payload: "summer day.png", to: .users(["alice"])))
      try await alice.removeAsset("summer day.png", richType: "img")
      let names = try await alice.assets(richType: "img").map(\.name)
      #expect(!names.contains("summer day.png"))
      #expect(try await alice.media(notification.id).contentType == "image/jpeg")
    }
  }

  @Test func `refuses an upload that its plugin refuses, and keeps what was there`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let text = try server.scratch.drop(Array("not a picture".utf8), as: "text")
      await #expect(throws: RichPushError.self) {
        try await alice.upload(text, name: "logo.png", richType: "img")
      }
      let kept = try Data(contentsOf: server.scratch.folder.appending(path: "assets/img/logo.png"))
      let isTheLogo = [UInt8](kept) == (try Package.bytes("assets/img/logo.png"))
      #expect(isTheLogo)
    }
  }

  @Test func `lists what was dropped, with the reason of what is refused`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      try server.scratch.drop(Array("hello".utf8), as: "assets/img/text.png")
      try server.scratch.drop([], as: "assets/img/empty.png")
      try server.scratch.drop(Array("half".utf8), as: "assets/img/.draft.png")
      var assets: [String: Asset] = [:]
      try await eventually("the folder was looked at") {
        assets = Dictionary(
          uniqueKeysWithValues: try await alice.assets(richType: "img").map { ($0.name, $0) })
        return Set(assets.keys) == ["logo.png", "beach.jpg", "text.png", "empty.png"]
          && assets["logo.png"]?.state == .ready
      }
      #expect(assets["text.png"]?.reason?.contains("text/plain") == true)
      #expect(assets["empty.png"]?.reason?.contains("empty") == true)
      try FileManager.default.removeItem(
        at: server.scratch.folder.appending(path: "assets/img/text.png"))
      try await eventually("the removed name is gone") {
        !(try await alice.assets(richType: "img").contains { $0.name == "text.png" })
      }
    }
  }
}
