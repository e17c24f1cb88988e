import Foundation
import Testing

@testable import PluginHost

/// What a plugin writes to its standard output, byte for byte.
@Suite(.serialized, .timeLimit(.minutes(1))) struct CGIResponseTests {
  private func head(_ text: String) throws(MalformedOutput) -> CGIResponseHead {
    try CGIResponseHead(Array(text.utf8))
  }

  @Test func `has the fields of the contract, however they are written`() throws {
    let head = try head(
      "STATUS: 404 Not Found\r\ncontent-type:\t text/plain \nX-Sendfile:a b\r\n"
        + "Content-Length: 012\nLocation: https://a\nCache-Control: max-age=1\nX-Other: b\n\n")
    #expect(head.status == 404 && head.contentType == "text/plain")
    #expect(head.sendFile == "a b" && head.contentLength == 12 && head.location == "https://a")
    #expect(
      head.fields.map(\.name) == ["cache-control"] && head.fields.map(\.value) == ["max-age=1"])
  }

  @Test func `is 200, or 302 with a Location, unless it has a status`() throws {
    #expect(try head("Content-Type: a/b\n").status == 200)
    #expect(try head("Location: https://a\n").status == 302)
    #expect(try head("Location: https://a\nStatus: 200\n").status == 200)
  }

  @Test(arguments: [
    ("no-store", false), ("private", false), ("max-age=1, No-Store", false), ("a=private", false),
    ("max-age=60", true), ("no-cache", true), ("x-no-store", true),
  ])
  func `can be stored unless Cache-Control says otherwise`(value: String, isStorable: Bool) throws {
    #expect(try head("Content-Type: a/b\nCache-Control: \(value)\n").isStorable == isStorable)
  }

  @Test(arguments: [
    ("", "neither"), ("X-A: b\n", "neither"), ("Content-Type a/b\n", "the line"),
    (": a\n", "the line"), ("Content Type: a\n", "the line"),
    ("Content-Type: a\u{7F}\n", "the line"),
    ("Content-Type: a\0\n", "the line"), (" Content-Type: a\n", "the line"),
    ("Status: 20\n", "its Status"), ("Status: 2000\n", "its Status"),
    ("Status: 099\n", "its Status"),
    ("Status: 600\n", "its Status"), ("Status: -10\n", "its Status"), ("Status:\n", "its Status"),
    ("Content-Type: a/b\nContent-Length: +1\n", "Content-Length"),
    ("Content-Type: a/b\nContent-Length: 1 \n2", "the line"),
    ("Content-Type: a/b\nContent-Length: 1,1\n", "Content-Length"),
    ("Content-Type: a/b\nContent-Length: 99999999999999999999\n", "Content-Length"),
    ("Content-Type: a/b\ncontent-type: a/b\n", "content-type twice"),
    ("Status: 200\nStatus: 200\n", "status twice"),
    ("Location: https://a\nLocation: https://a\n", "location twice"),
    ("Content-Type: a/b\nContent-Length: 1\nContent-Length: 1\n", "content-length twice"),
    ("Content-Type: a/b\nX-Sendfile: a\nX-Sendfile: a\n", "x-sendfile twice"),
  ])
  func `is refused when its header is malformed`(text: String, cause: String) {
    #expect {
      try head(text)
    } throws: {
      ($0 as? MalformedOutput)?.description.contains(cause) == true
    }
  }

  @Test func `is refused when its header is not UTF-8`() {
    #expect(throws: MalformedOutput.self) { try CGIResponseHead([0x61, 0x3A, 0xFF, 0x0A]) }
  }

  @Test(arguments: ["\n", "\r\n", "A: b\n\n", "A: b\r\n\r\n", "A: b\n\r\n", "A: b\r\n\n"])
  func `has its content after the first empty line`(head: String) throws {
    let bytes = Array((head + "\n\r\n\r\nbody").utf8)
    for cut in 0...bytes.count {
      var buffer = CGIResponseBuffer(limit: 100, folder: "/nowhere")
      for piece in [bytes[..<cut], bytes[cut...]] {
        try Array(piece).withUnsafeBytes { try buffer.append($0) }
      }
      #expect(buffer.isHeadComplete && buffer.head.elementsEqual(head.utf8))
      #expect(buffer.body.bytes.elementsEqual("\n\r\n\r\nbody".utf8))
    }
  }

  @Test(arguments: ["A: b", "A: b\n", "A: b\r\n", "A: b\r\nC", "\r", "\ra\n"])
  func `has no content before an empty line`(text: String) throws {
    var buffer = CGIResponseBuffer(limit: 100, folder: "/nowhere")
    try Array(text.utf8).withUnsafeBytes { try buffer.append($0) }
    #expect(!buffer.isHeadComplete && buffer.body.count == 0)
  }

  @Test func `is refused when its header has more than 16 KiB`() throws {
    var buffer = CGIResponseBuffer(limit: 100, folder: "/nowhere")
    try [UInt8](repeating: 0x61, count: 16_384).withUnsafeBytes { try buffer.append($0) }
    #expect(throws: MalformedOutput.self) { try [0x61].withUnsafeBytes { try buffer.append($0) } }
  }

  @Test func `stays in memory up to a MiB, and is a file beyond that as long as it is referenced`()
    throws
  {
    let fixture = try PluginFixture()
    let folder = "\(fixture.folder)/tmp"
    var path = ""
    do {
      var spool = Spool(limit: 3 << 20, folder: folder)
      let half = [UInt8](repeating: 0x62, count: 1 << 19)
      for _ in 0..<2 { try half.withUnsafeBytes { try spool.append($0) } }
      #expect(spool.file == nil && spool.bytes.count == 1 << 20)
      for _ in 0..<4 { try half.withUnsafeBytes { try spool.append($0) } }
      let file = try #require(spool.file)
      path = file.path
      #expect(file.size == 3 << 20 && spool.count == 3 << 20 && spool.bytes.isEmpty)
      #expect(try Data(contentsOf: URL(filePath: path)) == Data(repeating: 0x62, count: 3 << 20))
      #expect(throws: MalformedOutput.self) { try [0x62].withUnsafeBytes { try spool.append($0) } }
    }
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(throws: MalformedOutput.self) {
      var spool = Spool(limit: 3 << 20, folder: "/nowhere")
      try [UInt8](repeating: 0, count: 2 << 20).withUnsafeBytes { try spool.append($0) }
    }
  }
}
