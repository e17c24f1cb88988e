import Foundation
import Media
import PluginHost
import Primitives
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Intake

@Suite(.timeLimit(.minutes(1))) struct DeviceAdviceTests {
  private func advice(_ profile: String, _ type: String, _ bytes: Int) throws -> String? {
    var advice = DeviceAdvice(original: bytes)
    let rendition = DeviceRendition(type: type, bytes: bytes)
    advice.add(rendition, for: try #require(Profile.named(profile)))
    return advice.text
  }

  @Test(
    arguments: [
      ("android", "image/png", 1_000_000, nil),
      ("android", "image/png", 1_200_000, "Too big for Android: 1.2 MB, the limit is 1 MB."),
      ("android", "video/mp4", 1_200_000, nil),
      ("ios", "image/gif", 10_000_000, nil),
      ("ios", "image/gif", 10_000_001, "Too big for iPhones: slightly over the limit of 10 MB."),
      ("ios", "image/webp", 1000, "iPhones show JPEG, PNG and GIF in a notification, not WEBP."),
      ("ios", "video/mp4", 50_000_000, nil),
      ("ios", "video/mp4", 64_000_000, "Too big for iPhones: 64 MB, the limit is 50 MB."),
      ("web", "image/webp", 60_000_000, nil),
    ] as [(String, String, Int, String?)])
  func `says which phones cannot show a rendition, exactly at the limit`(
    profile: String, type: String, bytes: Int, sentence: String?
  ) throws {
    #expect(try advice(profile, type, bytes) == sentence)
  }

  /// What is said of an animation that the profiles named get as it is, and the others as its first picture.
  private func advice(onAnimationOf bytes: Int, movingFor names: Set<String>) -> String? {
    let moving = DeviceRendition(type: "image/gif", bytes: bytes, moves: true)
    let still = DeviceRendition(type: "image/png", bytes: 20_000)
    var advice = DeviceAdvice(original: bytes, animation: moving)
    for profile in Profile.all {
      advice.add(names.contains(profile.name) ? moving : still, for: profile)
    }
    return advice.text
  }

  @Test func `says which devices play an animation, and for which it is too big`() {
    let first = "other devices show its first picture."
    #expect(
      advice(onAnimationOf: 900_000, movingFor: ["ios", "web"])
        == "It moves on iPhones and in browsers; \(first)")
    #expect(
      advice(onAnimationOf: 5_000_000, movingFor: ["ios"])
        == "Too big to move in browsers: 5 MB, the limit is 2 MB. It moves on iPhones; \(first)")
    #expect(
      advice(onAnimationOf: 13_000_000, movingFor: []) == "13 MB original; devices get 20 kB. "
        + "Too big to move on iPhones: 13 MB, the limit is 10 MB. "
        + "Too big to move in browsers: 13 MB, the limit is 2 MB. "
        + "All devices show its first picture only.")
    #expect(
      advice(onAnimationOf: 900_000, movingFor: []) == "All devices show its first picture only.")
  }

  @Test(arguments: [40_000, 3_000_000])
  func `of what is never sent as an animation all devices show the first picture`(bytes: Int) {
    // The rendition without options is the same still picture as those of small boxes.
    let still = DeviceRendition(type: "image/png", bytes: 20_000)
    var advice = DeviceAdvice(original: bytes, animation: still)
    for profile in Profile.all { advice.add(still, for: profile) }
    #expect(advice.text?.hasSuffix("All devices show its first picture only.") == true)
    #expect(advice.text?.contains("move") == false)
  }

  @Test func `says how much smaller the renditions of a large original are`() throws {
    var large = DeviceAdvice(original: 12_400_000)
    for profile in Profile.all {
      large.add(DeviceRendition(type: "image/jpeg", bytes: 180_000), for: profile)
    }
    #expect(large.text == "12 MB original; devices get 180 kB.")
    #expect(try advice("ios", "image/jpeg", 90_000) == nil)
  }

  @Test func `names the devices for which there is nothing, and why`() throws {
    var advice = DeviceAdvice(original: 10)
    advice.addMissing(try #require(Profile.named("watch")), "It is too wide.")
    #expect(advice.isEmpty && advice.text == "There is no version for watches: It is too wide.")
  }
}
