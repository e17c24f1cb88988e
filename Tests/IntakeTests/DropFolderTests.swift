import Foundation
import Media
import PluginHost
import Primitives
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Intake

@Suite(.timeLimit(.minutes(1))) struct DropFolderTests {
  private func refusal(_ folder: DropFolder, _ name: String) throws -> ServiceError {
    let name = try #require(AssetName(name))
    return try #require(throws: ServiceError.self) { _ = try folder.open("img", name).size }
  }

  @Test func `opens a file and tells its size`() throws {
    let scratch = try Scratch()
    try scratch.write("hello", to: "img/a.txt")
    let folder = DropFolder(path: scratch.path)
    #expect(try folder.open("img", try #require(AssetName("a.txt"))).size == 5)
    #expect(try folder.richTypes().types == ["img"])
    #expect(try folder.entries("img").map(\.entry.shown) == ["a.txt"])
  }

  @Test func `a file of any year has a date that can be written`() throws {
    for (seconds, date) in [
      (Int.max, "9999-12-31T23:59:59Z"), (.min, "1600-01-01T00:00:00Z"),
      (0, "1970-01-01T00:00:00Z"),
    ] {
      var status = stat()
      status.st_mtim.tv_sec = seconds
      #expect(status.written.formatted(.iso8601) == date)
    }
  }

  @Test func `finds a name that the disk has in the decomposed form`() throws {
    let scratch = try Scratch()
    try scratch.write("x", to: "img/caf\u{65}\u{301}.png")
    let folder = DropFolder(path: scratch.path)
    #expect(try folder.open("img", try #require(AssetName("caf\u{E9}.png"))).size == 1)
  }

  @Test func `rejects a link, a pipe and a folder with the reason, and finds no missing file`()
    throws
  {
    let scratch = try Scratch()
    try scratch.write("secret", to: "secret.txt")
    try scratch.write("x", to: "img/sub/y")
    symlink("../secret.txt", scratch.path + "/img/link")
    mkfifo(scratch.path + "/img/pipe", 0o600)
    let folder = DropFolder(path: scratch.path)
    #expect(try refusal(folder, "link").reason.contains("symbolic link"))
    #expect(try refusal(folder, "pipe").reason.contains("pipe"))
    #expect(try refusal(folder, "sub").reason.contains("folder"))
    #expect(try refusal(folder, "nothing").code == .notFound)
  }

  @Test func `does not follow a rich type's folder that is a link`() throws {
    let scratch = try Scratch()
    try scratch.write("secret", to: "elsewhere/secret.txt")
    symlink("elsewhere", scratch.path + "/img")
    let folder = DropFolder(path: scratch.path)
    #expect(try folder.richTypes().types == ["elsewhere"])
    #expect(try folder.richTypes().others.map(\.shown) == ["img"])
    #expect(try refusal(folder, "secret.txt").code == .notFound)
  }

  @Test(arguments: [
    "..", ".", "", "a/b", "../a", "a\u{0}b", "a\nb", "gpj\u{202E}exe",
    String(repeating: "x", count: 256),
  ])
  func `rejects names that are unsafe or misleading`(_ text: String) {
    #expect(AssetName(text) == nil)
  }

  @Test(arguments: [
    (Array("a\nb".utf8), #"a\u{A}b"#), (Array("gpj\u{202E}exe".utf8), #"gpj\u{202E}exe"#),
    ([0x63, 0x61, 0x66, 0xE9], #"caf\x{E9}"#), (Array(#"a\u{A}b"#.utf8), #"a\u{5C}u{A}b"#),
  ])
  func `shows a name that cannot be an asset so that no two look the same`(
    bytes: [UInt8], shown: String
  ) {
    let entry = FolderEntry(bytes)
    #expect(entry.name == nil && entry.shown == shown && entry.problem.contains("Rename the file."))
  }

  @Test func `notices that a process has a file open for writing`() throws {
    let scratch = try Scratch()
    try scratch.write("half", to: "img/a.txt")
    let folder = DropFolder(path: scratch.path)
    let name = try #require(AssetName("a.txt"))
    let writer = try #require(FileHandle(forWritingAtPath: scratch.path + "/img/a.txt"))
    #expect(try folder.open("img", name).isBeingWritten(closed: true))
    try writer.close()
    #expect(try folder.open("img", name).isBeingWritten(closed: false) == false)
  }

  @Test(arguments: [
    ".logo.png.Xy12", "logo.png.sb-1a2b3c4d-XyZ123", "~$report.png", "a.png.part", "a.crdownload",
    "Thumbs.db", ".DS_Store", "a~",
  ])
  func `ignores the names of temporary files`(_ name: String) {
    #expect(AssetName.isForeign(name))
  }

  @Test(arguments: ["logo.png", "report~1.png", "a.tmp.png", "part", "lock", "sb-logo.png"])
  func `does not ignore other names`(_ name: String) {
    #expect(!AssetName.isForeign(name))
  }

  @Test func `removes a file under its name on the disk, and says when there is none`() throws {
    let scratch = try Scratch()
    try scratch.write("x", to: "img/caf\u{65}\u{301}.png")
    let folder = DropFolder(path: scratch.path)
    let name = try #require(AssetName("caf\u{E9}.png"))
    try folder.remove("img", name)
    #expect(scratch.names(in: "img") == [])
    let error = try #require(throws: ServiceError.self) { try folder.remove("img", name) }
    #expect(error.code == .notFound)
    #expect(throws: ServiceError.self) { try folder.remove("../img", name) }
  }

  @Test func `reads a small file, and not one that is too large or being written`() throws {
    let scratch = try Scratch()
    try scratch.write("12345", to: "img/note")
    let folder = DropFolder(path: scratch.path)
    #expect(try folder.read("img", "note", limit: 5) == Array("12345".utf8))
    #expect(try folder.read("img", "nothing", limit: 5) == nil)
    let large = try #require(throws: ServiceError.self) { try folder.read("img", "note", limit: 4) }
    #expect(large.code == .tooLarge)
    let writer = try #require(FileHandle(forWritingAtPath: scratch.path + "/img/note"))
    let busy = try #require(throws: ServiceError.self) { try folder.read("img", "note", limit: 5) }
    #expect(busy.code == .incomplete)
    try writer.close()
  }

  @Test func `a folder with the files of one rich type has no publish folder`() throws {
    let scratch = try Scratch()
    try scratch.write("x", to: "outbox/a")
    #expect(DropFolder(path: scratch.path).publishFolder != nil)
    let only = DropFolder(path: scratch.path, only: "img")
    #expect(try only.publishFolder == nil && only.richTypes().types == ["img"])
    #expect(try refusal(only, "outbox").reason.contains("folder"))
  }

  @Test(
    arguments: [
      ("a.png.notify.json", "a.png"), ("a.png.notify.sent.json", "a.png"),
      ("a.png.notify.error.txt", "a.png"), (".notify.json", nil), ("a.png", nil),
      ("a.png.notify", nil), ("default.notify.json", "default"),
    ] as [(String, String?)])
  func `tells by its name to which file a sidecar or a result belongs`(name: String, file: String?)
  {
    let entry = FolderEntry(Array(name.utf8))
    #expect(NotifySidecar.file(for: entry) == file)
    #expect(NotifySidecar.isResult(entry) == (name.contains(".sent.") || name.contains(".error.")))
  }
}
