import Foundation
import Media
import PluginHost
import Primitives
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Intake

@Suite(.timeLimit(.minutes(1))) struct AssetIntakeTests {
  @Test func `a file that its plugin accepts is kept and prepared`() async throws {
    let intake = try IntakeFixture()
    let found = try await intake.drop("good one")
    #expect(found.pending == nil && found.asset.state == .preparing)
    let asset = try await #require(try intake.asset())
    #expect(asset.details == #"{"title":"good one"}"# && asset.type == "text/plain")
    #expect(asset.bytes == 8 && asset.blob == Digest(of: "good one"))
    #expect(intake.store.blobs.size(of: Digest(of: "good one")) == 8)
    #expect(intake.log.all == ["note/a.txt is preparing"])
  }

  @Test func `a file that its plugin rejects is refused with the plugin's sentence`() async throws {
    let intake = try IntakeFixture()
    let asset = try await intake.drop("bad").asset
    #expect(asset.state == .refused && asset.reason == "It does not begin with good.")
    #expect(asset.blob == nil, "content that nobody can use is not kept")
    #expect(try await intake.asset()?.state == .refused)
  }

  @Test(arguments: [("", "The file is empty.")])
  func `a file without content is refused`(text: String, reason: String) async throws {
    let intake = try IntakeFixture()
    #expect(try await intake.drop(text).asset.reason == reason)
    #expect(intake.calls == 0)
  }

  @Test func `a file that is too large is not even read`() async throws {
    let intake = try IntakeFixture()
    try intake.scratch.write("good", to: "assets/note/a.txt")
    // The file has a hole, and takes no space.
    let path = intake.scratch.path + "/assets/note/a.txt"
    try #require(truncate(path, AssetIntake.largestFile + 1) == 0)
    let asset = try await intake.assets.examine("note", intake.name("a.txt"), closed: true).asset
    #expect(asset.reason == "The file is larger than the limit of 1024 MiB.")
    #expect(asset.state == .refused && intake.calls == 0)
  }

  @Test func `an unchanged file is not checked again, a changed one is`() async throws {
    let intake = try IntakeFixture()
    try await intake.drop("good one")
    _ = try await intake.assets.examine("note", intake.name("a.txt"))
    #expect(intake.calls == 1)
    try await intake.drop("good two")
    #expect(try await intake.asset()?.blob == Digest(of: "good two") && intake.calls == 2)
  }

  @Test func `the same content under another name is not checked again`() async throws {
    let intake = try IntakeFixture()
    try await intake.drop("good one")
    let twin = try await intake.drop("good one", as: "b.txt").asset
    #expect(intake.calls == 1 && twin.details == #"{"title":"good one"}"#)
    #expect(twin.state == .preparing && twin.name == "b.txt")
  }

  @Test func `a new version of the plugin checks every file again`() async throws {
    let intake = try IntakeFixture()
    try await intake.drop("good one")
    let before = intake.host.plugin("note")?.identity
    try intake.scratch.installPlugin(
      "note", manifest: IntakeFixture.manifest,
      "printf 'Status: 422\\nContent-Type: text/plain\\n\\nNo more.'")
    try await eventually("it is noticed") { intake.host.plugin("note")?.identity != before }
    let asset = try await intake.assets.examine("note", intake.name("a.txt")).asset
    #expect(asset.state == .refused && asset.reason == "No more.")
  }

  @Test func `a file that is being written is pending, and its previous content stays`()
    async throws
  {
    let intake = try IntakeFixture()
    let path = intake.scratch.path + "/assets/note/a.txt"
    try intake.scratch.write("good", to: "assets/note/a.txt")
    let writer = try #require(FileHandle(forWritingAtPath: path))
    let first = try await intake.assets.examine("note", intake.name("a.txt"), closed: true)
    #expect(first.pending?.code == .incomplete && first.asset.state == .preparing)
    #expect(try await intake.asset()?.blob == nil && intake.calls == 0)
    try writer.close()
    let second = try await intake.assets.examine("note", intake.name("a.txt"), closed: true)
    #expect(second.pending == nil && second.asset.blob == Digest(of: "good"))

    let again = try #require(FileHandle(forWritingAtPath: path))
    try again.write(contentsOf: Data("GOOD".utf8))
    let third = try await intake.assets.examine("note", intake.name("a.txt"), closed: true)
    #expect(third.asset.blob == Digest(of: "good") && third.pending == nil)
    try again.close()
    let last = try await intake.assets.examine("note", intake.name("a.txt"), closed: true).asset
    #expect(last.state == .refused)
  }

  @Test func `a removed file is removed from the catalogue`() async throws {
    let intake = try IntakeFixture()
    try await intake.drop("good one")
    try intake.scratch.remove("assets/note/a.txt")
    let name = try intake.name("a.txt")
    let error = try await #require(throws: ServiceError.self) {
      _ = try await intake.assets.examine("note", name)
    }
    #expect(try await intake.asset() == nil && error.code == .notFound)
  }

  @Test func `a plugin that fails leaves the content that was checked before in use`()
    async throws
  {
    let intake = try IntakeFixture()
    let first = try await intake.drop("crash").asset
    #expect(first.state == .refused && first.stamp.isEmpty, "it is checked again at the next scan")
    try await intake.drop("good one")
    let failed = try await intake.drop("crash again").asset
    #expect(failed.blob == Digest(of: "good one") && failed.isUnchecked)
    #expect(failed.reason?.hasPrefix("The new content is not used: ") == true)
    let before = intake.calls
    _ = try await intake.assets.examine("note", intake.name("a.txt"))
    #expect(intake.calls > before)
  }

  @Test func `a plugin that says more than 64 KiB about a file fails`() async throws {
    let intake = try IntakeFixture(
      script: """
        printf 'Content-Type: application/json\\n\\n{"title":"'
        head -c $(cat "$RICH_ASSET_PATH") /dev/zero | tr '\\0' x
        printf '"}'
        """)
    #expect(try await intake.drop("65524").asset.state != .refused)
    let asset = try await intake.drop("65525").asset
    #expect(asset.reason?.contains("64 KiB") == true && asset.details?.utf8.count == 65_536)
  }

  @Test func `what is known stays usable while the folder cannot be read`() async throws {
    let intake = try IntakeFixture()
    let known = try await intake.drop("good one").asset
    try FileManager.default.moveItem(
      atPath: intake.scratch.path + "/assets", toPath: intake.scratch.path + "/away")
    let found = try await intake.assets.examine("note", intake.name("a.txt"))
    #expect(found.pending == nil && found.asset.blob == known.blob)
    #expect(try await intake.asset()?.state == .preparing)
    let error = try await #require(throws: ServiceError.self) {
      _ = try await intake.assets.examine("note", intake.name("b.txt"))
    }
    #expect(error.code == .unavailable)
  }

  @Test func `an upload that is rejected changes nothing`() async throws {
    let intake = try IntakeFixture()
    try await intake.drop("good one")
    try intake.scratch.write("bad", to: "upload")
    let name = try intake.name("a.txt")
    let error = try await #require(throws: ServiceError.self) {
      _ = try await intake.assets.put(
        intake.scratch.path + "/upload", "note", name, mayPublish: false)
    }
    #expect(error.code == .rejected && intake.scratch.read("assets/note/a.txt") == "good one")
    try intake.scratch.write("good two", to: "upload")
    let asset = try await intake.assets.put(
      intake.scratch.path + "/upload", "note", name, mayPublish: false)
    #expect(asset.blob == Digest(of: "good two"))
    #expect(intake.scratch.read("assets/note/a.txt") == "good two")
    #expect(intake.scratch.names(in: "assets/note") == ["a.txt"])
  }

  @Test func `an upload makes the folder of its rich type, with the operator's mode`() async throws
  {
    let intake = try IntakeFixture()
    var assets = intake.assets
    assets.folder = DropFolder(path: intake.scratch.path + "/assets", mask: 0o027)
    try intake.scratch.remove("assets/note")
    try intake.scratch.write("good", to: "upload")
    _ = try await assets.put(
      intake.scratch.path + "/upload", "note", intake.name("a.txt"), mayPublish: false)
    func mode(_ path: String) throws -> Int? {
      let path = intake.scratch.path + "/assets/" + path
      return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try mode("note") == 0o750 && mode("note/a.txt") == 0o640)
  }

  @Test func `what is made in a folder that a team shares is the team's, too`() async throws {
    let intake = try IntakeFixture()
    var assets = intake.assets
    assets.folder = DropFolder(path: intake.scratch.path + "/assets", mask: 0o027)
    try intake.scratch.remove("assets/note")
    #expect(chmod(assets.folder.path, 0o2775) == 0)
    try intake.scratch.write("good", to: "upload")
    _ = try await assets.put(
      intake.scratch.path + "/upload", "note", intake.name("a.txt"), mayPublish: false)
    DropFolder(path: assets.folder.path + "/outbox", mask: 0o027).create()
    func mode(_ path: String) -> mode_t {
      var status = stat()
      return stat(assets.folder.path + "/" + path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }
    #expect(mode("note") == 0o2770 && mode("outbox") == 0o2770 && mode("note/a.txt") == 0o660)
  }

  @Test func `publishers hear of an asset once, and of its removal`() async throws {
    let intake = try IntakeFixture()
    try await intake.drop("good one")
    _ = try await intake.assets.examine("note", intake.name("a.txt"))
    try await intake.assets.forget("note", "a.txt", stamp: "another")
    #expect(try await intake.asset() != nil, "another state of the file was recorded meanwhile")
    try await intake.assets.forget("note", "a.txt")
    let events = try await intake.store.events.events(after: 0, for: nil, limit: 10).map(\.data)
    try #require(events.count == 2)
    #expect(
      events[0].contains(#""state":"preparing""#) && events[0].contains(#""title":"good one""#))
    #expect(events[1] == #"{"name":"a.txt","richType":"note","state":"removed"}"#)
  }
}
