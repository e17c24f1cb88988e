import Foundation
import HTTP
import Store
import Testing

@testable import Origin
@testable import PluginHost

/// What is remembered of decided answers, and when it no longer is.
@Suite struct OffersTests {
  private let noon = Date(timeIntervalSince1970: 1_800_000_000)

  private func offer(
    _ id: Int, expires: Date? = nil, manifest: Manifest = Manifest()
  ) -> Offer {
    let plugin = Plugin(
      richType: "img", manifest: manifest, executable: "/img", interpreter: nil, folder: "/",
      roots: [], identity: "1", problem: nil)
    let wish = Wish(
      subject: Subject(richType: "img", message: "m", payload: "p", id: id),
      options: .none, plugin: plugin, user: "")
    let content = Content(
      path: "/\(id)", size: 1, mediaType: "a/b", etag: "\(id)", lastModified: noon)
    return Offer(
      wish, content, at: "/", expires: expires, seen: 0, counts: RenditionCounts())
  }

  @Test func `an offer ends when its notification is changed, and no other does`() {
    let offers = Offers()
    let all = (0..<3).map { offer($0) }
    for (id, one) in all.enumerated() {
      offers.put(one, for: "/\(id)", unlessChangedSince: 0)
    }
    offers.end(1)
    #expect(all.map { $0.stands(at: noon) } == [true, false, true])
    #expect(offers.find("/0", at: noon, in: 0) { _ in true } != nil)
    #expect(offers.find("/1", at: noon, in: 0) { _ in true } == nil)
    #expect(offers.find("/2", at: noon, in: 0) { _ in true } != nil)
  }

  @Test func `what a plugin made for a user is not for another who has the name later`() {
    var manifest = Manifest()
    manifest.perUser = true
    let plugin = offer(1, manifest: manifest).wish.plugin
    let keys = [1, 2].map { id in
      Wish(
        subject: Subject(richType: "img", message: "m", payload: "p", id: 1), options: .none,
        plugin: plugin, user: "alice", owner: UserID(rawValue: id)
      ).key
    }
    #expect(keys[0] != keys[1])
  }

  @Test func `what was decided before a change is not remembered after it`() {
    let offers = Offers()
    let changes = offers.changes
    offers.end(7)
    offers.put(offer(7), for: "/7", unlessChangedSince: changes)
    #expect(offers.find("/7", at: noon, in: 0) { _ in true } == nil)
    offers.put(offer(7), for: "/7", unlessChangedSince: offers.changes)
    #expect(offers.find("/7", at: noon, in: 0) { _ in true } != nil)
  }

  @Test func `an offer is looked over once in a look, and ends when it is no longer true`() {
    let offers = Offers()
    offers.put(offer(1), for: "/1", unlessChangedSince: 0)
    var looks = 0
    func find(_ look: Int, _ isTrue: Bool) -> Bool {
      offers.find("/1", at: noon, in: look) { _ in
        looks += 1
        return isTrue
      } != nil
    }
    #expect(find(0, false) && find(0, false) && looks == 0)
    #expect(find(1, true) && find(1, false) && looks == 1)
    #expect(!find(2, false) && !find(2, true) && looks == 2)
  }

  @Test func `an offer ends when its notification expires`() {
    let offers = Offers()
    let one = offer(1, expires: noon + 1)
    offers.put(one, for: "/1", unlessChangedSince: 0)
    #expect(offers.find("/1", at: noon + 0.9, in: 0) { _ in true } != nil)
    #expect(offers.find("/1", at: noon + 1, in: 0) { _ in true } == nil)
    #expect(offers.count == 0)
  }

  @Test func `what is made for one user is offered to nobody`() {
    let offers = Offers()
    var manifest = Manifest()
    manifest.perUser = true
    offers.put(offer(1, manifest: manifest), for: "/1", unlessChangedSince: 0)
    #expect(offers.count == 0)
  }

  @Test func `offers stay within their number, and those that are asked for stay`() {
    let offers = Offers(capacity: 10)
    for id in 0..<100 {
      offers.put(offer(id), for: "/\(id)", unlessChangedSince: 0)
      #expect(offers.find("/0", at: noon, in: 0) { _ in true } != nil)
      #expect(offers.count <= 10)
    }
  }

  @Test func `what comes of an offer is remembered in its place, unless it ended meanwhile`() {
    let offers = Offers()
    let content = offer(3).content
    let pending = (0..<3).map { Offer(offer($0), made: nil) }
    for (id, one) in pending.enumerated() {
      offers.put(one, for: "/\(id)", unlessChangedSince: 0)
    }
    offers.end(1)
    for (id, one) in pending.prefix(2).enumerated() {
      offers.fulfil(one, with: content, for: "/\(id)")
    }
    #expect(offers.find("/0", at: noon, in: 0) { _ in true }?.content?.etag == "3")
    #expect(offers.find("/1", at: noon, in: 0) { _ in true } == nil)
    #expect(offers.find("/2", at: noon, in: 0) { _ in true }?.content == nil)
  }
}
