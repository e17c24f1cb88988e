import Foundation
import RichPushClient
import Testing

/// A rich type is an executable: a good one works at once, a bad one hurts nobody.
@Suite struct PluginTests {
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

  @Test func `contains plugins that misbehave`() async throws {
    let manifest = #"{"limits":{"seconds":1,"outputMiB":1}}"#
    try await RunningServer.lend { scratch in
      for (name, script, _) in Self.bad {
        try scratch.drop(Array(manifest.utf8), as: "plugins/\(name)/plugin.json")
        try scratch.drop(
          Array("#!/bin/sh\n\(script)\n".utf8), as: "plugins/\(name)/\(name)", executable: true)
      }
    } to: { server in
      try await withThrowingTaskGroup { group in
        for (name, _, statuses) in Self.bad {
          group.addTask {
            let call = NewNotification("m", richType: name, payload: "x", to: .users(["alice"]))
            let status = await Self.status { _ = try await server.client("alice").create(call) }
            #expect(statuses.contains(status), "\(name): \(status) \(server.log)")
          }
        }
        for _ in 0..<5 { try await server.expectHealthy() }
        try await group.waitForAll()
      }
      try await server.expectHealthy()
      for (name, _, _) in Self.bad { #expect(server.log.contains(name)) }
    }
  }

  /// A plugin's name, its script, and what its caller may be told.
  private static let bad: [(name: String, script: String, statuses: [Int])] = [
    ("hang", "sleep 1000", [504]),
    ("deaf", "trap '' TERM; while :; do sleep 1; done", [504]),
    ("crash", "kill -SEGV $$", [502]),
    ("fail", "echo 'it broke' >&2; exit 1", [502]),
    ("garbage", "head -c 2000 /dev/urandom", [502]),
    ("silent", "exit 0", [502]),
    ("flood", "printf 'Content-Type: image/png\\n\\n'; head -c 1000000000 /dev/zero", [502]),
    ("early", "printf 'Content-Type: image/png\\n\\nx'; exec >&-; sleep 1000", [200, 502, 504]),
    ("page", "printf 'Content-Type: text/html\\n\\n<script>1</script>'", [502]),
    ("unwell", "exit 65", [422]),
    ("busy", "exit 75", [503]),
  ]

  /// The status that a call ends with; 200 when it does not fail.
  private static func status(_ call: () async throws -> Void) async -> Int {
    do {
      try await call()
      return 200
    } catch {
      return (error as? RichPushError)?.status ?? -1
    }
  }

  private static let coupon = Array(
    """
    #!/bin/sh
    printf 'Content-Type: application/json\\r\\n\\r\\n{"coupon":"%s"}' "$RICH_PAYLOAD"

    """.utf8)
}
