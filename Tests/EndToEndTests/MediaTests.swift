import Foundation
import MediaTypes
import RichPushClient
import Testing

/// From a file in a folder to media on a phone, for every rich type there is.
@Suite struct MediaTests {
  @Test func `makes thumbnails of the right type and size, whatever a file is called`()
    async throws
  {
    try await RunningServer.lend { scratch in
      try scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "assets/img/photo.png")
    } to: { server in
      let alice = server.client("alice")
      for (name, type) in [
        ("logo.png", "image/png"), ("beach.jpg", "image/jpeg"), ("photo.png", "image/jpeg"),
      ] {
        let notification = try await alice.create(
          NewNotification("m", richType: "img", payload: name, to: .users(["alice"])))
        let original = try await alice.media(notification.id)
        #expect(original.contentType == type)
        let thumbnail = try await alice.media(notification.id, options: MediaOptions(width: 320))
        #expect(thumbnail.contentType == type)
        #expect(MediaType.sniff(thumbnail.bytes).value == type)
        let size = try #require(PictureSize.read([UInt8](thumbnail.bytes)))
        #expect(size.width == 320, "\(name)")
        #expect(thumbnail.bytes.count < original.bytes.count)
        #expect(thumbnail.etag != nil && thumbnail.etag != original.etag)
        for profile in ["ios", "android", "watch", "web", "thumb"] {
          let cut = try await alice.media(notification.id, options: MediaOptions(profile: profile))
          #expect(PictureSize.read([UInt8](cut.bytes)) != nil, "\(name) for \(profile)")
        }
      }
    }
  }

  @Test func `gives a sound its type by its bytes`() async throws {
    try await RunningServer.lend { scratch in
      try scratch.drop(Package.bytes("assets/sound/chime.wav"), as: "assets/sound/chime.mp3")
    } to: { server in
      let alice = server.client("alice")
      let notification = try await alice.create(
        NewNotification("Ding", richType: "sound", payload: "chime.mp3", to: .users(["alice"])))
      let media = try await alice.media(notification.id)
      #expect(["audio/wav", "audio/wave", "audio/x-wav"].contains(media.contentType))
      let isTheChime = [UInt8](media.bytes) == (try Package.bytes("assets/sound/chime.wav"))
      #expect(isTheChime)
      #expect((notification.details.duration.double ?? 0) > 0)
    }
  }

  @Test(arguments: ["https://www.swift.org/getting-started/", "welcome.url"])
  func `makes a card of a link`(payload: String) async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let notification = try await alice.create(
        NewNotification("Read", richType: "url", payload: payload, to: .users(["alice"])))
      let media = try await alice.media(notification.id)
      #expect(media.contentType == "application/json")
      let card = try JSONDecoder().decode(JSONValue.self, from: media.bytes)
      #expect(card.url.text == "https://www.swift.org/getting-started/")
      #expect(card.host.text == "www.swift.org")
    }
  }

  @Test func `keeps what was sent when the file is replaced`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let before = try await alice.create(.logo(to: "alice"))
      try server.scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "assets/img/logo.png")
      var after: RichNotification?
      try await eventually("the new file is used") {
        after = try await alice.create(.logo(to: "alice"))
        return try await alice.media(try #require(after?.id)).contentType == "image/jpeg"
      }
      #expect(try await alice.media(before.id).contentType == "image/png")
    }
  }

  @Test func `keeps an inbox with what is read`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      for number in 0..<5 { _ = try await alice.create(.logo(to: "alice", "\(number)")) }
      try await alice.markRead(3)
      let first = try await alice.inbox(unreadOnly: true, limit: 3)
      #expect(first.notifications.map(\.id) == [4, 2, 1])
      let second = try #require(try await alice.page(after: first))
      #expect(second.notifications.map(\.id) == [0])
      #expect(try await alice.page(after: second) == nil)
      #expect(try await alice.details(3).isRead)
      #expect(try await server.client("bob").inbox().notifications.isEmpty)
      await #expect(throws: RichPushError.self) { try await server.client("bob").details(3) }
    }
  }
}
