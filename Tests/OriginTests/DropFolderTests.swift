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
    #expect(folder.richTypes() == ["img"] && folder.names("img") == ["a.txt"])
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
    #expect(folder.richTypes().contains("img") == false)
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
    ".logo.png.Xy12", "~$report.png", "a.png.part", "a.crdownload", "Thumbs.db", ".DS_Store", "a~",
  ])
  func `passes over the names of a moment`(_ name: String) {
    #expect(AssetName.isTemporary(name))
  }
}
