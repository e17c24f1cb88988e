import Foundation
import RichPushClient
import Testing

/// What a picture looks like until it is loaded.
@Suite(.timeLimit(.minutes(5))) struct ThumbHashTests {
  /// What a push says it looks like, whatever its platform.
  private func hash(in payload: JSONValue) -> String? {
    payload.thumbHash.text ?? payload.data.thumbHash.text
  }

  @Test func `details and pushes have it, but not of what is private`() async throws {
    try await RunningServer.lend { server in
      let (shop, alice) = (server.client("shop"), server.client("alice"))
      var new = NewNotification.logo(to: "alice")
      new.form = .alert
      let id = try await shop.create(new).id
      let text = try #require(try await alice.details(id).details.thumbHash.text)
      #expect(text.utf8.count <= 48)
      let picture = try #require(ThumbHash(text)).picture()
      #expect((picture.width, picture.height, picture.rgba.count) == (32, 32, 32 * 32 * 4))
      #expect(try await alice.inbox().notifications.first?.details.thumbHash.text == text)
      for push in try await shop.dryRun(new).texts {
        #expect(hash(in: push.payload) == text, "\(push.platform)")
      }
      new.message.lockScreen = .private
      let hidden = try await shop.create(new).id
      let details = try await alice.details(hidden).details
      #expect(details.thumbHash == .null && details.width == .number(512))
      for push in try await shop.dryRun(new).texts {
        #expect(hash(in: push.payload) == nil, "\(push.platform)")
      }
      var found: [Int: [String?]] = [:]
      for try await event in alice.events(after: "0") {
        if let id = event.push.id { found[id] = [event.push.thumbHash] }
        if found.count == 2 { break }
      }
      #expect(found == [id: [text], hidden: [nil]])
    }
  }

  @Test(arguments: [
    "", "AAAA", "no hash", "p8WFNQosRjd8hoIJSCZr", String(repeating: "A", count: 52),
  ])
  func `a text that is no hash makes no picture`(text: String) {
    #expect(ThumbHash(text) == nil)
  }

  @Test func `a hash of any bytes makes some picture`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      let bytes = (0..<25).map { _ in UInt8.random(in: 0...255, using: &random) }
      guard let picture = ThumbHash(Data(bytes).base64EncodedString())?.picture() else { continue }
      #expect(picture.rgba.count == picture.width * picture.height * 4)
      #expect((1...32).contains(picture.width) && (1...32).contains(picture.height))
    }
  }
}

/// Our decoder beside that of the algorithm's author, which the PyPI package fast-thumbhash contains.
@Suite(.timeLimit(.minutes(5))) struct ThumbHashSystemTests {
  @Test func `another decoder sees the same picture`() async throws {
    let program = """
      import base64, random, fast_thumbhash
      chance = random.Random(25)
      for number in range(40):
          width, height, opaque = chance.randrange(1, 101), chance.randrange(1, 101), number % 2
          rgba = []
          for pixel in range(width * height):
              rgba += [pixel * 3 % 256, pixel // width * 5 % 256, chance.randrange(256), 255 if opaque else pixel % 256]
          hash = bytes(fast_thumbhash.rgba_to_thumb_hash(width, height, bytes(rgba)))
          columns, rows, pixels = fast_thumbhash.thumb_hash_to_rgba(hash)
          print(base64.b64encode(hash).decode(), columns, rows, base64.b64encode(bytes(pixels)).decode())
      """
    let result = try await Tool.run("python", ["-c", program])
    #expect(result.output.count == 40, "\(result.errors)")
    for line in result.output {
      let words = line.split(separator: " ").map(String.init)
      try #require(words.count == 4)
      let picture = try #require(ThumbHash(words[0]), "\(words[0])").picture()
      let wanted = try #require(Data(base64Encoded: words[3]))
      #expect([picture.width, picture.height] == [Int(words[1]), Int(words[2])])
      try #require(picture.rgba.count == wanted.count)
      // Computed with other precision.
      let worst = zip(picture.rgba, wanted).map { abs(Int($0) - Int($1)) }.max() ?? 0
      #expect(worst <= 1, "\(words[0])")
    }
  }
}
