import Foundation
import PluginHost
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Media

@Suite(.timeLimit(.minutes(1))) struct RendererTests {
  /// Renders the payload with the options as text.
  private static let echo =
    #"printf 'Content-Type: text/plain\n\n%s|%s' "$RICH_PAYLOAD" "$QUERY_STRING""#

  @Test func `renders once and serves the stored rendition from then on`() async throws {
    let media = try MediaFixture { try $0.installPlugin("note", Self.echo) }
    let request = try media.request("hello")
    #expect(media.renderer.stored(request) == nil)
    for _ in 0..<3 {
      let rendered = try await media.renderer.rendition(request)
      #expect(try media.text(of: rendered) == "hello|")
      #expect(rendered.stored?.mediaType == "text/plain" && rendered.stored?.fileName == "note.txt")
    }
    #expect(media.renderer.stored(request) != nil)
    #expect(media.counts[.made] == 1 && media.counts[.hit] == 3)
  }

  @Test func `a stored rendition has the fields that a plugin may set, and no others`()
    async throws
  {
    let media = try MediaFixture { try $0.installPlugin("note", Self.echo) }
    let request = try media.request()
    // As an earlier version stored it.
    _ = try await media.store.renditions.store(
      request.key, bytes: [1], contentType: "text/plain",
      fields: [
        Rendition.Field("link", "<https://elsewhere>"), Rendition.Field("Set-Cookie", "a=b"),
        Rendition.Field("set-cookie", "a=b"), Rendition.Field("content-language", "de"),
      ])
    let stored = try #require(media.renderer.stored(request))
    #expect(stored.fields.map(\.name) == ["content-language"])
  }

  @Test func `different options, content and notifications have different renditions`()
    async throws
  {
    let media = try MediaFixture { scratch in
      try scratch.installPlugin("note", Self.echo)
      try scratch.installPlugin("each", manifest: #"{"perNotification":true}"#, Self.echo)
      try scratch.installPlugin("mine", manifest: #"{"perUser":true}"#, Self.echo)
    }
    let profile = RenditionOptions(try #require(Profile.named("thumb")))
    let keys = try [
      media.request(), media.request("q"), media.request(options: profile),
      media.request(of: "each"), media.request(of: "each", id: 0), media.request(of: "each", id: 1),
      media.request(of: "mine", user: "alice", owner: UserID(rawValue: 1)),
      media.request(of: "mine", user: "alice", owner: UserID(rawValue: 2)),
      media.request(of: "mine", user: "bob", owner: UserID(rawValue: 2)),
      media.request(pinned: await media.pin("p")), media.request(pinned: await media.pin("q")),
    ].map(\.key)
    #expect(Set(keys).count == keys.count)
    // What does not matter to the plugin is not part of the key.
    #expect(
      try media.request(id: 1, user: "alice", owner: UserID(rawValue: 1)).key
        == media.request(id: 2, user: "bob", owner: UserID(rawValue: 2)).key)
    let rendered = try await media.renderer.rendition(media.request(options: profile))
    #expect(try media.text(of: rendered) == "p|profile=thumb")
  }

  @Test func `two requests for one missing rendition share one render`() async throws {
    let scratch = try Scratch()
    let gate = Gate(in: scratch)
    let media = try MediaFixture {
      try $0.installPlugin("note", gate.command + "\n" + Self.echo)
    }
    let request = try media.request()
    let callers = (0..<3).map { _ in Task { try await media.renderer.rendition(request) } }
    try await eventually("the others wait for the first") { media.counts[.coalesced] == 2 }
    try await gate.open()
    for caller in callers { #expect(try await media.text(of: caller.value) == "p|") }
    #expect(media.counts[.made] == 1 && media.counts[.hit] == 0)
  }

  @Test func `a caller that gives up does not end the render of the others`() async throws {
    let scratch = try Scratch()
    let gate = Gate(in: scratch)
    let media = try MediaFixture {
      try $0.installPlugin("note", gate.command + "\n" + Self.echo)
    }
    let request = try media.request()
    let first = Task { try await media.renderer.rendition(request) }
    try await eventually("it is being rendered") { gate.isWaitedAt }
    let second = Task { try await media.renderer.rendition(request) }
    try await eventually("the second waits") { media.counts[.coalesced] == 1 }
    first.cancel()
    try await gate.open()
    #expect(try await media.text(of: second.value) == "p|")
    #expect(media.counts[.made] == 1)
  }

  @Test func `a rendition of what is erased meanwhile is not kept`() async throws {
    let scratch = try Scratch()
    let gate = Gate(in: scratch)
    let media = try MediaFixture {
      try $0.installPlugin("note", gate.command + "\n" + Self.echo)
    }
    let store = media.store
    try await store.accounts.addUser("alice", hash: "", role: .device)
    let alice = try #require(try await store.accounts.user(named: "alice")).id
    var new = NotificationInsert(message: "m", richType: "note", payload: "p")
    (new.recipients, new.to) = ([alice], ["username:alice"])
    let id = try await store.notifications.create(new).notification.id
    let request = try media.request("p", id: id)
    let rendered = Task { try await media.renderer.rendition(request) }
    try await eventually("it is being rendered") { gate.isWaitedAt }
    #expect(try await store.erasures.beginErasure(of: alice, keepingAdmin: false))
    #expect(try await store.continueErasures().erased == [alice])
    try await gate.open()
    let error = await #expect(throws: ServiceError.self) { try await rendered.value }
    #expect(error?.code == .notFound)
    #expect(store.renditions.rendition(request.key) == nil)
  }

  @Test func `what was rendered for an erased person alone is removed, also of what others have`()
    async throws
  {
    let media = try MediaFixture {
      try $0.installPlugin("mine", manifest: #"{"perUser":true}"#, Self.echo)
    }
    let store = media.store
    var users: [UserID] = []
    for name in ["alice", "bob"] {
      try await store.accounts.addUser(name, hash: "", role: .device)
      users.append(try #require(try await store.accounts.user(named: name)).id)
    }
    var new = NotificationInsert(message: "m", richType: "mine", payload: "p")
    (new.recipients, new.to) = (users, ["username:alice", "username:bob"])
    let id = try await store.notifications.create(new).notification.id
    let requests = try zip(["alice", "bob"], users).map { name, user in
      try media.request("p", of: "mine", id: id, user: name, owner: user)
    }
    for request in requests { _ = try await media.renderer.rendition(request) }
    #expect(try await store.erasures.beginErasure(of: users[0], keepingAdmin: false))
    #expect(try await store.continueErasures().erased == [users[0]])
    #expect(requests.map { store.renditions.rendition($0.key) != nil } == [false, true])
    await #expect(throws: ServiceError.self) { try await media.renderer.rendition(requests[0]) }
    #expect(store.renditions.rendition(requests[0].key) == nil)
  }

  @Test func `what was stored while a request waited is not rendered again`() async throws {
    let scratch = try Scratch()
    let gate = Gate(in: scratch)
    let media = try MediaFixture {
      try $0.installPlugin(
        "note", manifest: #"{"workers":{"max":1}}"#, gate.command + "\n" + Self.echo)
    }
    let others = try ["a", "b"].map { payload in
      let request = try media.request(payload)
      return Task { try await media.renderer.rendition(request) }
    }
    try await eventually("one is rendered, the other waits in the plugin host") {
      gate.isWaitedAt && media.host.status().first?.queue.waiting == 1
    }
    let request = try media.request("late")
    let late = Task { try await media.renderer.rendition(request) }
    try await eventually("it waits") { media.queues.load(of: request.plugin).waiting == 1 }
    _ = try await media.store.renditions.store(
      request.key, bytes: Array("stored".utf8), contentType: "text/plain", fields: [])
    for count in 1...2 {
      try await gate.open()
      try await eventually("one more is rendered") { media.counts[.made] == count }
    }
    #expect(try await media.text(of: late.value) == "stored")
    for other in others { _ = try await other.value }
    #expect(media.counts[.made] == 2)
  }

  @Test func `a rejection reaches every caller and is not stored`() async throws {
    let media = try MediaFixture { scratch in
      try scratch.installPlugin(
        "note", "printf 'Status: 422\\nContent-Type: text/plain\\n\\nIt is too wide.'")
    }
    let request = try media.request()
    let error = try await #require(throws: ServiceError.self) {
      _ = try await media.renderer.rendition(request)
    }
    #expect(error.code == .rejected && error.reason == "It is too wide.")
    try media.scratch.installPlugin("note", Self.echo)
    try await eventually("the new plugin is noticed") {
      try await media.text(of: media.renderer.rendition(media.request())) == "p|"
    }
  }

  @Test func `what may not be stored is rendered for each request`() async throws {
    let media = try MediaFixture { scratch in
      try scratch.installPlugin(
        "note", "printf 'Content-Type: text/plain\\nCache-Control: no-store\\n\\nonce'")
      try scratch.installPlugin("place", "printf 'Location: https://example.org/a\\n\\n'")
    }
    let (note, place) = (try media.request(), try media.request(of: "place"))
    for count in 1...2 {
      guard case .transient(let once) = try await media.renderer.rendition(note) else {
        Issue.record("it was stored")
        return
      }
      #expect(once.bytes == Array("once".utf8) && once.mediaType == "text/plain")
      #expect(try await media.text(of: media.renderer.rendition(place)) == "https://example.org/a")
      #expect(media.counts[.made] == 2 * count)
    }
    #expect(media.renderer.stored(note) == nil && media.counts[.hit] == 0)
  }

  @Test func `an asset that is sent unchanged is read from its blob`() async throws {
    let media = try MediaFixture { scratch in
      try scratch.installPlugin(
        "note", "printf 'Content-Type: text/plain\\nX-Sendfile: asset\\nX-Note: a\\n\\n'")
    }
    let pinned = try await media.pin("the asset")
    let request = try media.request("photo.txt", pinned: pinned)
    for _ in 0..<2 {
      let stored = try await media.renderer.rendition(request).stored
      #expect(stored?.path == pinned.path && stored?.size == 9 && stored?.etag == pinned.digest.hex)
      #expect(stored?.fileName == "photo.txt")
    }
    let error = try await #require(throws: ServiceError.self) {
      _ = try await media.renderer.rendition(media.request())
    }
    #expect(error.code == .pluginFailed)
  }

  @Test func `background work waits while a device waits`() async throws {
    let scratch = try Scratch()
    let gate = Gate(in: scratch)
    let media = try MediaFixture { fixture in
      try fixture.installPlugin("slow", gate.command + "\n" + Self.echo)
      try fixture.installPlugin("note", Self.echo)
    }
    let slow = try media.request(of: "slow")
    let device = Task { try await media.renderer.rendition(slow) }
    try await eventually("the device waits") { gate.isWaitedAt }
    let start = ContinuousClock.now
    _ = try await media.renderer.renditionInBackground(media.request())
    #expect(ContinuousClock.now - start >= .milliseconds(900), "it yields for a second at most")
    try await gate.open()
    _ = try await device.value
    // The shortest of some: a process may be slow to start on a busy machine.
    var shortest = Duration.seconds(60)
    for number in 0..<5 where shortest >= .milliseconds(900) {
      let rest = ContinuousClock.now
      _ = try await media.renderer.renditionInBackground(media.request("another \(number)"))
      shortest = min(shortest, ContinuousClock.now - rest)
    }
    #expect(shortest < .milliseconds(900))
  }

  @Test func `a plugin with an idle process answers on the calling thread, once`() async throws {
    let media = try MediaFixture { try $0.installPlugin("note", Self.echo) }
    #expect(try media.renderer.renditionInline(media.request()) == nil, "a new process is too slow")
    #expect(media.counts[.made] == 0)
  }
}

@Suite(.timeLimit(.minutes(1))) struct PayloadValidatorTests {
  private func validator(_ script: String, manifest: String) throws -> (PayloadValidator, Scratch) {
    let scratch = try Scratch()
    try scratch.installPlugin("note", manifest: manifest, script)
    return (PayloadValidator(host: try scratch.pluginHost()), scratch)
  }

  private func source(_ richType: String = "note", pinned: PinnedAsset? = nil) -> RenditionSource {
    RenditionSource(richType: richType, message: "m", payload: "p", pinned: pinned)
  }

  @Test(
    arguments: [
      (#"{"title":"p"}"#, #"{"title":"p"}"#), ("[1]", nil), ("7", nil),
    ] as [(String, String?)])
  func `keeps the details that are an object`(json: String, details: String?) async throws {
    let (validator, scratch) = try validator(
      "printf 'Content-Type: application/json\\n\\n%s' '\(json)'",
      manifest: #"{"verbs":["validate","render"]}"#)
    #expect(try await validator.details(source()) == details)
    withExtendedLifetime(scratch) {}
  }

  @Test func `names the rich types that there are`() async throws {
    let (validator, scratch) = try validator("exit 1", manifest: "{}")
    let error = try await #require(throws: ServiceError.self) {
      _ = try await validator.details(source("img"))
    }
    #expect(error.code == .unknownRichType)
    #expect(error.reason == "There is no plugin for the rich type “img”; there are: note.")
    #expect(validator.identity("img") == "-" && validator.identity("note") != "-")
    withExtendedLifetime(scratch) {}
  }

  @Test func `says what kind of file the plugin does not accept, without calling it`()
    async throws
  {
    let (validator, scratch) = try validator(
      "exit 1", manifest: #"{"verbs":["validate"],"accepts":["image/*"]}"#)
    try scratch.write("just text", to: "file")
    let pinned = PinnedAsset(
      digest: Digest(of: "x"), size: 9, type: "text/plain", path: scratch.path + "/file")
    let error = try await #require(throws: ServiceError.self) {
      _ = try await validator.details(source(pinned: pinned))
    }
    #expect(error.code == .unsupportedType && error.reason.contains("text"), "\(error)")
    withExtendedLifetime(scratch) {}
  }
}
