import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// The operator looks at the outbox from another process, and decides.
@Suite(.timeLimit(.minutes(5))) struct DeadLetterTests {
  private static func push(_ words: String..., of server: RunningServer) async throws -> [String] {
    let data = ["--data", server.scratch.folder.path + "/var"]
    let result = try await Child.run("richpush", ["push"] + words + data)
    return result.exitCode == 0 ? result.output : ["\(result.exitCode)", result.errors]
  }

  @Test func `a service that refuses all ends no device, also over a restart, until it is resumed`()
    async throws
  {
    try await PushServices.lend(lanes: "apns") { server, services in
      try services.apns.answer(["*": [["status": 400, "reason": "BadDeviceToken"]]])
      // So many that a push which is accepted before `resume` proves that none of them was right to be refused.
      let users = ["alice", "bob", "carol", "dave", "erin"]
      let handles = (10..<35).map { "AB\($0)" }
      for (index, handle) in handles.enumerated() {
        try await server.client(users[index % users.count]).register(handle: handle)
      }
      let all = NewNotification("Look", richType: "img", payload: "logo.png", to: .users(users))
      let shop = server.client("shop")
      let id = try await shop.create(all).id
      func isPaused() async throws -> Bool {
        let first = try await Self.push("list", of: server).first ?? ""
        return first.hasPrefix("apns is paused since") && first.contains("400 BadDeviceToken")
      }
      try await eventually("the lane is paused") { try await isPaused() }
      #expect(Set(try server.deliveries(of: id)) == ["apns queued"])
      let lane = try #require(try await server.client("admin").lanes().lanes.first)
      #expect(lane.state == "paused" && lane.until != nil)
      try await server.restart(by: SIGKILL)
      #expect(try await isPaused())
      #expect(try await shop.create(.logo(to: "frank")).reach?.devices == 0)
      try services.apns.answer([:])
      #expect(try await Self.push("resume", of: server).first?.hasSuffix("due again") == true)
      try await eventually("all have their push") {
        try server.deliveries(of: id) == handles.map { _ in "apns sent" }
      }
      #expect(try await isPaused() == false)
      #expect(try await shop.create(all).reach?.devices == 25)
    }
  }

  @Test func `lists dead letters with their reason, and sends them once the fault is mended`()
    async throws
  {
    try await PushServices.lend(lanes: "apns") { server, services in
      try services.apns.answer(["*": [["status": 400, "reason": "BadCollapseId"]]])
      for handle in ["0A", "0B"] { try await server.client("alice").register(handle: handle) }
      let id = try await server.client("shop").create(.logo(to: "alice")).id
      try await eventually("both are given up") {
        try server.deliveries(of: id) == ["apns failed", "apns failed"]
      }
      let lines = try await Self.push("list", "--state", "failed", of: server)
      #expect(lines.count == 3 && lines[0].hasPrefix("JOB"), "\(lines)")
      #expect(
        lines.dropFirst().allSatisfy { $0.contains("alice") && $0.contains("BadCollapseId") })
      let first = try await services.apns.pushes(2).map { $0.fields["apns-id"] }
      try services.apns.answer([:])
      let job = try #require(lines.last?.split(separator: " ").first.map(String.init))
      #expect(try await Self.push("replay", job, of: server) == ["1 due again"])
      #expect(try await Self.push("replay", of: server) == ["1 due again"])
      try await eventually("both are sent") {
        try server.deliveries(of: id) == ["apns sent", "apns sent"]
      }
      let again = try await services.apns.pushes(2).map { $0.fields["apns-id"] }
      #expect(Set(again) == Set(first))
      #expect(try await Self.push("replay", job, of: server).first == "1")
    }
  }

  @Test func `calls off what waits, and no more than that`() async throws {
    try await PushServices.lend(lanes: "apns") { server, services in
      try await server.client("alice").register(handle: "0A")
      var later = NewNotification.logo(to: "alice")
      later.notBefore = Date(timeIntervalSinceNow: 3600)
      let id = try await server.client("shop").create(later).id
      let lines = try await Self.push("list", "--state", "queued", of: server)
      let job = try #require(lines.last?.split(separator: " ").first.map(String.init))
      #expect(try await Self.push("cancel", job, of: server) == ["cancelled " + job])
      #expect(try server.deliveries(of: id) == ["apns cancelled"])
      #expect(try await Self.push("cancel", job, of: server).first == "1")
      #expect(try await Self.push("list", "--state", "lost", of: server).first == "64")
      #expect(try await Self.push("list", "--state", "queued", of: server).count == 1)
    }
  }
}
