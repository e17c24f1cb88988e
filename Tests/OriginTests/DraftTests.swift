import Foundation
import Testing

@testable import Origin

@Suite struct DraftTests {
  private func draft(_ json: String) throws -> Draft {
    try Draft(Array(json.utf8), now: Date(timeIntervalSince1970: 1_800_000_000))
  }

  @Test func `reads the whole form`() throws {
    let draft = try draft(
      #"""
      {"message":"Hi","richType":"img","payload":"a.jpg","to":["username:a","username:b"],
       "expires":"2030-01-01T00:00:00Z","idempotencyKey":"k1"}
      """#)
    #expect(draft.message == "Hi" && draft.richType == "img" && draft.payload == "a.jpg")
    #expect(draft.to == ["username:a", "username:b"])
    #expect(draft.expires == Date(timeIntervalSince1970: 1_893_456_000))
    #expect(draft.idempotencyKey == "k1")
  }

  @Test func `takes an object as payload and an expression as audience`() throws {
    let draft = try draft(
      #"{"message":"","richType":"coupon","payload":{"b":1,"a":"x"},"to":"vip && !muted"}"#)
    #expect(draft.payload == #"{"a":"x","b":1}"#)
    #expect(draft.to == ["vip && !muted"])
  }

  @Test(arguments: [
    (#"not json"#, 400), (#"[]"#, 400), (#"{}"#, 400),
    (#"{"message":"x","richType":"img","payload":"a"}"#, 400),
    (#"{"message":"x","richType":"img","payload":"a","to":[]}"#, 400),
    (#"{"message":"x","richType":"img","payload":"a","to":["a b"]}"#, 400),
    (#"{"message":"x","richType":"img","payload":"a","to":"(("}"#, 400),
    (#"{"message":1,"richType":"img","payload":"a","to":["a"]}"#, 400),
    (#"{"message":"x","richType":"img","payload":7,"to":["a"]}"#, 400),
    (#"{"message":"x","richType":"Img/..","payload":"a","to":["a"]}"#, 422),
    (#"{"message":"x","richType":"img","payload":"a","to":["a"],"colour":"red"}"#, 400),
    (#"{"message":"x","richType":"img","payload":"a","to":["a"],"expires":"soon"}"#, 400),
    (
      #"{"message":"x","richType":"img","payload":"a","to":["a"],"expires":"2001-01-01T00:00:00Z"}"#,
      400
    ),
    (#"{"message":"x","richType":"img","payload":"a","to":["a"],"idempotencyKey":""}"#, 400),
    (#"{"message":" ","richType":"img","payload":"a","to":["a"],"form":"alert"}"#, 400),
    (#"{"message":"","richType":"img","payload":"a","to":["a"],"form":"hybrid"}"#, 400),
    ("{\"message\":\"x\",\"richType\":\"img\",\"payload\":\"a\\u0000b\",\"to\":[\"a\"]}", 400),
  ])
  func `refuses a form that is wrong`(_ json: String, _ status: Int) throws {
    let refusal = try #require(throws: Refusal.self) { try draft(json) }
    #expect(refusal.status == status)
  }

  @Test func `names a member that nobody knows`() throws {
    let refusal = try #require(throws: Refusal.self) {
      try draft(#"{"message":"x","richType":"img","payload":"a","to":["a"],"colour":"red"}"#)
    }
    #expect(refusal.sentence.contains("colour"))
  }

  @Test func `refuses a body that is not UTF-8`() throws {
    let refusal = try #require(throws: Refusal.self) {
      try Draft([0x7B, 0x22, 0xFF, 0x22, 0x7D], now: Date())
    }
    #expect(refusal.sentence.contains("UTF-8"))
  }
}
