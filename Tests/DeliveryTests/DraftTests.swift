import Foundation
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(1))) struct DraftTests {
  private func draft(_ json: String) throws -> Draft {
    try Draft(Array(json.utf8), allowing: [], now: Date(timeIntervalSince1970: 1_800_000_000))
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

  @Test(
    arguments: [
      (#"not json"#, .invalidRequest), (#"[]"#, .invalidRequest), (#"{}"#, .invalidRequest),
      (#"{"message":"x","richType":"img","payload":"a"}"#, .invalidRequest),
      (#"{"message":"x","richType":"img","payload":"a","to":[]}"#, .invalidRequest),
      (#"{"message":"x","richType":"img","payload":"a","to":["a b"]}"#, .rejected),
      (#"{"message":"x","richType":"img","payload":"a","to":"(("}"#, .rejected),
      (#"{"message":1,"richType":"img","payload":"a","to":["a"]}"#, .invalidRequest),
      (#"{"message":"x","richType":"img","payload":7,"to":["a"]}"#, .invalidRequest),
      (#"{"message":"x","richType":"Img/..","payload":"a","to":["a"]}"#, .rejected),
      (
        #"{"message":"x","richType":"img","payload":"a","to":["a"],"shade":"red"}"#,
        .unknownField
      ),
      (
        #"{"message":"x","richType":"img","payload":"a","to":["a"],"expires":"soon"}"#,
        .invalidRequest
      ),
      (
        #"{"message":"x","richType":"img","payload":"a","to":["a"],"expires":"2001-01-01T00:00:00Z"}"#,
        .rejected
      ),
      (
        #"{"message":"x","richType":"img","payload":"a","to":["a"],"idempotencyKey":""}"#,
        .invalidRequest
      ),
      (#"{"message":" ","richType":"img","payload":"a","to":["a"],"form":"alert"}"#, .rejected),
      (#"{"message":"","richType":"img","payload":"a","to":["a"],"form":"hybrid"}"#, .rejected),
      (
        "{\"message\":\"x\",\"richType\":\"img\",\"payload\":\"a\\u0000b\",\"to\":[\"a\"]}",
        .rejected
      ),
    ] as [(String, ServiceError.Code)])
  func `refuses a form that is wrong`(_ json: String, _ code: ServiceError.Code) throws {
    let refusal = try #require(throws: ServiceError.self) { try draft(json) }
    #expect(refusal.code == code)
  }

  @Test(arguments: [
    ("shade", "Unknown field “shade”. There are message, title, subtitle, "),
    ("too", "Unknown field “too”. Did you mean “to”?"),
    ("richtype", "Unknown field “richtype”. Did you mean “richType”?"),
    ("not_before", "Unknown field “not_before”. Did you mean “notBefore”?"),
  ])
  func `names an unknown field and suggests the intended one`(
    name: String, sentence: String
  ) throws {
    // Also where the one that was meant is missing for that.
    for others in ["", #","message":"x","richType":"img","payload":"a","to":["a"]"#] {
      let refusal = try #require(throws: ServiceError.self) {
        try draft(#"{"\#(name)":1\#(others)}"#)
      }
      #expect(refusal.code == .unknownField && refusal.reason.hasPrefix(sentence), "\(refusal)")
    }
  }

  @Test func `an unknown field of a megabyte is refused at once`() throws {
    let name = String(repeating: "to", count: 500_000)
    let start = ContinuousClock.now
    let refusal = try #require(throws: ServiceError.self) { try draft(#"{"\#(name)":1}"#) }
    #expect(refusal.reason.count < 600 && ContinuousClock.now - start < .seconds(20))
  }

  @Test(arguments: [
    (#"["alice"]"#, "Nobody matches “alice”. For one user write username:alice."),
    (#""alice""#, "Nobody matches “alice”. For one user write username:alice."),
    (#"["vip:1","bob"]"#, "Nobody matches “vip:1” or “bob”. For one user write username:bob."),
    (#""vip && !bob""#, "Nobody matches “vip && !bob”."),
    (#"["a","b","c","d"]"#, "Nobody matches these 4 tags. For one user write username:a."),
  ])
  func `explains how to address a user if nobody matches`(to: String, sentence: String) throws {
    let draft = try draft(#"{"message":"x","richType":"img","payload":"a","to":\#(to)}"#)
    #expect(draft.noRecipientsError([]).reason == sentence)
    #expect(draft.noRecipientsError(["carol"]).reason == "There is no user “carol”.")
    #expect(
      draft.noRecipientsError(["carol", "dave"]).reason
        == "There are no users “carol”, “dave”.")
  }

  @Test func `all that is wrong is said at once, each with its member`() throws {
    let refusal = try #require(throws: ServiceError.self) {
      try draft(
        #"""
        {"message":" ","richType":"Img","payload":"a","to":"news &&","form":"alert",
         "expires":"2001-01-01T00:00:00Z"}
        """#)
    }
    #expect(refusal.faults.map(\.member) == ["to", "richType", "message", "expires"])
    for fault in refusal.faults { #expect(refusal.reason.contains(fault.reason)) }
    let unknown = try #require(throws: ServiceError.self) {
      try draft(#"{"massage":"x","richType":"img","playload":"a","to":["a"]}"#)
    }
    #expect(unknown.faults.map(\.member) == ["massage", "playload"])
    #expect(unknown.reason.contains("“message”") && unknown.reason.contains("“payload”"))
  }

  @Test func `refuses a body that is not UTF-8`() throws {
    let refusal = try #require(throws: ServiceError.self) {
      try Draft([0x7B, 0x22, 0xFF, 0x22, 0x7D], allowing: [], now: Date())
    }
    #expect(refusal.reason.contains("UTF-8"))
  }

  @Test func `rejects a long message or payload, and an end before the start`() throws {
    func code(_ message: Int, _ payload: Int, _ more: String = "") -> ServiceError.Code? {
      let (message, payload) = (
        String(repeating: "m", count: message), String(repeating: "p", count: payload)
      )
      let json =
        #"{"message":"\#(message)","richType":"img","payload":"\#(payload)","to":["a"]\#(more)}"#
      do {
        _ = try draft(json)
        return nil
      } catch { return (error as? ServiceError)?.code }
    }
    #expect(code(16_384, 65_536) == nil)
    #expect(code(16_385, 1) == .tooLarge && code(1, 65_537) == .tooLarge)
    let start = #","notBefore":"2030-01-02T00:00:00Z","expires":"2030-01-0"#
    #expect(code(1, 1, start + #"2T00:00:00Z""#) == .rejected)
    #expect(code(1, 1, start + #"3T00:00:00Z""#) == nil)
    // The time of these drafts.
    #expect(code(1, 1, #","expires":"2027-01-15T08:00:00Z""#) == .rejected)
    #expect(code(1, 1, #","expires":"2027-01-15T08:00:01Z""#) == nil)
  }

  @Test func `accepts the key in the header field, bare or quoted, unless the body has another`()
    throws
  {
    var draft = try draft(#"{"message":"x","richType":"img","payload":"a","to":["a"]}"#)
    try draft.setIdempotencyKey(nil)
    #expect(draft.idempotencyKey == nil)
    try draft.setIdempotencyKey(#""k1""#)
    try draft.setIdempotencyKey("k1")
    #expect(draft.idempotencyKey == "k1")
    #expect(throws: ServiceError.self) { try draft.setIdempotencyKey("k2") }
    var long = draft
    long.idempotencyKey = nil
    #expect(throws: ServiceError.self) {
      try long.setIdempotencyKey(String(repeating: "k", count: 257))
    }
  }

  // MARK: - Changes

  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func stored(_ change: (inout NotificationInsert) -> Void = { _ in }) async throws
    -> StoredNotification
  {
    let scratch = try Scratch()
    let store = try scratch.store(now: { [now] in now })
    var new = NotificationInsert(message: "m", richType: "img", payload: "a.png")
    (new.to, new.form) = (["username:alice"], "alert badge")
    (new.notBefore, new.expires) = (now + 60, now + 600)
    change(&new)
    return try await store.notifications.create(new).notification
  }

  private func changed(_ old: StoredNotification, _ json: String, at now: Date) throws -> Draft {
    try Draft(old, changedBy: Array(json.utf8), allowing: [], now: now)
  }

  @Test func `an empty change keeps everything`() async throws {
    let draft = try changed(await stored(), "{}", at: now)
    #expect(draft.message == "m" && draft.richType == "img" && draft.payload == "a.png")
    #expect(draft.to == ["username:alice"] && draft.form == .alert && draft.badge)
    #expect(draft.notBefore == now + 60 && draft.expires == now + 600)
    #expect(draft.storedForm == "alert badge")
  }

  @Test func `a change replaces what it names, and null removes the times`() async throws {
    let old = try await stored()
    let draft = try changed(
      old, #"{"message":"n","form":"hybrid","badge":false,"notBefore":null,"expires":null}"#,
      at: now)
    #expect(draft.message == "n" && draft.form == .hybrid && !draft.badge)
    #expect(draft.notBefore == nil && draft.expires == nil && draft.storedForm == "hybrid")
  }

  @Test(
    arguments: [
      (#"{"to":["username:bob"]}"#, .invalidRequest), (#"{"to":null}"#, .invalidRequest),
      (#"{"idempotencyKey":"k"}"#, .invalidRequest), (#"{"message":null}"#, .rejected),
      (#"{"payload":null}"#, .rejected), (#"{"shade":1}"#, .unknownField),
      (#"{"expires":"2001-01-01T00:00:00Z"}"#, .rejected),
    ] as [(String, ServiceError.Code)])
  func `rejects a change of members that cannot change`(json: String, code: ServiceError.Code)
    async throws
  {
    let old = try await stored()
    let refusal = try #require(throws: ServiceError.self) { try changed(old, json, at: now) }
    #expect(refusal.code == code)
  }

  @Test func `the time of a push can be changed until it is reached`() async throws {
    let old = try await stored()
    let later = #"{"notBefore":"2027-01-15T08:05:00Z"}"#
    #expect(try changed(old, later, at: now + 59).notBefore == now + 300)
    let refusal = try #require(throws: ServiceError.self) { try changed(old, later, at: now + 60) }
    #expect(refusal.code == .conflict)
    #expect(throws: Never.self) { try changed(old, #"{"message":"n"}"#, at: now + 60) }
  }
}
