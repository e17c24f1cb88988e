import Testing

@testable import Origin

@Suite struct DeviceAdviceTests {
  private func advice(_ profile: String, _ type: String, _ bytes: Int) throws -> String? {
    var advice = DeviceAdvice(original: bytes)
    advice.add(Served(type: type, bytes: bytes), for: try #require(Profile.named(profile)))
    return advice.text
  }

  @Test(
    arguments: [
      ("android", "image/png", 1_000_000, nil),
      (
        "android", "image/png", 1_200_000,
        "Android shows pictures of at most 1 MB, and this stays at 1.2 MB."
      ),
      ("android", "video/mp4", 1_200_000, nil),
      ("ios", "image/gif", 10_000_000, nil),
      ("ios", "image/gif", 10_000_001, "iOS attaches pictures of at most 10 MB."),
      ("ios", "image/webp", 1000, "iOS attaches JPEG, PNG and GIF, not image/webp."),
      ("ios", "video/mp4", 50_000_000, nil),
      ("ios", "video/mp4", 50_000_001, "iOS attaches movies of at most 50 MB."),
      ("web", "image/webp", 60_000_000, nil),
    ] as [(String, String, Int, String?)])
  func `says which phones do not show what they get, at the very limit`(
    profile: String, type: String, bytes: Int, sentence: String?
  ) throws {
    #expect(try advice(profile, type, bytes) == sentence)
  }

  @Test func `says how small devices get a large original, and nothing of a small one`() throws {
    var large = DeviceAdvice(original: 12_400_000)
    for profile in Profile.all {
      large.add(Served(type: "image/jpeg", bytes: 180_000), for: profile)
    }
    #expect(large.text == "12 MB original; devices get 180 KB.")
    var small = DeviceAdvice(original: 90_000)
    small.add(Served(type: "image/jpeg", bytes: 20_000), for: try #require(Profile.named("ios")))
    #expect(small.text == nil)
  }

  @Test func `names a profile for which there is nothing, and why`() throws {
    var advice = DeviceAdvice(original: 10)
    advice.addMissing(try #require(Profile.named("watch")), "It is too wide.")
    #expect(advice.isEmpty && advice.text == "There is none for watch: It is too wide.")
  }
}
