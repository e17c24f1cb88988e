import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// What a content team does in a week, in both browsers, with a clock that is set forward: Console/week.js has the steps.
@Suite(.timeLimit(.minutes(10))) struct WeekSystemTests {
  /// A browser on the console of a server.
  private struct Page {
    let browser: StandIn
    let address: String

    /// What a step gives.
    @discardableResult
    func week(_ step: String, _ arguments: Any...) throws -> JSONValue {
      let script = try String(
        contentsOf: Package.root.appending(path: "Tests/EndToEndTests/Console/week.js"),
        encoding: .utf8)
      let values = String(
        decoding: try JSONSerialization.data(withJSONObject: arguments), as: UTF8.self)
      let answer = try browser.tell([
        "do": "evaluate", "script": "(\(script), week.\(step)(...\(values)))",
      ])
      try #require(answer["error"] == nil, "\(step): \(answer)")
      let json = try JSONSerialization.data(
        withJSONObject: answer["value"] ?? NSNull(), options: .fragmentsAllowed)
      return try JSONDecoder().decode(JSONValue.self, from: json)
    }

    /// Another computer, with another user.
    func begin(as user: String) throws {
      try browser.tell(["do": "reset"])
      let opened = try browser.tell(["do": "open", "url": address])
      #expect(opened["error"] == nil, "\(opened)")
      try week("signIn", user)
    }
  }

  /// The recipients, in the order of their mornings.
  private static let zones = [
    ("chen", "Asia/Tokyo"), ("anna", "Europe/Berlin"), ("bea", "America/New_York"),
  ]

  @Test(arguments: ["chromium", "firefox"])
  func `a team imports people, plans, targets, repeats and learns`(_ browser: String) async throws {
    // Europe's clocks are put forward in the night to Sunday.
    let clock = try await ServerClock("2027-03-27T20:00:00Z")
    let phones = try StandIn("hub", environment: clock.environment)
    try await RunningServer.lend(
      flags: ["--demo", "--push", "embedded,webhook", "--most-a-day", "2"],
      environment: clock.environment(pushingTo: phones)
    ) { server in
      let page = Page(browser: try StandIn(browser), address: "\(server.endpoint)/console/")
      for (number, (name, zone)) in Self.zones.enumerated() {
        let client = server.client(name)
        var change = DeviceChange()
        change.timeZone = .value(zone)
        _ = try await client.updateDevice(try await client.register(handle: "0\(number)"), change)
      }

      try page.begin(as: "mia")
      let report = try page.week(
        "importPeople",
        "username,plan\r\nanna,gold\r\nnobody here,gold\r\nbea,gold\r\nchen,gold\r\n")
      #expect(report.text?.contains("3 people will change") == true, "\(report)")
      #expect(report.text?.contains("“nobody here” cannot be a user's name") == true, "\(report)")

      let count = try page.week("saveSegment", "gold", "plan = gold")
      #expect(count.text?.hasPrefix("3 people") == true, "\(count)")
      try page.week("keepDraft", "Sunday", "Half of it", false)
      try page.week("keepDraft", "Every week", "Good morning", true)

      try page.begin(as: "shop")
      let finished = try page.week("finishDraft", "Sunday", "All of it", "gold", "2027-03-28T09:00")
      let sunday = try #require(finished.integer)
      try await expectReceived(sunday, by: [], on: server)
      for (time, readers) in [
        ("2027-03-27T23:59:30Z", []), ("2027-03-28T00:00:01Z", ["chen"]),
        ("2027-03-28T06:59:30Z", ["chen"]), ("2027-03-28T07:00:01Z", ["chen", "anna"]),
      ] {
        try clock.set(time)
        try await expectReceived(sunday, by: readers, on: server)
        try await eventually("the phones of \(readers) are woken") {
          try Self.woken(phones).count == readers.count
        }
      }
      try await server.client("anna").markRead(sunday)
      let learned = try page.week("numbers", sunday, "read", 1)
      #expect(learned.people.recipients.integer == 3, "\(learned)")
      #expect(learned.people.waiting.integer == 1, "\(learned)")
      #expect(learned.chart.text?.contains("Read 1") == true, "\(learned)")
      // In the middle: it is morning in New York only now.
      try page.week("withdraw", sunday)
      try clock.set("2027-03-28T13:00:01Z")
      try await expectReceived(sunday, by: [], on: server)

      // A session ends after a while without use.
      try page.begin(as: "shop")
      var repeated: [Int] = []
      for _ in 0..<2 {
        repeated.append(
          try #require(try page.week("useTemplate", "Every week", "anna, bea").integer))
      }
      try await server.client("anna").markRead(repeated[1])
      let last = try page.week("numbers", repeated[1], "read", 1)
      // Anna had two that day, and this one only in her list.
      #expect(last.page.text?.contains("2 notifications in 24 hours") == true, "\(last)")
      let receipts = try await server.client("shop").receipts(of: repeated[1]).receipts
      let table = try page.week("exported").text ?? ""
      let lines = table.split(separator: "\r\n").dropFirst().map { $0.split(separator: ",")[0...1] }
      #expect(
        lines.map { $0.joined(separator: " ") } == receipts.map { "\($0.user ?? "") \($0.state)" })
      // Each phone was woken once for each of these.
      try await eventually("all pushes have gone") {
        try await server.client("shop").details(repeated[1]).counts?.queued == 0
      }
      #expect(
        try Self.woken(phones).sorted() == [
          "00 Sunday", "01 Sunday", "01 again", "02 again", "02 again",
        ])
      try page.browser.tell(["do": "reset"])
    }
  }

  /// The handles of the phones that were woken, and by what.
  private static func woken(_ phones: StandIn) throws -> [String] {
    let delivered = try phones.tell(["do": "delivered"])["pushes"] as? [[String]] ?? []
    return delivered.map { push in
      let (handle, text) = (push[1], push[2])
      return handle + (text.contains("All of it") ? " Sunday" : " again")
    }
  }

  /// Exactly these recipients can read it.
  private func expectReceived(
    _ id: Int, by readers: [String], on server: RunningServer
  ) async throws {
    for (name, _) in Self.zones {
      let inbox = try await server.client(name).inbox().notifications.map(\.id)
      #expect(inbox.contains(id) == readers.contains(name), "\(name)")
    }
  }
}
