import Foundation
import Store
import Testing

@testable import Origin

@Suite struct MediaLinksTests {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)
  private let place = MediaLinks.Place(
    id: 7, rendition: "ios", content: "abc", expires: 1_800_000_060)

  @Test func `an address is good until its time is over, for just its place`() throws {
    let scratch = try Scratch()
    let links = try MediaLinks(store: scratch.store(), base: nil)
    let address = links.path(to: place)
    func verdict(_ place: MediaLinks.Place, _ key: Int = 1, at now: Date) -> String {
      "\(links.check(place, key: key, address: address, now: now))"
    }
    #expect(verdict(place, at: now) == "valid(left: 60)")
    #expect(verdict(place, at: now + 60) == "expired")
    for other in [
      MediaLinks.Place(id: 8, rendition: "ios", content: "abc", expires: place.expires),
      MediaLinks.Place(id: 7, rendition: "web", content: "abc", expires: place.expires),
      MediaLinks.Place(id: 7, rendition: "ios", content: "abd", expires: place.expires),
      MediaLinks.Place(id: 7, rendition: "ios", content: "abc", expires: place.expires + 1),
    ] { #expect(verdict(other, at: now) == "forged") }
    #expect(verdict(place, 2, at: now) == "forged")
  }

  @Test func `an older key opens until it is removed`() async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    let links = try MediaLinks(store: store, base: "https://push.example")
    let old = try #require(links.url(to: place))
    #expect(old.hasPrefix("https://push.example/media/7/ios?expires=1800000060&key=1&signature="))
    #expect(try await store.addLinkKey() == 2)
    try links.reload()
    #expect(links.path(to: place).contains("key=2"))
    let address = String(old.dropFirst("https://push.example".count))
    guard case .valid = links.check(place, key: 1, address: address, now: now) else {
      Issue.record("an older key signed it")
      return
    }
    #expect(try await store.removeLinkKey(1))
    #expect(try await !store.removeLinkKey(2), "the newest signs")
    try links.reload()
    guard case .forged = links.check(place, key: 1, address: address, now: now) else {
      Issue.record("its key is gone")
      return
    }
  }

  @Test func `addresses made within an hour are the same, and end with their notification`() {
    let expiry = MediaLinks.expiry(of: nil, now: now)
    #expect(expiry.isMultiple(of: 3600) && expiry > 1_800_000_000 + MediaLinks.lifetime)
    #expect(MediaLinks.expiry(of: nil, now: now + 3599) == expiry)
    #expect(MediaLinks.expiry(of: now + 5, now: now) == 1_800_000_005)
  }

  @Test(arguments: [
    ("original", "original"), ("ios", "ios"), ("w640", "w640"), ("w641", "w750"), ("h90", "h96"),
    ("w100h90-cover", "w128h96-cover"), ("original;view=waveform", "original;view=waveform"),
    ("w100;view=a.b", "w128;view=a.b"),
  ])
  func `a rendition has one name`(name: String, canonical: String) throws {
    #expect(try RenditionOptions(name: name, declaring: ["view"]).name == canonical)
  }

  @Test(arguments: [
    "", "-cover", "w", "w0", "x640", "ios ", "w640h", "w9999999", "ios;", "ios;look=a",
    "ios;view=a b", "ios;view=a;view=b",
  ])
  func `what names no rendition is refused`(name: String) {
    #expect(throws: TheRefusal.self) { try RenditionOptions(name: name, declaring: ["view"]) }
  }
}
