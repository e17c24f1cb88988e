import Foundation
import PluginHost
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(1))) struct MediaLinksTests {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)
  private let place = MediaLinks.Target(
    id: 7, rendition: "ios", content: "abc", expires: 1_800_000_060)

  @Test func `a link is valid until it expires, and only for its rendition`() async throws {
    let scratch = try Scratch()
    let links = try await MediaLinks(store: scratch.store(), base: nil)
    let address = links.path(to: place)
    func verdict(_ place: MediaLinks.Target, _ key: Int = 1, at now: Date) -> String {
      "\(links.verify(place, key: key, link: address, now: now))"
    }
    #expect(verdict(place, at: now) == "valid(secondsLeft: 60)")
    #expect(verdict(place, at: now + 60) == "expired")
    for other in [
      MediaLinks.Target(id: 8, rendition: "ios", content: "abc", expires: place.expires),
      MediaLinks.Target(id: 7, rendition: "web", content: "abc", expires: place.expires),
      MediaLinks.Target(id: 7, rendition: "ios", content: "abd", expires: place.expires),
      MediaLinks.Target(id: 7, rendition: "ios", content: "abc", expires: place.expires + 1),
    ] { #expect(verdict(other, at: now) == "forged") }
    #expect(verdict(place, 2, at: now) == "forged")
  }

  @Test func `an older key verifies links until it is removed`() async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    let links = try await MediaLinks(store: store, base: "https://push.example")
    let old = try #require(links.url(to: place))
    #expect(old.hasPrefix("https://push.example/media/7/ios?expires=1800000060&key=1&signature="))
    #expect(try await store.accounts.addLinkKey() == 2)
    #expect(try await !links.reload(), "no key was removed")
    #expect(links.path(to: place).contains("key=2"))
    let address = String(old.dropFirst("https://push.example".count))
    func verdict(_ link: String) -> String {
      "\(links.verify(place, key: 1, link: link, now: now))"
    }
    #expect(verdict(address) == "valid(secondsLeft: 60)", "an older key signed it")
    #expect(verdict(address.replacing("?expires", with: "?EXPIRES")) == "forged")
    #expect(verdict(address + "&x=1") == "forged")
    #expect(try await store.accounts.removeLinkKey(1))
    #expect(try await !store.accounts.removeLinkKey(2), "the newest signs")
    #expect(try await links.reload(), "a key was removed")
    #expect(verdict(address) == "forged", "its key is gone")
  }

  @Test func `links signed within an hour are equal, and expire with their notification`() {
    let expiry = MediaLinks.expiry(of: nil, now: now)
    #expect(expiry.isMultiple(of: 3600) && expiry > 1_800_000_000 + MediaLinks.lifetime)
    #expect(MediaLinks.expiry(of: nil, now: now + 3599) == expiry)
    #expect(MediaLinks.expiry(of: now + 5, now: now) == 1_800_000_005)
  }
}
