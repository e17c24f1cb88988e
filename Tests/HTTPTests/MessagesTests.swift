import FoundationEssentials
import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct MessagesTests {
  @Test func `looks fields up without regard to case, and joins lines`() {
    var fields: Fields = ["Accept": "a/b", "X-Id": "1", "accept": "c/d"]
    #expect(fields["ACCEPT"] == "a/b, c/d")
    #expect(fields.values(of: "accept") == ["a/b", "c/d"])
    #expect(fields["x-id"] == "1")
    #expect(fields["x-i"] == nil)
    fields["accept"] = "e/f"
    #expect(fields.items.map(\.name) == ["X-Id", "accept"])
    fields["X-ID"] = nil
    #expect(fields == ["accept": "e/f"])
  }

  @Test func `keeps a value on its line`() {
    let fields: Fields = ["Location": "/a\r\nSet-Cookie: b\0c"]
    #expect(fields["Location"] == "/a  Set-Cookie: b c")
  }

  @Test func `decodes a query once`() throws {
    let query = try Request("GET", "/?a=1&b=%2526&a=2&c&=d&e=f+g%2B&&h=i=j").query
    #expect(query["a"] == "1")
    #expect(query["b"] == "%26")
    #expect(query["c"] == "")
    #expect(query["e"] == "f g+")
    #expect(query["h"] == "i=j")
    #expect(query["x"] == nil)
    #expect(query.items.count == 7)
  }

  @Test func `a JSON response is one line that caches do not store`() throws {
    let response = Response.json(201, Array("{}".utf8))
    #expect(Self.text(response) == "{}\n")
    #expect(response.fields["Content-Type"] == "application/json")
    #expect(response.fields["Cache-Control"] == "no-store")
    #expect(response.status == 201)
  }

  @Test(arguments: [
    ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
    ("Thursday, 01-Jan-70 00:00:00 GMT", 0), ("Tuesday, 01-Jan-69 00:00:00 GMT", 3_124_224_000),
    ("Wed, 31 Dec 1997 23:59:60 GMT", 883_612_799),
  ])
  func `reads the dates of all three formats`(text: String, seconds: Double) {
    #expect(HTTPDate.date(text) == Date(timeIntervalSince1970: seconds))
  }

  @Test func `describes a problem`() throws {
    let response = Response.problem(404, "No.")
    guard case .problem(_, let detail, _) = response.body else {
      Issue.record("it is no problem")
      return
    }
    #expect(
      String(
        decoding: ProblemDetails.json(404, code: nil, detail, requestID: "7"), as: UTF8.self)
        == #"{"code":"not-found","detail":"No.","requestId":"7","status":404,"title":"Not Found","type":"about:blank"}"#
        + "\n")
    #expect(response.fields["Content-Type"] == "application/problem+json")
    #expect(response.fields["Cache-Control"] == "no-store")
  }

  @Test func `a problem names each part of the body that is wrong, by a JSON pointer`() {
    let errors = [ProblemError("It is past.", member: "a/b~c")]
    let text = String(
      decoding: ProblemDetails.json(422, code: nil, "No.", errors: errors, requestID: "7"),
      as: UTF8.self)
    #expect(text.contains(##","errors":[{"detail":"It is past.","pointer":"#/a~1b~0c"}],"##))
  }

  @Test(arguments: [
    ("title", "#/title"), ("actions[2]", "#/actions/2"),
    ("actions[1].label", "#/actions/1/label"), ("sound.critical", "#/sound/critical"),
    ("languages.de-CH.title", "#/languages/de-CH/title"),
    (#"values["username:a.b/c"].name"#, "#/values/username:a.b~1c/name"),
    ("a[b", "#/a[b"), ("a.b/c", "#/a.b~1c"), ("", "#/"),
  ])
  func `a pointer leads into arrays`(member: String, pointer: String) {
    #expect(ProblemError("It is wrong.", member: member).pointer == pointer)
  }

  @Test func `writes an event so that no part of it can become another`() {
    let event = ServerSentEvent(id: "1\nid: 2", name: "x", data: "a\r\nb\n\ndata: c")
    #expect(
      String(decoding: event.bytes, as: UTF8.self)
        == "id: 1 id: 2\nevent: x\ndata: a\ndata: b\ndata: \ndata: data: c\n\n")
  }

  @Test(arguments: ["\u{2028}", "\u{2029}", "\u{85}"])
  func `an event's text keeps line ends that are none of the stream's`(end: String) {
    #expect(
      String(decoding: ServerSentEvent(data: "a\(end)b").bytes, as: UTF8.self)
        == "data: a\(end)b\n\n")
  }

  private static func text(_ response: Response) -> String {
    guard case .bytes(let bytes) = response.body else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }
}
