import Foundation
import RichPushAPI
import Testing

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct MergedPushTests {
  private func message(_ id: Int, _ text: String) -> PushMessage {
    var message = PushMessage(id, NotificationMessage(text), richType: "img", form: .silent)
    message.media = MediaLink(url: "https://a/\(id)", type: "image/png", size: 1)
    return message
  }

  private func merged(
    _ silent: [(job: PushJob, alert: PushMessage)]
  ) -> [MergedPush] {
    MergedPush.alerts(insteadOf: silent, payload: PayloadTemplate.apple, limit: PushPayload.limit)
  }

  private func silent(
    _ id: Int, to handle: String = "AB12", expires: Date? = nil
  ) -> (job: PushJob, alert: PushMessage) {
    (
      PushJob(
        id: id,
        push: .sample(id, to: handle, collapseID: "rich-\(id)", expires: expires)),
      message(id, "message \(id)")
    )
  }

  @Test func `shows every message, the newest first, and names every notification`() throws {
    let merged = try #require(
      PushMessage.merging([message(9, #"a "quote""#), message(8, "eight"), message(7, "seven")]))
    let payload = PayloadTemplate.apple(merged).payload()
    #expect(
      payload.json
        == #"{"aps":{"alert":{"body":"a \"quote\"\neight\nseven"},"mutable-content":1},"#
        + #""richId":"9","richIds":["9","8","7"],"richType":"img","#
        + #""att":{"url":"https://a/9","type":"image/png","size":1}}"#)
    #expect(payload.kind == .alert)
  }

  @Test func `stays within what a push service carries`() throws {
    let long = String(repeating: "Grüße ", count: 500)
    let merged = try #require(PushMessage.merging((0..<50).map { message($0, long) }))
    let json = PayloadTemplate.apple(merged).payload().json
    #expect(json.utf8.count <= PushPayload.limit && json.utf8.count > 4000)
    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(json.utf8)) }
  }

  @Test func `leaves alone what announces no notification`() {
    #expect(PushMessage.merging([message(1, "one"), PushMessage(text: "From bob: hi")]) == nil)
  }

  @Test func `answers for every job of a device under the oldest's id, and says so`() throws {
    let end = Date(timeIntervalSince1970: 1_800_000_000)
    let merged = merged([
      silent(3, expires: end), silent(2), silent(5, to: "CD34"), silent(4, expires: end),
    ]).sorted { $0.items.count > $1.items.count }
    try #require(merged.map { $0.items.map { $0.job.id } } == [[2, 3, 4], [5]])
    let oldest = OutgoingPush.sample(2).id
    #expect(merged[0].push.id == oldest && merged[0].push.collapseID == "rich-2")
    #expect(merged[0].push.expires == nil)
    #expect(merged[0].push.text.json.contains(#""richIds":["4","3","2"]"#))
    #expect(
      merged[0].items.map { $0.note } == [
        "Sent as an alert for 3 notifications: " + SilentPushBudget.reason,
        "Merged into the alert \(oldest): " + SilentPushBudget.reason,
        "Merged into the alert \(oldest): " + SilentPushBudget.reason,
      ])
    #expect(merged[1].items.map { $0.note } == ["Sent as an alert: " + SilentPushBudget.reason])
  }

  @Test func `alerts that fit alone, but not together, are sent one by one`() {
    let all = (1...50).map { number in
      var one = silent(number)
      (one.alert.message.title, one.alert.message.alt) = (
        String(repeating: "t", count: 1024), String(repeating: "a", count: 900)
      )
      one.alert.message.link = "https://a.example/" + String(repeating: "l", count: 1800)
      return one
    }
    let merged = merged(all)
    #expect(merged.count == 50 && merged.allSatisfy { $0.items.count == 1 })
    #expect(merged.allSatisfy { $0.push.text.json.utf8.count <= PushPayload.limit })
  }

  @Test func `lasts as long as the notification that expires last`() {
    let (soon, late) = (Date(timeIntervalSinceNow: 60), Date(timeIntervalSinceNow: 600))
    let merged = merged([silent(1, expires: late), silent(2, expires: soon)])
    #expect(merged.map(\.push.expires) == [late])
  }
}
