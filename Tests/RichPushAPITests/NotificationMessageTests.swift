import Foundation
import Testing

@testable import RichPushAPI

/// What a notification may say, and what is wrong with one.
@Suite struct NotificationMessageTests {
  private static func new(_ json: String) throws -> NewNotification {
    try JSONCoding.request(from: Array(#"{"to":"a","message":"m",\#(json)}"#.utf8))
  }

  /// The names of the members that are wrong, in their order.
  private static func faults(_ json: String, allowing schemes: Set<String> = []) -> [String] {
    do throws(ServiceError) {
      let new: NewNotification = try JSONCoding.request(
        from: Array(#"{"to":"a",\#(json)}"#.utf8))
      return new.message.faults(allowing: schemes).map(\.member)
    } catch {
      return error.faults.map(\.member)
    }
  }

  private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  @Test func `every member is read, and written as it was`() throws {
    let json = #"""
      {"actions":[{"id":"track","label":"Track","link":"https://a.example"},\#
      {"destructive":true,"id":"no","input":"Why?","label":"No"},{"dismiss":true,"id":"x","label":"X"}],\#
      "alt":"a","category":"c","channel":"h","colour":"#00aa77","data":{"a":[1,null]},\#
      "icon":"https://a.example/i.png","importance":"urgent","label":"l","link":"https://a.example",\#
      "lockScreen":"secret","message":"m","relevance":0.5,"sound":{"critical":0.25},\#
      "subtitle":"s","thread":"t","title":"T"}
      """#
    let message = try JSONCoding.decode(NotificationMessage.self, from: json.utf8)
    #expect(message.actions?.map(\.id) == ["track", "no", "x"])
    #expect(message.sound == .critical(volume: 0.25) && message.importance == .urgent)
    #expect(JSONCoding.text(message) == json)
    #expect(message.faults(allowing: []) == [])
    #expect(NotificationMessage("m", members: message.members) == message)
    #expect(NotificationMessage("m").members == nil)
  }

  @Test func `text alone, a title alone and media alone are notifications`() throws {
    for json in [#""message":"m""#, #""title":"t""#, #""richType":"img","payload":"p""#] {
      let body = Array(#"{"to":["username:a"],\#(json)}"#.utf8)
      let new: NewNotification = try JSONCoding.request(from: body)
      #expect(JSONValue(JSONCoding.encode(new)) == JSONValue(body), "\(json)")
    }
  }

  @Test func `one answer names all members of the wrong type`() {
    let wrong = #"""
      "message":1,"title":2,"link":["a"],"sound":7,"importance":"loud","relevance":"high",
      "lockScreen":true,"actions":[{"id":"a"},{"id":"b","label":4},7,{"id":"c","label":"C","url":"x"}],
      "richType":{},"payload":5,"form":"loud","badge":"yes","expires":"soon"
      """#
    #expect(
      Self.faults(wrong) == [
        "message", "title", "link", "actions[0].label", "actions[1].label", "actions[2]",
        "actions[3].url", "sound", "importance", "relevance", "lockScreen", "richType", "payload",
        "expires", "form", "badge",
      ])
  }

  @Test(arguments: [
    (#""actions":[ITEMS]"#, "1"), (#""actions":[ITEMS]"#, #"{"id":"","label":""}"#),
    (#""variables":{ITEMS}"#, "KEY:1"), (#""values":{ITEMS}"#, "KEY:1"),
    (#""languages":{ITEMS}"#, "KEY:1"),
    (
      #""message":"m","actions":[{"id":"a","label":"A"}],"languages":{"de":{"actions":{ITEMS}}}"#,
      #"KEY:"""#
    ),
  ])
  func `of very many faults the first are named`(json: String, item: String) {
    let items = (0..<1000).map { item.replacing("KEY", with: "\"v\($0)\"") }
    let faults = Self.faults(json.replacing("ITEMS", with: items.joined(separator: ",")))
    #expect((1...40).contains(faults.count))
  }

  @Test func `each fault says what must be`() throws {
    let (long, line) = (Self.text(20_000), #"a\nb"#)
    let wrong = [
      #""message":"\#(long)""#,
      #""message":"\u0000","title":"\#(line)","subtitle":"","alt":"\#(long)""#,
      #""link":"a","icon":"a","colour":"red","relevance":2,"sound":"a b","label":"","data":[]"#,
      #""sound":{"critical":2},"data":{"a":{"b":{}}}"#, #""data":{"a":"\#(long)"}"#,
      #""actions":[{"id":"","label":""},{"id":"","label":"L","link":"https://a.example","input":"?"}]"#,
      #""actions":[\#((0..<5).map { #"{"id":"\#($0)","label":"L"}"# }.joined(separator: ","))]"#,
    ]
    for members in wrong {
      let message: NotificationMessage = try JSONCoding.decode(from: "{\(members)}".utf8)
      let faults = message.faults(allowing: [])
      #expect(!faults.isEmpty, "\(members.prefix(80))")
      for fault in faults { #expect(fault.reason.contains(" must "), "\(fault.reason)") }
    }
  }

  @Test func `one answer names all members that break a rule`() {
    let wrong = #"""
      "message":"m","title":"","subtitle":"a\nb","link":"javascript:alert(1)","icon":"http://a.example",
      "colour":"red","relevance":2,"sound":"a b","label":"a b","data":{"a":{"b":{}}},
      "actions":[{"id":"A","label":"A"},{"id":"b","label":""}]
      """#
    #expect(
      Set(Self.faults(wrong)) == [
        "title", "subtitle", "link", "icon", "colour", "relevance", "sound", "label", "data",
        "actions[0].id", "actions[1].label",
      ])
  }

  @Test(
    arguments: [
      ("message", 16_384), ("title", 1024), ("subtitle", 1024), ("alt", 1000), ("category", 64),
      ("thread", 64), ("channel", 64), ("label", 50), ("sound", 64),
    ])
  func `a text may be as long as its limit, in bytes`(member: String, limit: Int) {
    #expect(Self.faults(#""\#(member)":"\#(Self.text(limit))""#) == [])
    #expect(Self.faults(#""\#(member)":"\#(Self.text(limit + 1))""#) == [member])
    // Two bytes each.
    let umlauts = String(repeating: "ä", count: limit / 2 + 1)
    #expect(Self.faults(#""\#(member)":"\#(umlauts)""#).contains(member))
  }

  @Test func `a message with a NUL, or a line with a control character, is refused`() {
    #expect(Self.faults(#""message":"a\u0000""#) == ["message"])
    #expect(Self.faults(#""alt":"a\u0000""#) == ["alt"])
    #expect(Self.faults(#""message":"a\nb","alt":"a\nb""#) == [])
    for member in ["title", "subtitle", "thread", "category", "channel"] {
      for text in [#"a\nb"#, #"a\tb"#, #"a\u0085b"#, #"a\u2028b"#, "", " ", #"\u00a0"#] {
        #expect(Self.faults(#""\#(member)":"\#(text)""#) == [member], "\(member): \(text)")
      }
    }
  }

  @Test(
    arguments: [
      "https://a.example", "HTTPS://a.example/x?y=%20#z", "https://[::1]:8443/",
      "https://xn--bcher-kva.example/",
      "https://a.example/" + String(repeating: "x", count: 2000 - 18),
    ])
  func `a link is an https URL`(link: String) {
    #expect(Self.faults(#""link":"\#(link)""#) == [])
    #expect(Self.faults(#""icon":"\#(link)""#) == [])
    #expect(Self.faults(#""actions":[{"id":"a","label":"A","link":"\#(link)"}]"#) == [])
  }

  @Test(
    arguments: [
      "", "a.example", "/orders", "//a.example", "http://a.example", "https:", "https://",
      "https:///x", "https:a.example", "https://user@a.example", "https://a.example/a b",
      "https://bücher.example", "https://a.example/<x>", #"https://a.example\\@b.example"#,
      " https://a.example", "https://a.example\\n", "javascript:alert(1)", "data:text/html,x",
      "file:///etc/passwd", "myapp://orders",
      "https://a.example/" + String(repeating: "x", count: 2001 - 18),
    ])
  func `a link is nothing else`(link: String) {
    #expect(Set(Self.faults(#""link":"\#(link)""#)) == ["link"])
    #expect(Set(Self.faults(#""icon":"\#(link)""#)) == ["icon"])
    let action = #""actions":[{"id":"a","label":"A","link":"\#(link)"}]"#
    #expect(Set(Self.faults(action)) == ["actions[0].link"])
  }

  @Test func `a link may have a scheme that the operator allows, an icon not`() {
    for link in ["myapp://orders/7", "MyApp:orders", "myapp:x?y"] {
      #expect(Self.faults(#""link":"\#(link)""#, allowing: ["myapp"]) == [], "\(link)")
      #expect(Self.faults(#""icon":"\#(link)""#, allowing: ["myapp"]) == ["icon"], "\(link)")
    }
    for link in ["myapp", "myapp:", "other:x", "myapp x:y"] {
      #expect(Set(Self.faults(#""link":"\#(link)""#, allowing: ["myapp"])) == ["link"], "\(link)")
    }
  }

  @Test func `there are at most four buttons, each with an ID of its own`() {
    func actions(_ ids: [String]) -> String {
      let items = ids.map { #"{"id":"\#($0)","label":"L"}"# }.joined(separator: ",")
      return #""actions":[\#(items)]"#
    }
    #expect(Self.faults(actions(["a", "b-2", "3", Self.text(32)])) == [])
    #expect(Self.faults(actions([])) == [])
    #expect(Self.faults(actions(["a", "b", "c", "d", "e"])) == ["actions"])
    #expect(Self.faults(actions(["a", "b", "a"])) == ["actions[2].id"])
    for id in ["", "A", "a b", "ä", "a_b", Self.text(33)] {
      #expect(Self.faults(actions([id])) == ["actions[0].id"], "\(id)")
    }
  }

  @Test func `a button has a label, and does one thing`() {
    func fault(_ members: String) -> [String] {
      Self.faults(#""actions":[{"id":"a",\#(members)}]"#)
    }
    let does = [#""link":"https://a.example""#, #""input":"Why?""#, #""dismiss":true"#]
    for one in does { #expect(fault(#""label":"L",\#(one)"#) == [], "\(one)") }
    for (one, other) in zip(does, does.dropFirst() + does.prefix(1)) {
      #expect(fault(#""label":"L",\#(one),\#(other)"#) == ["actions[0]"], "\(one), \(other)")
    }
    #expect(fault(#""label":"L","dismiss":false,"input":"Why?","destructive":true"#) == [])
    #expect(fault(#""label":"\#(Self.text(64))","input":"\#(Self.text(64))""#) == [])
    #expect(fault(#""label":"\#(Self.text(65))""#) == ["actions[0].label"])
    #expect(fault(#""label":"L","input":"\#(Self.text(65))""#) == ["actions[0].input"])
    #expect(fault(#""label":" ""#) == ["actions[0].label"])
    #expect(fault(#""label":"L","input":"""#) == ["actions[0].input"])
  }

  @Test func `a sound is one of the platform, of the app, or critical with a volume`() throws {
    func sound(_ json: String) throws -> MessageSound? {
      try Self.new(#""sound":\#(json)"#).message.sound
    }
    #expect(try sound(#""none""#) == .silent)
    #expect(try sound(#""default""#) == .default)
    #expect(try sound(#""chime.caf""#) == .named("chime.caf"))
    #expect(try sound(#"{"critical":1}"#) == .critical(volume: 1))
    #expect(try sound("null") == nil)
    for json in [#"{"critical":0}"#, #""a-b_c.1""#] {
      #expect(Self.faults(#""sound":\#(json)"#) == [])
    }
    for json in [#""""#, #""a/b""#, #""ä""#] {
      #expect(Self.faults(#""sound":\#(json)"#) == ["sound"])
    }
    for json in [#"{"critical":1.1}"#, #"{"critical":-0.1}"#, #"{"critical":"1"}"#, "{}"] {
      #expect(Self.faults(#""sound":\#(json)"#) == ["sound.critical"], "\(json)")
    }
    #expect(Self.faults(#""sound":{"critical":1,"name":"x"}"#) == ["sound.name"])
    for json in ["1", "[]", "true"] { #expect(Self.faults(#""sound":\#(json)"#) == ["sound"]) }
  }

  @Test func `relevance, colour and label have their forms`() {
    for value in ["0", "1", "0.5", "null"] { #expect(Self.faults(#""relevance":\#(value)"#) == []) }
    for value in ["-0.1", "1.1", "1e300"] {
      #expect(Self.faults(#""relevance":\#(value)"#) == ["relevance"], "\(value)")
    }
    for colour in ["#00aa77", "#FFFFFF"] { #expect(Self.faults(#""colour":"\#(colour)""#) == []) }
    for colour in ["", "#fff", "00aa77f", "#00aa7g", "#00aa770", "#00aa7٣"] {
      #expect(Self.faults(#""colour":"\#(colour)""#) == ["colour"], "\(colour)")
    }
    #expect(Self.faults(#""label":"a-b_C.1~%""#) == [])
    for label in ["", "a b", "ä", "a/b"] {
      #expect(Self.faults(#""label":"\#(label)""#) == ["label"], "\(label)")
    }
  }

  @Test func `data is an object of two levels and 1,024 bytes`() {
    for data in ["{}", #"{"a":{"b":1,"c":null},"d":[1,"x"],"e":true}"#] {
      #expect(Self.faults(#""data":\#(data)"#) == [], "\(data)")
    }
    for data in ["[]", "1", #""{}""#, #"{"a":{"b":{}}}"#, #"{"a":[[]]}"#, #"{"a":[{}]}"#] {
      #expect(Self.faults(#""data":\#(data)"#) == ["data"], "\(data)")
    }
    let frame = #"{"a":""}"#.utf8.count
    #expect(Self.faults(#""data":{"a":"\#(Self.text(1024 - frame))"}"#) == [])
    #expect(Self.faults(#""data":{"a":"\#(Self.text(1025 - frame))"}"#) == ["data"])
    let deep = String(repeating: #"{"a":["#, count: 90) + String(repeating: "]}", count: 90)
    #expect(Self.faults(#""data":\#(deep)"#) == ["data"])
  }

  @Test func `a member that does not exist is named, in a button, too`() {
    let error = #expect(throws: ServiceError.self) { try Self.new(#""titl":"t""#) }
    #expect(error?.code == .unknownField && error?.reason.contains("“title”") == true)
    #expect(Self.faults(#""actions":[{"id":"a","label":"A","titel":"x"}]"#) == ["actions[0].titel"])
  }

  @Test func `a client reads what a later server adds to a button`() throws {
    let text = #"{"message":"m","actions":[{"id":"a","label":"A","icon":"x"}],"tint":1}"#
    let message = try JSONCoding.decode(NotificationMessage.self, from: text.utf8)
    #expect(message.actions == [MessageAction("a", label: "A")])
  }

  // MARK: - Changes

  /// RFC 7396, appendix A.
  @Test(
    arguments: [
      (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
      (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
      (#"{"a":"b"}"#, #"{"a":null}"#, "{}"),
      (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
      (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
      (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
      (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
      (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
      (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
      (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
      (#"{"a":"foo"}"#, "null", "null"),
      (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
      (#"{"e":null}"#, #"{"a":1}"#, #"{"a":1,"e":null}"#),
      ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
      ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    ])
  func `a merge patch does what its specification says`(
    original: String, patch: String, result: String
  ) throws {
    let merged = try #require(JSONValue(original.utf8)).merging(#require(JSONValue(patch.utf8)))
    #expect(JSONCoding.text(merged) == result)
  }

  @Test func `a change sets, keeps and removes members, and those of data`() throws {
    var old = try Self.new(
      #""title":"T","link":"https://a.example","data":{"a":1,"b":2},"actions":[{"id":"a","label":"A"}]"#
    )
    old.expires = Date(timeIntervalSince1970: 1_800_000_000.5)
    let new = try old.changed(
      by: Array(#"{"title":null,"subtitle":"S","data":{"b":null,"c":3},"actions":[]}"#.utf8))
    #expect(new.message.title == nil && new.message.subtitle == "S" && new.message.text == "m")
    #expect(new.message.link == old.message.link && new.message.actions == [])
    #expect(new.message.data == .object(["a": .number(1), "c": .number(3)]))
    #expect(new.expires == old.expires, "with its fraction of a second")
    #expect(try old.changed(by: Array("{}".utf8)) == old)
  }

  @Test func `media can be added and removed, and an object is not merged into it`() throws {
    let old = try Self.new(#""richType":"card","payload":{"a":1}"#)
    #expect(try old.changed(by: Array(#"{"payload":{"b":2}}"#.utf8)).payload == #"{"b":2}"#)
    let bare = try old.changed(by: Array(#"{"payload":null,"richType":null}"#.utf8))
    #expect(bare.payload == nil && bare.richType == nil)
    let again = try bare.changed(by: Array(#"{"payload":"x","richType":"img"}"#.utf8))
    #expect(again.payload == "x" && again.richType == "img")
  }

  @Test(arguments: ["to", "idempotencyKey", "replaces"])
  func `a change of what is fixed is refused`(member: String) throws {
    let old = try Self.new(#""title":"T""#)
    let error = #expect(throws: ServiceError.self) {
      try old.changed(by: Array(#"{"\#(member)":"a"}"#.utf8))
    }
    #expect(error?.faults.map(\.member) == [member])
  }

  @Test(
    arguments: [
      (#"{"titel":"x"}"#, ["titel"]), (#"{"title":7,"link":8}"#, ["title", "link"]),
      (#"{"actions":[{"id":"a"}]}"#, ["actions[0].label"]), ("[]", []),
    ])
  func `a change of the wrong kind is refused, and names its members`(
    patch: String, members: [String]
  ) throws {
    let old = try Self.new(#""title":"T""#)
    let error = #expect(throws: ServiceError.self) { try old.changed(by: Array(patch.utf8)) }
    #expect(error?.faults.map(\.member) == members)
  }
}
