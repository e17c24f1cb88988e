import Foundation
import HTTP
import Media
import Primitives
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin
@testable import PluginHost

/// What is remembered of URLs and callers, and when it no longer is.
@Suite(.timeLimit(.minutes(1))) struct ResolvedMediaTests {
  private let noon = 1_800_000_000
  private let scratch: Scratch
  private let host: PluginHost
  private let resolved = ResolvedMediaCache(capacity: 10, countedBy: RouteCounter("/"))

  init() throws {
    scratch = try Scratch()
    try scratch.write("#!/bin/sh\n", to: "plugins/coupon", mode: 0o755)
    host = try scratch.pluginHost()
  }

  private func media(
    _ id: Int, expires: Double? = nil, readAfter moment: ChangeClock.Moment? = nil,
    hasContent: Bool = true
  ) throws -> ResolvedMedia {
    let plugin = try #require(host.plugin("coupon"))
    let rendition = RenditionRequest(
      source: RenditionSource(richType: "coupon", message: "m", payload: "p", id: id),
      options: .none, plugin: plugin, user: "")
    return ResolvedMedia(
      of: id, rendition, hasContent ? content(id) : nil, countedBy: resolved.counter,
      expires: expires.map { Date(timeIntervalSince1970: Double(noon) + $0) },
      readAfter: moment ?? resolved.changes.moment, changes: resolved.changes,
      host: host, counts: RenditionCounts())
  }

  private func content(_ number: Int) -> Content {
    Content(
      path: "/\(number)", size: 1, mediaType: "a/b", etag: "\(number)",
      lastModified: Date(timeIntervalSince1970: 0))
  }

  @Test func `a rendition whose file is removed is no longer sent a second later`() throws {
    try scratch.write("x", to: "rendition")
    let content = Content(
      path: scratch.path + "/rendition", size: 1, mediaType: "a/b", etag: "e",
      lastModified: Date(timeIntervalSince1970: 0))
    let media = ResolvedMedia(try media(1), content: content)
    #expect(media.storedContent(at: noon) === content)
    try scratch.remove("rendition")
    #expect(media.storedContent(at: noon + 1) == nil)
    #expect(try self.media(2).storedContent(at: noon) == nil)
  }

  @Test func `only the media of a changed notification is invalid`() throws {
    let all = try (0..<3).map { try media($0) }
    for (id, one) in all.enumerated() { resolved.insert(one, for: "/\(id)") }
    resolved.changes.record(1)
    #expect(all.map { $0.isValid(at: noon) } == [true, false, true])
    #expect((0..<3).map { resolved.find("/\($0)", at: noon) != nil } == [true, false, true])
    #expect(resolved.count == 2)
    resolved.changes.record(nil)
    #expect(!all[0].isValid(at: noon))
  }

  @Test func `media that was read before a change is not valid after it`() throws {
    let moment = resolved.changes.moment
    resolved.changes.record(7)
    resolved.insert(try media(7, readAfter: moment), for: "/7")
    #expect(resolved.find("/7", at: noon) == nil)
    resolved.insert(try media(7), for: "/7")
    #expect(resolved.find("/7", at: noon) != nil)
  }

  @Test func `media is invalid when its notification expires`() throws {
    let one = try media(1, expires: 1.5)
    #expect(one.isValid(at: noon) && !one.isValid(at: noon + 1), "a response is never late")
  }

  @Test func `media is invalid when its plugin is replaced`() async throws {
    let one = try media(1)
    #expect(one.isValid(at: noon))
    try scratch.write("#!/bin/sh\nexit 0\n", to: "plugins/coupon", mode: 0o755)
    try await eventually("the change is noticed") { !one.isValid(at: noon) }
    #expect(!one.isValid(at: noon) && !one.isValid(at: noon + 1))
  }

  @Test func `what a caller got is invalid when the user is changed, and after a while`() throws {
    let users = ChangeClock()
    let login = Login(user: UserID(rawValue: 3), moment: users.moment, changes: users)
    let cached = CachedMedia(try media(1), for: login, at: noon)
    let linked = CachedMedia(try media(1), for: nil, at: noon)
    users.record(4)
    #expect(cached.isValid(at: noon) && cached.isValid(at: noon + 599))
    #expect(!cached.isValid(at: noon + 600))
    users.record(3)
    #expect(!cached.isValid(at: noon) && linked.isValid(at: noon))
    resolved.changes.record(1)
    #expect(!linked.isValid(at: noon))
  }

  @Test func `the cache stays within its capacity, and keeps recently used media`() throws {
    for id in 0..<100 {
      resolved.insert(try media(id), for: "/\(id)")
      #expect(resolved.find("/0", at: noon) != nil)
      #expect(resolved.count <= 10)
    }
  }

  @Test func `rendered content is added to cached media, unless that was changed meanwhile`() throws
  {
    let pending = try (0..<3).map { try media($0, hasContent: false) }
    for (id, one) in pending.enumerated() { resolved.insert(one, for: "/\(id)") }
    resolved.changes.record(1)
    let rendered = pending.prefix(2).enumerated().map { id, one in
      resolved.setContent(content(3), of: one, for: "/\(id)")
    }
    #expect(rendered.map { $0.isValid(at: noon) } == [true, false])
    #expect(resolved.find("/0", at: noon)?.content?.etag == "3")
    #expect(resolved.find("/1", at: noon) == nil)
    #expect(resolved.find("/2", at: noon)?.content == nil)
    #expect(resolved.setContent(nil, of: pending[2], for: "/2").isTransient)
  }

  @Test func `a rendition for a user is not sent to a later user with the same name`() throws {
    var manifest = Manifest()
    manifest.perUser = true
    let plugin = Plugin(
      richType: "card", manifest: manifest, executable: "/card", interpreter: nil, folder: "/",
      roots: [], identity: "1", problem: nil)
    let keys = [1, 2].map { id in
      RenditionRequest(
        source: RenditionSource(richType: "card", message: "m", payload: "p", id: 1),
        options: .none, plugin: plugin, user: "alice", owner: UserID(rawValue: id)
      ).key
    }
    #expect(keys[0] != keys[1])
  }
}
