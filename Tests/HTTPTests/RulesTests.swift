import FoundationEssentials
import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct RulesTests {
  private static let modified = Date(timeIntervalSince1970: 784_111_777)
  private static let same = "Sun, 06 Nov 1994 08:49:37 GMT"
  private static let before = "Sun, 06 Nov 1994 08:49:36 GMT"
  private static let later = "Sun, 06 Nov 1994 08:49:38 GMT"

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func `reads the three date formats`(text: String) {
    #expect(HTTPDate.date(text) == Self.modified)
  }

  @Test(arguments: [
    "", "yesterday", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 32 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nom 1994 08:49:37 GMT",
    "Sun, 6666666666666666666666 Nov 1994 08:49:37 GMT",
    "Sun Nov  2 08:49:37 095", "Sun Nov  6 08:49:37 94", "Sun, 06 Nov 0095 08:49:37 GMT",
  ])
  func `reads no other dates`(text: String) { #expect(HTTPDate.date(text) == nil) }

  @Test(arguments: [
    (0.0, "Thu, 01 Jan 1970 00:00:00 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
    (951_868_799.9, "Tue, 29 Feb 2000 23:59:59 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
    (4_102_444_800, "Fri, 01 Jan 2100 00:00:00 GMT"),
    (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
    (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
  ])
  func `reads the dates that it writes`(seconds: Double, text: String) {
    #expect(HTTPDate.text(Date(timeIntervalSince1970: seconds)) == text)
    #expect(HTTPDate.date(text) == Date(timeIntervalSince1970: seconds.rounded(.down)))
  }

  @Test(
    arguments: [
      (nil, .whole), ("bytes=", .whole), ("lines=0-1", .whole), ("bytes=5-2", .whole),
      ("bytes=a-b", .whole), ("bytes=1", .whole), ("bytes=-", .whole), ("bytes=--1", .whole),
      ("bytes=1 2-15", .whole), ("bytes=1 -15", .whole),
      ("bytes=0-9", .parts([0..<10])), ("Bytes=0-9", .parts([0..<10])),
      ("bytes=90-", .parts([90..<100])), ("bytes=90-1000", .parts([90..<100])),
      ("bytes=-10", .parts([90..<100])), ("bytes=-1000", .parts([0..<100])),
      ("bytes=99-99999999999999999999999999", .parts([99..<100])),
      ("bytes=-0", .unsatisfiable), ("bytes=100-", .unsatisfiable),
      ("bytes=99999999999999999999999-", .unsatisfiable), ("bytes=100-,-0", .unsatisfiable),
      ("bytes=0-1, 50-51 ,,-1", .parts([0..<2, 50..<52, 99..<100])),
      ("bytes=50-51,0-1", .parts([50..<52, 0..<2])), ("bytes=0-1,200-", .parts([0..<2])),
      ("bytes=0-50,40-60,80-", .parts([0..<61, 80..<100])), ("bytes=0-,0-,0-", .parts([0..<100])),
      ("bytes=" + (0..<17).map { "\($0 * 2)-\($0 * 2)" }.joined(separator: ","), .whole),
    ] as [(String?, ByteRanges)])
  func `parses ranges of a hundred bytes`(value: String?, expected: ByteRanges) {
    #expect(ByteRanges(value, size: 100) == expected)
  }

  @Test func `ranges are joined if some overlap, and too many are ignored`() {
    #expect(ByteRanges("bytes=0-5,3-9,10-12", size: 99) == .parts([0..<13]))
    #expect(ByteRanges("bytes=4-5,6-7", size: 99) == .parts([4..<6, 6..<8]))
    func ranges(_ count: Int) -> String {
      "bytes=" + (0..<count).map { "\(2 * $0)-\(2 * $0)" }.joined(separator: ",")
    }
    #expect(ByteRanges(ranges(16), size: 99) == .parts((0..<16).map { 2 * $0..<2 * $0 + 1 }))
    #expect(ByteRanges(ranges(17), size: 99) == .whole)
  }

  @Test func `no range of an empty content is satisfiable`() {
    #expect(ByteRanges("bytes=0-", size: 0) == .unsatisfiable)
    #expect(ByteRanges("bytes=-5", size: 0) == .unsatisfiable)
  }

  @Test(
    arguments: [
      ("GET", [], .proceed),
      ("GET", [("If-None-Match", "\"a\"")], .notModified),
      ("GET", [("If-None-Match", "\"b\", W/\"a\",\"c\"")], .notModified),
      ("GET", [("If-None-Match", "\"b\""), ("If-None-Match", "\"a\"")], .notModified),
      ("GET", [("If-None-Match", "*")], .notModified),
      ("HEAD", [("If-None-Match", "*")], .notModified),
      ("GET", [("If-None-Match", "a")], .proceed), ("GET", [("If-None-Match", "\"a")], .proceed),
      ("PUT", [("If-None-Match", "*")], .failed), ("PUT", [("If-None-Match", "\"b\"")], .proceed),
      ("GET", [("If-None-Match", "\"b\""), ("If-Modified-Since", same)], .proceed),
      ("GET", [("If-Modified-Since", same)], .notModified),
      ("GET", [("If-Modified-Since", before)], .proceed),
      ("GET", [("If-Modified-Since", "nonsense")], .proceed),
      ("PUT", [("If-Modified-Since", same)], .proceed),
      ("GET", [("If-Match", "\"a\"")], .proceed), ("GET", [("If-Match", "*")], .proceed),
      ("GET", [("If-Match", "W/\"a\"")], .failed), ("GET", [("If-Match", "\"b\"")], .failed),
      ("GET", [("If-Match", "\"a\""), ("If-None-Match", "\"a\"")], .notModified),
      ("GET", [("If-Match", "\"a\""), ("If-Unmodified-Since", before)], .proceed),
      ("PUT", [("If-Unmodified-Since", same)], .proceed),
      ("PUT", [("If-Unmodified-Since", before)], .failed),
    ] as [(String, [(String, String)], Preconditions.Outcome)])
  func `evaluates preconditions in their order`(
    method: String, lines: [(String, String)], expected: Preconditions.Outcome
  ) throws {
    var fields = Fields()
    for (name, value) in lines { fields.append(name, value) }
    let request = try Request(method, "/", fields: fields)
    #expect(Preconditions.evaluate(request, etag: "a", lastModified: Self.modified) == expected)
  }

  @Test(
    arguments: [
      (nil, true), ("\"a\"", true), ("W/\"a\"", false), ("\"b\"", false), ("\"a\", \"b\"", false),
      (same, true), (before, false), (later, false), ("*", false),
    ] as [(String?, Bool)])
  func `lets a range apply when If-Range names this content`(value: String?, applies: Bool) throws {
    var fields = Fields()
    fields["If-Range"] = value
    let request = try Request("GET", "/", fields: fields)
    #expect(
      Preconditions.allowRange(request, etag: "a", lastModified: Self.modified) == applies)
  }

  @Test(arguments: [
    ("logo.png", "inline; filename=\"logo.png\""), ("../../etc/x", "inline; filename=\"x\""),
    ("a\"b", "inline; filename=\"a_b\"; filename*=UTF-8''a%22b"),
    ("a\r\nX: 1", "inline; filename=\"a__X: 1\"; filename*=UTF-8''a%0D%0AX%3A%201"),
    ("\u{1F3D6}.png", "inline; filename=\"_.png\"; filename*=UTF-8''%F0%9F%8F%96.png"),
  ])
  func `names a file safely`(name: String, expected: String) {
    #expect(ContentDisposition.text("image/png", fileName: name) == expected)
  }

  @Test(arguments: [
    "text/xsl", "text/javascript1.5", "text/livescript", "text/x-javascript", "message/rfc822",
    "image/x+xml", "audio/x+xml", "image/svg+xml", "application/pdf", "TEXT/HTML", "text/plainly",
    "multipart/related", "", "text/x-anything;a=text/plain",
  ])
  func `types that a browser may run are attachments`(type: String) {
    #expect(ContentDisposition.text(type, fileName: nil) == "attachment")
    #expect(ContentDisposition.text(type, fileName: "a") == "attachment; filename=\"a\"")
  }

  @Test(arguments: ["image/png", "Text/Plain; charset=utf-8", "audio/mpeg", "application/json"])
  func `passive types need no Content-Disposition`(type: String) {
    #expect(ContentDisposition.text(type, fileName: nil) == nil)
  }
}
