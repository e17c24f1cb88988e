import RichPushAPI
import Testing

@testable import Origin

/// Files of attributes, line by line.
@Suite(.timeLimit(.minutes(1))) struct AttributeFileTests {
  private static func lines(_ text: String) throws -> [AttributeFile.Line] {
    try lines(Array(text.utf8))
  }

  private static func lines(_ bytes: [UInt8]) throws -> [AttributeFile.Line] {
    Array(sequence(state: try AttributeFile(bytes)) { $0.next() })
  }

  @Test(arguments: [
    ("", "empty"), ("name,city\nAnn,Bern", "no column “username”"),
    ("Username\nann", "no column “username”"), ("username,Na me\nann,x", "“Na me”"),
    ("username,\nann,x", "“”"), ("username,a,a\nann,x,y", "twice"),
    ("username,username\nann,ann", "twice"), ("username,\"a\nann,x", "does not end"),
    ("username," + (0..<33).map { "a\($0)" }.joined(separator: ","), "more than 32"),
    ("\u{0}", "username"),
  ])
  func `a file without a head that names columns is refused`(text: String, reason: String) {
    let error = #expect(throws: ServiceError.self) { try Self.lines(text) }
    #expect(error?.code == .rejected && error?.reason.contains(reason) == true, "\(error as Any)")
  }

  @Test func `UTF-16 is refused, and more lines than may be`() throws {
    let wide = #expect(throws: ServiceError.self) {
      try Self.lines([0xFF, 0xFE] + Array("u\u{0}".utf8))
    }
    #expect(wide?.reason.contains("CSV UTF-8") == true)
    let most = AttributeFile.mostLines
    #expect(try Self.lines("username\r\n" + String(repeating: "\r\n", count: most - 1)).isEmpty)
    let error = #expect(throws: ServiceError.self) {
      try Self.lines("username\n" + String(repeating: "\n", count: most))
    }
    #expect(error?.code == .tooLarge)
  }

  @Test func `each line has the attributes of a user, or what is wrong with it`() throws {
    let long = String(repeating: "x", count: 257)
    let text = #"""
      city;username;name
      Bern;ann;"A; ""B"""
      ;bob;
      ;;
      Bern;ann;again
      Bern;a b;
      Bern;;x
      Bern;carl
      Bern;carl;x;y
      \#(long);dora;
      \#(long.dropLast());emil;
      a\#u{0}b;fred;
      "Bern";"gert;x
      Rom;hans;x
      """#
    let lines = try Self.lines(text)
    #expect(lines.map(\.number) == [2, 3] + Array(5...14))
    #expect(
      lines.map(\.username) == [
        "ann", "bob", "ann", "a b", "", "carl", "carl", "dora", "emil", "fred", "", "hans",
      ])
    let contents: [Result<[String: String], AttributeFile.Fault>] = [
      .success(["city": "Bern", "name": "A; \"B\""]), .success([:]),
      .failure(.repeated("ann", line: 2)),
      .failure(.invalidName("a b")), .failure(.invalidName("")), .failure(.fields(2, columns: 3)),
      .failure(.fields(4, columns: 3)), .failure(.longValue(column: "city")),
      .success(["city": String(long.dropLast())]), .failure(.nul(column: "city")),
      .failure(.malformed(.unclosedQuote)), .success(["city": "Rom", "name": "x"]),
    ]
    #expect(lines.map(\.content) == contents)
  }
}
