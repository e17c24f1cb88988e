import Foundation
import MediaTypes
import RichPushClient
import Testing
import Waiting

/// From a file in a folder to media on a phone, for every rich type there is.
@Suite(.timeLimit(.minutes(5))) struct MediaTests {
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
        #expect(MediaType.sniff([UInt8](thumbnail.bytes)).value == type)
        let size = try #require(PixelSize.read([UInt8](thumbnail.bytes)))
        #expect(size.width == 320, "\(name)")
        #expect(thumbnail.bytes.count < original.bytes.count)
        #expect(thumbnail.etag != nil && thumbnail.etag != original.etag)
        for profile in ["ios", "android", "watch", "web", "thumb"] {
          let cut = try await alice.media(notification.id, options: MediaOptions(profile: profile))
          #expect(PixelSize.read([UInt8](cut.bytes)) != nil, "\(name) for \(profile)")
        }
      }
    }
  }

  @Test func `averages light when it is asked to, and keeps both pictures`() async throws {
    try await RunningServer.lend { server in
      try server.scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "assets/img/light.jpg")
      let alice = server.client("alice")
      let notification = try await alice.create(
        NewNotification("m", richType: "img", payload: "light.jpg", to: .users(["alice"])))
      func media(_ profile: String?, _ linear: String?) async throws -> Data {
        try await alice.media(
          notification.id,
          options: MediaOptions(
            profile: profile, width: 160, others: linear.map { ["linear": $0] } ?? [:])
        ).bytes
      }
      for profile in [nil, "ios"] {
        let code = try await media(profile, nil)
        let light = try await media(profile, "1")
        #expect(light != code)
        #expect(try await media(profile, nil) == code)
        #expect(try await media(profile, "1") == light)
        #expect(PixelSize.read([UInt8](light))?.description == "160x107")
      }
      await #expect(throws: RichPushError.self) { try await media(nil, "maybe") }
    }
  }

  @Test func `gives an original without its private metadata, upright`() async throws {
    let secret = Array("PRIVATE 52.5 13.4\0".utf8)
    let exif =
      Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0, 2, 0]
      + [0x0E, 1, 2, 0, UInt8(secret.count), 0, 0, 0, 38, 0, 0, 0]
      + [0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0] + secret
    let beach = try Package.bytes("assets/img/beach.jpg")
    let photo =
      beach.prefix(2) + [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif + beach.dropFirst(2)
    try await RunningServer.lend { server in
      try server.scratch.drop(Array(photo), as: "assets/img/turned.jpg")
      let alice = server.client("alice")
      let notification = try await alice.create(
        NewNotification("m", richType: "img", payload: "turned.jpg", to: .users(["alice"])))
      #expect(notification.details.width.double == 800)
      #expect(notification.details.height.double == 1200)
      let original = [UInt8](try await alice.media(notification.id).bytes)
      #expect(PixelSize.read(original)?.description == "800x1200")
      #expect(original.suffix(1000) == beach.suffix(1000))
      #expect(!original.indices.contains { original[$0...].starts(with: secret) })
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
