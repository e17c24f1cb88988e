import Foundation
import Testing

@testable import Origin

@Suite struct DropFolderTests {
  private func refusal(_ folder: DropFolder, _ name: String) throws -> Refusal {
    let name = try #require(AssetName(name))
    return try #require(throws: Refusal.self) { _ = try folder.open("img", name).size }
  }

  @Test func `opens a file and tells its size`() throws {
    let scratch = try Scratch()
    try scratch.write("hello", to: "img/a.txt")
    let folder = DropFolder(path: scratch.path)
    #expect(try folder.open("img", try #require(AssetName("a.txt"))).size == 5)
    #expect(try folder.richTypes().types == ["img"])
    #expect(try folder.entries("img").map(\.entry.shown) == ["a.txt"])
  }

  @Test func `finds a name that the disk has in the decomposed form`() throws {
    let scratch = try Scratch()
    try scratch.write("x", to: "img/caf\u{65}\u{301}.png")
    let folder = DropFolder(path: scratch.path)
    #expect(try folder.open("img", try #require(AssetName("caf\u{E9}.png"))).size == 1)
  }

  @Test func `refuses a link, a pipe and a folder with a sentence, and misses what is not there`()
    throws
  {
    let scratch = try Scratch()
    try scratch.write("secret", to: "secret.txt")
    try scratch.write("x", to: "img/sub/y")
    symlink("../secret.txt", scratch.path + "/img/link")
    mkfifo(scratch.path + "/img/pipe", 0o600)
    let folder = DropFolder(path: scratch.path)
    #expect(try refusal(folder, "link").sentence.contains("symbolic link"))
    #expect(try refusal(folder, "pipe").sentence.contains("pipe"))
    #expect(try refusal(folder, "sub").sentence.contains("folder"))
    #expect(try refusal(folder, "nothing").status == 404)
  }

  @Test func `does not follow a rich type's folder that is a link`() throws {
    let scratch = try Scratch()
    try scratch.write("secret", to: "elsewhere/secret.txt")
    symlink("elsewhere", scratch.path + "/img")
    let folder = DropFolder(path: scratch.path)
    #expect(try folder.richTypes().types == ["elsewhere"])
    #expect(try folder.richTypes().others.map(\.shown) == ["img"])
    #expect(try refusal(folder, "secret.txt").status == 404)
  }

  @Test(arguments: [
    "..", ".", "", "a/b", "../a", "a\u{0}b", "a\nb", "gpj\u{202E}exe",
    String(repeating: "x", count: 256),
  ])
  func `no such text is a name`(_ text: String) {
    #expect(AssetName(text) == nil)
  }

  @Test(arguments: [
    (Array("a\nb".utf8), #"a\u{A}b"#), (Array("gpj\u{202E}exe".utf8), #"gpj\u{202E}exe"#),
    ([0x63, 0x61, 0x66, 0xE9], #"caf\x{E9}"#), (Array(#"a\u{A}b"#.utf8), #"a\u{5C}u{A}b"#),
  ])
  func `shows a name that can be no asset so that no two look the same`(
    bytes: [UInt8], shown: String
  ) {
    let entry = FolderEntry(bytes)
    #expect(entry.name == nil && entry.shown == shown && entry.problem.contains("rename"))
  }

  @Test func `waits for a file while somebody has it open for writing`() throws {
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
  func `passes over the names of a moment`(_ name: String) {
    #expect(AssetName.isTemporary(name))
  }
}
