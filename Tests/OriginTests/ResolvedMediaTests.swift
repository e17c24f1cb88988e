import Delivery
import Foundation
import HTTP
import Intake
import Media
import Push
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Origin
@testable import PluginHost

/// What is remembered of decided answers, and when it no longer is.
@Suite(.timeLimit(.minutes(1))) struct ResolvedMediaTests {
  private let noon = Date(timeIntervalSince1970: 1_800_000_000)

  private func media(
    _ id: Int, expires: Date? = nil, manifest: Manifest = Manifest()
  ) -> ResolvedMedia {
    let plugin = Plugin(
      richType: "img", manifest: manifest, executable: "/img", interpreter: nil, folder: "/",
      roots: [], identity: "1", problem: nil)
    let rendition = RenditionRequest(
      source: RenditionSource(richType: "img", message: "m", payload: "p", id: id),
      options: .none, plugin: plugin, user: "")
    let content = Content(
      path: "/\(id)", size: 1, mediaType: "a/b", etag: "\(id)", lastModified: noon)
    return ResolvedMedia(
      rendition, content, at: "/", expires: expires, epoch: 0, counts: RenditionCounts())
  }

  @Test func `only the media of a changed notification is removed`() {
    let resolved = ResolvedMediaCache()
    let all = (0..<3).map { media($0) }
    for (id, one) in all.enumerated() {
      resolved.insert(one, for: "/\(id)", unlessChangedSince: 0)
    }
    resolved.remove(notification: 1)
    #expect(all.map { $0.isValid(at: noon) } == [true, false, true])
    #expect(resolved.find("/0", at: noon, in: 0) { _ in true } != nil)
    #expect(resolved.find("/1", at: noon, in: 0) { _ in true } == nil)
    #expect(resolved.find("/2", at: noon, in: 0) { _ in true } != nil)
  }

  @Test func `a rendition for a user is not sent to a later user with the same name`() {
    var manifest = Manifest()
    manifest.perUser = true
    let plugin = media(1, manifest: manifest).rendition.plugin
    let keys = [1, 2].map { id in
      RenditionRequest(
        source: RenditionSource(richType: "img", message: "m", payload: "p", id: 1), options: .none,
        plugin: plugin, user: "alice", owner: UserID(rawValue: id)
      ).key
    }
    #expect(keys[0] != keys[1])
  }

  @Test func `media resolved before a change is not cached after it`() {
    let resolved = ResolvedMediaCache()
    let changes = resolved.changes
    resolved.remove(notification: 7)
    resolved.insert(media(7), for: "/7", unlessChangedSince: changes)
    #expect(resolved.find("/7", at: noon, in: 0) { _ in true } == nil)
    resolved.insert(media(7), for: "/7", unlessChangedSince: resolved.changes)
    #expect(resolved.find("/7", at: noon, in: 0) { _ in true } != nil)
  }

  @Test func `media is checked once per epoch, and removed if it is not current`() {
    let resolved = ResolvedMediaCache()
    resolved.insert(media(1), for: "/1", unlessChangedSince: 0)
    var looks = 0
    func find(_ look: Int, _ isTrue: Bool) -> Bool {
      resolved.find("/1", at: noon, in: look) { _ in
        looks += 1
        return isTrue
      } != nil
    }
    #expect(find(0, false) && find(0, false) && looks == 0)
    #expect(find(1, true) && find(1, false) && looks == 1)
    #expect(!find(2, false) && !find(2, true) && looks == 2)
  }

  @Test func `media is removed when its notification expires`() {
    let resolved = ResolvedMediaCache()
    let one = media(1, expires: noon + 1)
    resolved.insert(one, for: "/1", unlessChangedSince: 0)
    #expect(resolved.find("/1", at: noon + 0.9, in: 0) { _ in true } != nil)
    #expect(resolved.find("/1", at: noon + 1, in: 0) { _ in true } == nil)
    #expect(resolved.count == 0)
  }

  @Test func `media for one user is not cached`() {
    let resolved = ResolvedMediaCache()
    var manifest = Manifest()
    manifest.perUser = true
    resolved.insert(media(1, manifest: manifest), for: "/1", unlessChangedSince: 0)
    #expect(resolved.count == 0)
  }

  @Test func `the cache stays within its capacity, and keeps recently used media`() {
    let resolved = ResolvedMediaCache(capacity: 10)
    for id in 0..<100 {
      resolved.insert(media(id), for: "/\(id)", unlessChangedSince: 0)
      #expect(resolved.find("/0", at: noon, in: 0) { _ in true } != nil)
      #expect(resolved.count <= 10)
    }
  }

  @Test func `rendered content is added to cached media, unless that was removed meanwhile`() {
    let resolved = ResolvedMediaCache()
    let content = media(3).content
    let pending = (0..<3).map { ResolvedMedia(media($0), content: nil) }
    for (id, one) in pending.enumerated() {
      resolved.insert(one, for: "/\(id)", unlessChangedSince: 0)
    }
    resolved.remove(notification: 1)
    for (id, one) in pending.prefix(2).enumerated() {
      resolved.setContent(content, of: one, for: "/\(id)")
    }
    #expect(resolved.find("/0", at: noon, in: 0) { _ in true }?.content?.etag == "3")
    #expect(resolved.find("/1", at: noon, in: 0) { _ in true } == nil)
    #expect(resolved.find("/2", at: noon, in: 0) { _ in true }?.content == nil)
  }
}
