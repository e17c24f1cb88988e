import Foundation
import MediaTypes
import Testing

@Suite struct ByteSourceTests {
  @Test func `reads within the bytes and never beyond them`() {
    let bytes: [UInt8] = [1, 2, 3, 4]
    #expect(bytes.read(at: 1, count: 2) == [2, 3])
    #expect(bytes.read(at: 2, count: .max) == [3, 4])
    #expect(bytes.read(at: 4, count: 1).isEmpty)
    #expect(bytes.read(at: -1, count: 1).isEmpty)
  }

  @Test func `reads a file by position and refuses what is no file`() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "richpush-\(UUID()).txt")
    try Data("hello world".utf8).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let file = try #require(OpenFile(url.path))
    #expect(file.size == 11)
    #expect(file.read(at: 6, count: 100) == [UInt8]("world".utf8))
    #expect(MediaType.sniff(file).value == "text/plain")
    #expect(OpenFile("/dev/null") == nil && OpenFile("/tmp") == nil)
    #expect(OpenFile(url.path + "x") == nil)
  }
}
