import Foundation
import RichPushClient
import Testing
import Waiting

/// Pictures that are cropped around the focus of their asset, by the real `img`.
@Suite(.timeLimit(.minutes(5))) struct AssetFocusTests {
  /// Writes a PNG of three stripes, each of one colour.
  private static let script = """
    import struct, sys, zlib
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    row = b"\\0" + b"".join(bytes.fromhex(colour) * 200 for colour in sys.argv[2:])
    open(sys.argv[1], "wb").write(b"\\x89PNG\\r\\n\\x1a\\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", 600, 200, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(row * 200)) + chunk(b"IEND", b""))
    """
  private static let (red, green, blue) = ("c81e1e", "1ec81e", "1e1ec8")

  private static func write(_ stripes: [String], to path: String) async throws {
    let python = try await Child.run("/usr/bin/python3", ["-c", script, path] + stripes)
    try #require(python.exitCode == 0, "\(python.errors)")
  }

  /// The only colour of a PNG with a palette; nil if it has several.
  private static func colour(of png: [UInt8]) -> String? {
    guard let range = png.firstRange(of: Array("PLTE".utf8)),
      png[..<range.lowerBound].suffix(4).elementsEqual([0, 0, 0, 3])
    else { return nil }
    return png[range.upperBound...].prefix(3).map {
      let digits = String($0, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  private static let crop = "width=96&height=96&fit=cover"

  /// The colour of a square of the picture, as high as the picture.
  private static func square(
    _ id: Int, _ server: RunningServer, _ options: String = ""
  ) async throws -> String? {
    let answer = try RawConnection(port: server.port).exchange(
      "GET /api/notifications/\(id)?\(crop)\(options) HTTP/1.1\r\nAuthorization: Basic YWxpY2U6YWxpY2U=\r\n"
    )
    try #require(answer.status == 200, "\(answer)")
    return colour(of: answer.body)
  }

  private static func send(_ server: RunningServer) async throws -> RichNotification {
    try await server.client("shop").create(
      NewNotification("m", richType: "img", payload: "stripes.png", to: .users(["alice"])))
  }

  private static func ready(_ server: RunningServer) async throws -> Asset {
    var asset: Asset?
    try await eventually("it is ready") {
      asset = try? await server.client("shop").asset("stripes.png", richType: "img")
      return asset?.state == .ready
    }
    return try #require(asset)
  }

  @Test func `notifications show the part that their asset's focus had in it`() async throws {
    try await RunningServer.lend { scratch in
      try await Self.write(
        [Self.red, Self.green, Self.blue], to: scratch.folder.path + "/assets/img/stripes.png")
    } to: { server in
      let shop = server.client("shop")
      _ = try await Self.ready(server)
      let first = try await Self.send(server)
      #expect(try await Self.square(first.id, server) == Self.green)
      let focus = try #require(Asset.Focus(x: 0.1, y: 0.5))
      let changed = try await shop.amendAsset(
        "stripes.png", richType: "img", AssetAmendment(alt: "Three stripes", focus: focus))
      #expect(changed.focus == focus && changed.alt == "Three stripes")
      #expect(try await Self.ready(server).focus == focus)
      let second = try await Self.send(server)
      #expect(second.message.alt == "Three stripes" && first.message.alt == nil)
      #expect(try await Self.square(first.id, server) == Self.green)
      #expect(try await Self.square(second.id, server) == Self.red)
      #expect(try await Self.square(second.id, server, "&focus=1,0") == Self.blue)
      #expect(try await Self.square(second.id, server, "&focus=0.5,0.5") == Self.green)
      #expect(try await Self.square(second.id, server, "&profile=ios") == Self.red)

      // Another picture has no focus, and what was sent keeps its own.
      let other = server.scratch.folder.path + "/other.png"
      try await Self.write([Self.blue, Self.red, Self.green], to: other)
      let replaced = try await shop.upload(
        URL(filePath: other), name: "stripes.png", richType: "img")
      #expect(replaced.focus == nil && replaced.alt == "Three stripes")
      #expect(try await Self.square(Self.send(server).id, server) == Self.red)
      try await server.restart(by: SIGKILL)
      #expect(try await Self.square(second.id, server) == Self.red)
      #expect(try await Self.ready(server).alt == "Three stripes")
    }
  }

  @Test func `they are set on the command line, and by a file beside the picture`() async throws {
    try await RunningServer.lend { scratch in
      try await Self.write(
        [Self.red, Self.green, Self.blue], to: scratch.folder.path + "/assets/img/stripes.png")
    } to: { server in
      _ = try await Self.ready(server)
      func describe(_ flags: String...) async throws -> Int32 {
        let words = ["asset", "describe", "img/stripes.png"] + flags
        let remote = ["--server", server.endpoint.absoluteString]
        let result = try await Child.run("richpush", words + remote)
        return result.exitCode
      }
      #expect(try await describe("--alt", "Three stripes", "--focus", "1,0.5") == 0)
      #expect(try await Self.square(Self.send(server).id, server) == Self.blue)
      #expect(try await describe("--remove", "focus") == 0)
      let left = try await Self.ready(server)
      #expect(left.focus == nil && left.alt == "Three stripes")
      for wrong in [
        [], ["--focus", "2,2"], ["--remove", "name"], ["--alt", "a", "--remove", "alt"],
      ]
        as [[String]]
      {
        let refused = try await Child.run("richpush", ["asset", "describe", "img/x"] + wrong)
        #expect(refused.exitCode == 64, "\(wrong) \(refused)")
      }
      let file = "assets/img/stripes.png.describe.json"
      try server.scratch.drop(Array(#"{"alt":"Beside","focus":"0,0"}"#.utf8), as: file)
      try await eventually("the file is read") {
        try await server.client("shop").asset("stripes.png", richType: "img").alt == "Beside"
      }
      #expect(try await Self.square(Self.send(server).id, server) == Self.red)
      #expect(try await describe("--alt", "x") != 0)
      let names = try await server.client("shop").assets(richType: "img").map(\.name)
      #expect(!names.contains { $0.contains("describe") })
      try FileManager.default.removeItem(at: server.scratch.folder.appending(path: file))
      try await eventually("it holds no longer") {
        try await server.client("shop").asset("stripes.png", richType: "img").alt == nil
      }
    }
  }
}
