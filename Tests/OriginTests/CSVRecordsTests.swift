import Testing

@testable import Origin

/// CSV as spreadsheets and programs write it, and as nobody should.
@Suite(.timeLimit(.minutes(1))) struct CSVRecordsTests {
  private typealias Record = CSVRecords.Record

  private static func records(_ text: String) -> [Record] { records(Array(text.utf8)) }

  private static func records(_ bytes: [UInt8]) -> [Record] {
    Array(sequence(state: CSVRecords(bytes)) { $0.next() })
  }

  @Test(arguments: [
    ("a,b\nc,d", [["a", "b"], ["c", "d"]]),
    ("a;b\r\nc;d,e\r\n", [["a", "b"], ["c", "d,e"]]),
    ("\u{FEFF}a\rb;c\r", [["a"], ["b;c"]]),
    (#""a;b",c"# + "\nd,e;f", [["a;b", "c"], ["d", "e;f"]]),
    (#"a,"b, ""c""""# + "\r\n,\"\"", [["a", "b, \"c\""], ["", ""]]),
    ("a,\"b\r\nc\"\n\n\r\nd, e ", [["a", "b\r\nc"], ["d", " e "]]),
    ("a,\u{0}\nß€😀,", [["a", "\u{0}"], ["ß€😀", ""]]),
    ("", []), ("\u{FEFF}", []), ("\r\n\n\r", []), (",", [["", ""]]), ("\"\"", [[""]]),
  ])
  func `fields are read`(text: String, fields: [[String]]) {
    let records = Self.records(text)
    #expect(records.map(\.fields) == fields && records.allSatisfy { $0.fault == nil })
  }

  @Test func `records know the lines in which they begin`() {
    let text = "a\r\n\r\n\"b\nc\rd\r\ne\"\nf\rg\n\nh"
    #expect(Self.records(text).map(\.line) == [1, 3, 7, 8, 10])
  }

  @Test(arguments: [
    ("a\"b", CSVRecords.Fault.strayQuote), ("\"a\"b", .strayQuote), ("\"a", .unclosedQuote),
    ("\"a\n", .unclosedQuote), ("x,\"", .unclosedQuote),
  ])
  func `of a malformed record only the first line is lost`(text: String, fault: CSVRecords.Fault) {
    let records = Self.records("a,b\n\(text)\nc,d\ne,f")
    #expect(records.map(\.line) == [1, 2] + (text.hasSuffix("\n") ? [4, 5] : [3, 4]))
    #expect(records.map(\.fault) == [nil, fault, nil, nil])
    #expect(records.last?.fields == ["e", "f"])
  }

  @Test func `what is not UTF-8 is in one record`() {
    let records = Self.records(Array("a,\"".utf8) + [0xFC] + Array("\n\",c\nd,e".utf8))
    #expect(records.map(\.fault) == [.notUTF8, nil] && records.map(\.line) == [1, 3])
    #expect(records[0].fields == ["a", "\u{FFFD}\n", "c"])
  }

  @Test func `a record that is too long is left out, quoted or not`() {
    let most = CSVRecords.longestRecord
    let long = String(repeating: "x", count: most)
    #expect(Self.records(long + "\nb").map(\.fault) == [nil, nil])
    #expect(
      Self.records("\(long)y\nb") == [
        Record(line: 1, fault: .tooLong), Record(line: 2, fields: ["b"]),
      ])
    #expect(Self.records("\"\(long)\"\nb").map(\.fault) == [.unclosedQuote, nil])
    // A line of 16 MiB that does not end.
    for beginning in ["", "a,\""] {
      let records = Self.records(
        Array(beginning.utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 16 << 20))
      #expect(records.count == 1 && records[0].fault != nil)
    }
  }

  @Test func `quotation marks that are missing do not make reading slow`() {
    // Each of these lines would be read to the end of the file, if a mark in a field were allowed.
    let line = "a\",\"b\n"
    let records = Self.records(String(repeating: line, count: 100_000))
    #expect(records.count == 100_000 && records.allSatisfy { $0.fault == .strayQuote })
    let open = Self.records(String(repeating: "a,\"b\n", count: 100_000))
    #expect(open.allSatisfy { $0.fault != nil } && open.count == 100_000)
  }
}
