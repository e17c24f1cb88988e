import Foundation
import HTTP
import TestSupport
import Testing
import Waiting

@testable import Origin
@testable import Store

/// What the server says of itself while something that it needs fails.
@Suite(.timeLimit(.minutes(1))) struct ReadinessTests {
  @Test func `a database that another program has locked is told to publishers, not to balancers`()
    async throws
  {
    let clock = ManualClock()
    try await TestServer.test(clock: clock, prepare: { try $1.installNote() }) { server in
      @Sendable func ready(_ query: String = "") async throws -> TestResponse {
        try await server.execute("GET", "/readyz" + query)
      }
      try await server.publish()
      try await eventually("it has looked by itself") { clock.untilNext == .seconds(5) }
      #expect(try await ready("?for=publishing").status == 200)
      let other = try SQLiteConnection.open(
        server.configuration.data + "/richpush.db", for: .writing)
      try other.script("BEGIN IMMEDIATE")
      clock.advance(by: .seconds(1))  // until then the last check holds
      async let answer = ready("?for=publishing")
      try await eventually("it waits for the database") { clock.untilNext == .seconds(3) }
      clock.advance(by: .seconds(3))
      let locked = try await answer
      #expect(locked.status == 503)
      #expect(locked.detail?.contains("locked the database") == true, "\(locked.detail ?? "")")
      #expect(locked.fields["Retry-After"] != nil)
      for query in ["", "?for=devices"] { #expect(try await ready(query).status == 200) }
      let media = try await server.execute("GET", "/api/notifications/0", as: "device")
      #expect(media.status == 200, "devices are served")
      let metrics = try await server.execute("GET", "/metrics").text
      #expect(metrics.contains(#"richpush_ready{for="publishing"} 0"#))
      #expect(metrics.contains(#"richpush_ready{for="devices"} 1"#))
      #expect(server.log.contain("publishing is disturbed: The store has taken no change"))
      try other.script("ROLLBACK")
      clock.advance(by: .seconds(1))
      #expect(try await ready("?for=publishing").status == 200)
      #expect(server.log.contain("publishing is possible again"))
      #expect(!server.log.contain("devices cannot be served"))
    }
  }

  @Test func `a change is logged although nobody asks`() async throws {
    let clock = ManualClock()
    try await TestServer.test(clock: clock) { server in
      let other = try SQLiteConnection.open(
        server.configuration.data + "/richpush.db", for: .writing)
      try other.script("BEGIN IMMEDIATE")
      try await eventually("it is logged") {
        clock.advance(by: .seconds(1))
        return server.log.contain("publishing is disturbed: The store has taken no change")
      }
      try other.script("ROLLBACK")
      try await eventually("it is logged") {
        clock.advance(by: .seconds(1))
        return server.log.contain("publishing is possible again")
      }
    }
  }

  @Test func `a lead that no node has had for a minute is in the log and the metrics`() async throws
  {
    try await TestServer.test { server in
      let observers = server.origin.housekeeping.store.observers
      func vacant(_ lead: String) async throws -> String? {
        let page = try await server.execute("GET", "/metrics").text
        return page.split(separator: "\n")
          .first { $0.hasPrefix(#"richpush_lead_vacant{lead="\#(lead)"}"#) }
          .map { String($0.suffix(1)) }
      }
      let start = ContinuousClock.now
      for (lead, name, work) in [
        (observers.lead, "nodes", "assets are not prepared"),
        (observers.folderLead, "folder", "dropped files are not seen"),
      ] {
        lead.record(isAnyNodes: false, at: start)
        let before = try await vacant(name)
        lead.record(isAnyNodes: false, at: start + .seconds(60))
        let after = try await vacant(name)
        #expect(before == "0" && after == "1")
        #expect(server.log.contain("no node has had the lead for a minute, so \(work)"))
      }
      observers.lead.record(isAnyNodes: true, at: start + .seconds(61))
      let over = try await vacant("nodes")
      #expect(over == "0" && server.log.contain("a node has the lead again"))
    }
  }
}
