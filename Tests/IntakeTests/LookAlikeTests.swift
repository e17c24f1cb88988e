import Media
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Intake

@Suite(.timeLimit(.minutes(1))) struct LookAlikeTests {
  @Test(arguments: [
    (
      "Screenshot 10.05 PM.png", "Screenshot 10.05\u{202F}PM.png",
      "has narrow no-break space (U+202F) instead of space (U+0020)"
    ),
    ("a b.png", "a\u{A0}b.png", "has no-break space (U+00A0) instead of space (U+0020)"),
    ("a b.png", "a\u{3000}b.png", "ideographic space (U+3000)"),
    ("it's.png", "it\u{2019}s.png", "right single quotation mark (U+2019) instead of"),
    ("\"a\".png", "\u{201C}a\u{201D}.png", "left double quotation mark (U+201C)"),
    (
      "a-b.png", "a\u{2013}b.png", "has “–”, en dash (U+2013) instead of “-”, hyphen-minus (U+002D)"
    ),
    ("a-b.png", "a\u{2212}b.png", "minus sign (U+2212)"),
    ("logo.png", "lo\u{200B}go.png", "has one more zero width space (U+200B)"),
    ("lo\u{200B}go.png", "logo.png", "has no zero width space (U+200B)"),
    ("logo.png", "lo\u{AD}go.png", "one more soft hyphen (U+00AD)"),
    ("logo.png", "logo\u{2060}.png", "one more word joiner (U+2060)"),
    ("logo.png", "logo\u{FE0F}.png", "variation selector-16 (U+FE0F)"),
    ("a b.png", "a  b.png", "has one more space (U+0020)"), ("a  b.png", "a b.png", "has no space"),
    ("logo.png", " logo.png", "has one more space"),
    ("logo.png", "LOGO.png", "upper and lower case"),
    ("coca.png", "с\u{43E}ca.png", "cyrillic small letter es (U+0441)"),
    ("ALPHA.png", "\u{391}LPHA.png", "greek capital letter alpha (U+0391)"),
    ("fine.png", "\u{FB01}ne.png", "(U+FB01)"),
    ("a1.png", "\u{FF41}1.png", "fullwidth latin small letter a"),
  ])
  func `names that look alike are found, with the difference`(
    given: String, other: String, difference: String
  ) async throws {
    let intake = try IntakeFixture()
    try await intake.drop("good", as: other)
    let name = try intake.name(given)
    let error = await intake.assets.explaining(
      ServiceError(.notFound, "There is no asset."), "note", name)
    #expect(error.reason.hasPrefix("There is no asset; there is “"))
    #expect(error.reason.contains(difference), "\(error.reason)")
    #expect(error.reason.hasSuffix("."))
  }

  @Test(arguments: [
    ("logo.png", "logos.png"), ("caf\u{E9}.png", "cafe.png"), ("a b.png", "ab.png"),
  ])
  func `other names are not suggested`(given: String, other: String) async throws {
    let intake = try IntakeFixture()
    try await intake.drop("good", as: other)
    #expect(await intake.assets.suggestion(for: given, "note") == nil)
  }

  @Test func `two files that look the same have a note on each`() async throws {
    let intake = try IntakeFixture()
    try await intake.drop("good", as: "a b.txt")
    try await intake.drop("good", as: "a\u{A0}b.txt")
    let first = try #require(try await intake.asset("a b.txt")).message().advice
    #expect(
      first?.contains("looks the same, but has no-break space (U+00A0) instead of space") == true)
    #expect(try await intake.asset("a\u{A0}b.txt")?.message().advice?.contains("U+00A0") == true)
  }

  @Test(arguments: [
    "@eaDir", "__MACOSX", "@Recycle", "@Recently-Snapshot", "lost+found",
    "System Volume Information",
    "$RECYCLE.BIN", ":2eDS_Store", ":2e_logo.png", "IMG_1.AAE", "logo.xmp", "logo.png.icloud",
    "logo.png:Zone.Identifier", "logo.png\u{F03A}Zone.Identifier", "a.png.kate-swp",
    "a.png.tmp.drivedownload", "a.png.!ut", "a.png.!qB", "a.png.bc!", "~syncthing~a.png.tmp",
    "Network Trash Folder", "Temporary Items", "a.png.~1a2b", "a.png.duckpart", "a.png___jb_tmp___",
    "#recycle", "a.png@SynoEAStream", "a.swo", "video.mp4.part-Frag12", "a.png.aria2",
    "ZbThumbnail.info", ".tmp.drivedownload", "Icon\r",
  ])
  func `other programs' files are passed over in silence`(name: String) async throws {
    #expect(AssetName.isForeign(name))
    let intake = try IntakeFixture()
    try intake.scratch.write("bad", to: "assets/note/" + name)
    try intake.scratch.write("bad", to: "assets/\(name)/inner")
    let folder = Reconciliation(assets: intake.assets, publisher: nil)
    #expect(await folder.processAll { _, _ in } == nil)
    #expect(
      try await intake.store.assets.assets(
        AssetFilter(), order: nil, limit: 9, after: nil
      ).isEmpty)
  }

  @Test(arguments: ["a.!.png", "Unconfirmed.png", "@team.png", "a~1.png", "xmp.png", "a.b~c.png"])
  func `names that only look a little like those are assets`(name: String) {
    #expect(!AssetName.isForeign(name))
  }
}
