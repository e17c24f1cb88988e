import Foundation
import RichPushClient
import Testing
import Waiting

/// A rich type is an executable: a good one works at once, a bad one hurts nobody.
@Suite(.timeLimit(.minutes(5))) struct PluginTests {
  @Test func `takes a new rich type that is dropped while it runs`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let coupon = NewNotification(
        "10% off", richType: "coupon", payload: "SAVE10", to: .users(["alice"]))
      let early = await #expect(throws: RichPushError.self) { try await alice.create(coupon) }
      #expect((400..<500).contains(early?.status ?? 0))
      try server.scratch.drop(Self.coupon, as: "plugins/coupon", executable: true)
      var created: RichNotification?
      try await eventually("the new type is taken") {
        created = try? await alice.create(coupon)
        return created != nil
      }
      let media = try await alice.media(try #require(created?.id))
      #expect(media.contentType == "application/json")
      #expect(String(decoding: media.bytes, as: UTF8.self) == #"{"coupon":"SAVE10"}"#)
    }
  }

  private static let coupon = Array(
    """
    #!/bin/sh
    printf 'Content-Type: application/json\\r\\n\\r\\n{"coupon":"%s"}' "$RICH_PAYLOAD"

    """.utf8)
}
