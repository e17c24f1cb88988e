import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// Nodes with one database and one object store, each with a drop folder of its own.
@Suite(
  .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"),
  .timeLimit(.minutes(5)))
struct DropFoldersSystemTests {
  private static let shore = Package.root.appending(path: "Tests/Samples/shore.jpg")
  private static let logo = Package.root.appending(path: "assets/img/logo.png")

  private static func exists(_ file: String, at node: RunningServer) -> Bool {
    FileManager.default.fileExists(
      atPath: node.scratch.folder.appending(path: "assets/img/" + file).path)
  }

  /// Starts a node again, and waits until it has compared its drop folder with the catalogue.
  private static func rescan(_ node: RunningServer) async throws {
    try await node.restart(by: SIGTERM)
    let name = "scan-\(UInt32.random(in: .min ... .max)).jpg"
    try node.scratch.drop(Array(Data(contentsOf: shore)), as: "assets/img/\(name)")
    try await eventually("the folder is read") {
      try await node.client("alice").assets(richType: "img", state: .ready)
        .contains { $0.name == name }
    }
  }

  @Test func `an asset that one node took in is served, replaced and removed at the other`()
    async throws
  {
    try await TwoNodes.lend { cluster in
      let (first, second) = (cluster.first, cluster.second)
      let (one, two) = (first.client("alice"), second.client("alice"))
      for client in [one, two] {
        let number = client.endpoint == one.endpoint ? 1 : 2
        for name in ["shore", "sea"] {
          try await client.upload(Self.shore, as: "\(number)-\(name).jpg")
        }
      }
      let all = ["1-shore.jpg", "1-sea.jpg", "2-shore.jpg", "2-sea.jpg"]
      for node in [first, second] { try await Self.rescan(node) }
      for client in [one, two] {
        for name in all {
          #expect(try await client.asset(name, richType: "img").state != .refused)
          let id = try await client.create(
            NewNotification("Look", richType: "img", payload: name, to: .users(["alice"]))
          ).id
          #expect(try await client.media(id, options: MediaOptions(width: 90)).bytes.count > 0)
        }
      }

      // Removed at the node that does not have its file.
      try await one.removeAsset("2-shore.jpg", richType: "img")
      for client in [one, two] {
        await #expect(throws: RichPushError.self) {
          try await client.asset("2-shore.jpg", richType: "img")
        }
      }
      // Replaced there.
      let new = try await two.upload(Self.logo, as: "1-sea.jpg")
      #expect(try await one.asset("1-sea.jpg", richType: "img").sha256 == new.sha256)
      for node in [first, second] { try await Self.rescan(node) }
      for client in [one, two] {
        #expect(try await client.asset("1-sea.jpg", richType: "img").sha256 == new.sha256)
        await #expect(throws: RichPushError.self) {
          try await client.asset("2-shore.jpg", richType: "img")
        }
      }
      try await eventually("its file is removed") { !Self.exists("2-shore.jpg", at: second) }
      #expect(Self.exists("2-sea.jpg", at: second))
      // A file that is dropped at a node is in its catalogue, and one that is removed there is not.
      let file = first.scratch.folder.appending(path: "assets/img/1-shore.jpg")
      try FileManager.default.removeItem(at: file)
      try await eventually("it is removed") {
        (try? await two.asset("1-shore.jpg", richType: "img")) == nil
      }
    }
  }
}
